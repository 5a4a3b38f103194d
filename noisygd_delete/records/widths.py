"""How wide a text cell may be (see `cells`)."""

WIDTHS = (3, 5, 9, 17, 31)  # words of 64 bits: texts of up to 23, 39, 71, 135, 247 bytes
