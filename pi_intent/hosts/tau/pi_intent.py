"""The file that Tau loads: make the package importable from where it lies, then set the extension up.

Tau runs this file as a module of its own making, under another name, so nothing here is imported elsewhere. Its own
name matters: Tau calls an extension after its file, and takes the first of two with one name.
"""

import importlib.util
import os
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2]


def setup(tau):  # type: ignore[no-untyped-def]  # loaded without the package, whose types it could use
    """Set pi-intent up in a Tau session."""
    if os.environ.get("PI_INTENT", "").strip().lower() == "off":
        return
    if "pi_intent" not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            "pi_intent", PACKAGE / "__init__.py", submodule_search_locations=[str(PACKAGE)]
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["pi_intent"] = module
        spec.loader.exec_module(module)
    from pi_intent.hosts.tau.setup import setup as set_up

    set_up(tau)
