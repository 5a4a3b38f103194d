"""`noisygd-delete explain`: shape functions of the current model, one per column, with the band due to noise alone."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..errors import InvalidParameter
from .arguments import store_command
from .terminal import print_result

if TYPE_CHECKING:
    from ..features.maps import Shapes

_SHOWN = 12
_JSON = b'{"kind": "shapes"'


def register(commands: Any) -> None:
    """Add the `explain` command and its options to the parser."""
    parser = store_command(commands, "explain", "explain STORE --out shapes.html", _run)
    parser.add_argument("--out", metavar="FILE", help="a page (.html), a picture (.png) or plain numbers (.json)")
    parser.add_argument(
        "--monotone",
        metavar="COLUMN=WAY",
        action="append",
        default=[],
        help="`rising` or `falling`: the nearest such curve in place of the model's",
    )
    parser.add_argument(
        "--before", metavar="FILE", help="shapes that --out wrote as .json before a deletion, laid over these ones"
    )


def _run(parsed: argparse.Namespace) -> int:
    import json

    from ..evidence.atomic_write import check_output
    from ..features.maps import Shapes
    from ..records import limited_io
    from ..reports.html import PAGE
    from ..reports.shapes import PNG, shapes_of, shapes_page, shapes_picture
    from .release import open_store

    begins = {".html": PAGE, ".png": PNG, ".json": _JSON}
    ending = "" if parsed.out is None else next((end for end in begins if parsed.out.lower().endswith(end)), None)
    if ending is None:
        raise InvalidParameter(f"--out {parsed.out} must end in .html, .png or .json")
    place = None if not ending else check_output("--out", parsed.out, begins=begins[ending], inputs=[parsed.before])
    before = None
    if parsed.before is not None:
        before = Shapes.from_dict(limited_io.parse_json(limited_io.read_text(parsed.before, limited_io.DOCUMENT)))
    with open_store(parsed) as store:
        shapes = shapes_of(store, parsed.monotone)
    apart = None if before is None else shapes.farthest(before)
    if place is not None:
        made: str | bytes
        if ending == ".json":
            made = json.dumps(shapes.to_dict(), ensure_ascii=False, allow_nan=False) + "\n"
        elif ending == ".png":
            made = shapes_picture(shapes, before)
        else:
            made = shapes_page(shapes, f"What release {shapes.release} says", before)
        place.write(made)
    print_result(parsed, {**shapes.to_dict(), "farthest": apart}, _format_shapes(shapes, apart, parsed.out))
    return 0


def _format_shapes(shapes: Shapes, apart: float | None, out: str | None) -> str:
    lines = [f"{'column':<28}{'from':>8}{'to':>8}  {shapes.unit}"]
    for shape in shapes.shapes[:_SHOWN]:
        lines.append(f"{shape.name[:26]:<28}{min(shape.values):>+8.2f}{max(shape.values):>+8.2f}")
    if len(shapes.shapes) > _SHOWN:
        lines.append(f"and {len(shapes.shapes) - _SHOWN} more")
    lines.append(shapes.caption())
    if apart is not None:
        lines.append(
            f"The value that moved most moved {apart:.1f} deviations of what the noise of the two gives at most."
        )
    return "\n".join(lines + ([f"wrote {out}"] if out else []))
