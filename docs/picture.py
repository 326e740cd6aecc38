"""Draw the picture in the README: the demo, as a terminal shows it.

Run: python docs/picture.py
"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

from rich.console import Console

from pi_intent.cli.demo.run import run_demo

PICTURE = Path(__file__).with_name("session.svg")


def main() -> int:
    console = Console(record=True, force_terminal=True, width=104, file=io.StringIO(), highlight=False)
    code = run_demo(keep=None, as_json=False, console=console)
    # Rich asks for a font over the network; a picture in a README must not.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", console.export_svg(title="pi-intent demo"), flags=re.DOTALL)
    PICTURE.write_text(svg, encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main())
