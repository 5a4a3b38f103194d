"""`shown` where 0.2.0 had it: its README and pages import it from here."""

from .sentences import shown

__all__ = ["shown"]
