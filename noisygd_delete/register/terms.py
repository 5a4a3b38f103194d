"""The words of the register: lists, so that nobody types a name or a story into it."""

from __future__ import annotations

from ..errors import Word


class Rights(Word):
    """What a person asked for, by the articles of the GDPR: 17, 16, 18, 21."""

    ERASURE = "erasure"
    RECTIFICATION = "rectification"
    RESTRICTION = "restriction"
    OBJECTION = "objection"


class Channels(Word):
    """How a request came in."""

    DESK = "desk"
    FORM = "form"
    EMAIL = "e-mail"
    LETTER = "letter"
    TELEPHONE = "telephone"
    AGENT = "agent"
    REGISTRY = "registry"


class Decisions(Word):
    """What a person decided, where the ledger alone does not say it. Opted out: an identifier belongs to several persons, so that nobody's
    rows were erased by it, and all of them were opted out of sale and sharing (California)."""

    REFUSED = "refused"
    REFUSED_IN_PART = "refused in part"
    NOT_FOUND = "not found"
    OPTED_OUT = "opted out"


class Grounds(Word):
    """Why a request may be refused: Article 17(3)(a) to (e), 12(5)(b) (excessive), 12(2) (cannot be identified), 18(2), 21(1)."""

    EXPRESSION = "17(3)(a)"
    LEGAL_OBLIGATION = "17(3)(b)"
    PUBLIC_HEALTH = "17(3)(c)"
    ARCHIVES = "17(3)(d)"
    LEGAL_CLAIMS = "17(3)(e)"
    EXCESSIVE = "12(5)(b)"
    UNIDENTIFIED = "12(2)"
    KEPT_FOR_CLAIMS = "18(2)"
    COMPELLING = "21(1)"
    EXEMPT = "exempt"


class Reasons(Word):
    """Why the month may be extended by up to two more (Article 12(3)): these two, and no others."""

    COMPLEXITY = "complexity"
    NUMBER = "number of requests"
