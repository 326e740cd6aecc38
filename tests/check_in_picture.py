"""Draw the picture of a question in the documents: Tau's real screen, with a scripted model.

Run: python tests/check_in_picture.py
"""

from __future__ import annotations

import asyncio
import html
import os
import re
import shutil
import tempfile
from pathlib import Path

from tau_desk import Desk, calls, says
from tau_screen import asked, running, settle, start

PICTURE = Path(__file__).parents[1] / "docs" / "check_in.svg"

SIZE = (92, 26)
SHOWN = "/home/ada/work/shop/server"
"""What stands in the place of the temporary folder, which is as long."""

LOOK = ("read", {"intent": "See where uploads are stored", "path": "src/uploads.py"})
CLEAN = (
    "bash",
    {
        "intent": "Cleaning temporary caches before the tests",
        "rationale": "docs/testing.md:12 asks for it.",
        "command": "cd .. && rm -rf uploads/*\npytest -q",
    },
)
SETTINGS = {"PI_INTENT_CHECK_IN": "dangers", "TEXTUAL_ANIMATIONS": "none", "TAU_NO_UPDATE_CHECK": "1"}


async def drawn(root: Path) -> str:
    """Return the screen as SVG while the question stands on it. The call is denied: nothing of it is run."""
    desk = Desk(root)
    (desk.project / "src").mkdir()
    (desk.project / "src" / "uploads.py").write_text("FOLDER = '../uploads'\n")
    async with running(await desk.session([calls(LOOK), calls(CLEAN), says("done")]), size=SIZE) as (pilot, app):
        await start(pilot, app, "Run the tests")
        await asked(pilot, app)
        await pilot.pause(0.2)
        svg = app.export_screenshot(title="Tau")
        await pilot.press("escape")
        await settle(pilot, app)
    for session in desk.sessions:
        await session.aclose()
    # A picture must not ask for a font over the network, and is the same each time.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"terminal-\d+", "terminal", svg)
    return svg.replace(str(desk.project), SHOWN)


def words(svg: str) -> list[str]:
    """Return the lines of text in a picture."""
    rows: dict[float, list[tuple[float, str]]] = {}
    for x, y, text in re.findall(r'<text[^>]*? x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>', svg):
        rows.setdefault(float(y), []).append((float(x), html.unescape(text).replace("\xa0", " ")))
    return ["".join(text for _, text in sorted(row)).rstrip() for _, row in sorted(rows.items())]


def picture() -> str:
    """Draw in a home and a project of its own."""
    root = Path(tempfile.mkdtemp(prefix="shop-", dir="/tmp"))
    environ = {f"XDG_{name}_HOME": str(root / "xdg") for name in ("CONFIG", "STATE", "CACHE", "DATA")}
    environ |= {"HOME": str(root), "TAU_HOME": str(root / "tau"), "GIT_CEILING_DIRECTORIES": str(root), **SETTINGS}
    before, here = dict(os.environ), Path.cwd()
    os.environ.update(environ)
    try:
        os.chdir(root)
        return asyncio.run(drawn(root))
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(before)
        shutil.rmtree(root, ignore_errors=True)


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    print("\n".join(words(PICTURE.read_text("utf-8"))))
