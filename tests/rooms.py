"""The picture of the house, drawn from the imports: `python -m tests.rooms` writes docs/rooms.svg."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

from tests.test_architecture import FILES, LEVEL, ROWS, imports, room_of

PICTURE = Path(__file__).parent.parent / "docs" / "rooms.svg"
_WIDTH, _HEIGHT, _ROOM, _GAP = 960, 68, 118, 24


def arrows() -> dict[tuple[str, str], int]:
    """(room, room it imports) -> number of files that do."""
    found: dict[tuple[str, str], int] = {}
    for path in FILES:
        room = room_of(path)
        for target in {target for target, internal, _ in imports(path) if internal and target in LEVEL} - {room}:
            found[room, target] = found.get((room, target), 0) + 1
    return found


def drawn() -> str:
    """An SVG: one row of rooms for each level, lowest last; a line for each import between rooms, thicker where more files do."""
    rows = [row for row in reversed(ROWS) if row != ("__main__",)]
    places = {}
    for level, row in enumerate(rows):
        left = (_WIDTH - len(row) * _ROOM - (len(row) - 1) * _GAP) / 2
        for number, room in enumerate(row):
            places[room] = (left + number * (_ROOM + _GAP), 12 + level * _HEIGHT)
    lines = []
    for (room, target), files in sorted(arrows().items()):
        if room in places and target in places:
            (x, y), (u, v) = places[room], places[target]
            width = min(3.0, 0.4 + 0.2 * files)
            lines.append(
                f'<line x1="{x + _ROOM / 2:.0f}" y1="{y + 30:.0f}" x2="{u + _ROOM / 2:.0f}" y2="{v:.0f}" stroke="#8899aa" '
                f'stroke-width="{width:.1f}" opacity="0.5"/>'
            )
    boxes = [
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{_ROOM}" height="30" rx="5" fill="#eef2f6" stroke="#445566"/>'
        f'<text x="{x + _ROOM / 2:.0f}" y="{y + 20:.0f}" text-anchor="middle" font-family="sans-serif" font-size="13" '
        f'fill="#223344">{escape(room)}</text>'
        for room, (x, y) in places.items()
    ]
    height = 12 + len(rows) * _HEIGHT
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img" '
            'aria-label="rooms of the package and their imports, which point down">',
            *lines,
            *boxes,
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    PICTURE.write_text(drawn())
