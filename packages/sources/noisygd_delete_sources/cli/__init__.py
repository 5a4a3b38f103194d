"""Commands for rows in external sources; the command line of noisygd-delete finds them by entry points."""
