"""The file that Tau loads from a checkout: make the package importable from where it lies, then set the extension up.

Tau runs this file as a module of its own making, under another name, so nothing here is imported elsewhere. Its own
name matters: Tau calls an extension after its file, and takes the first of two with one name. Whatever goes wrong is
said: Tau itself would go on without a word, and without intents.
"""

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parents[2]


def setup(tau: Any) -> None:
    """Set pi-intent up in a Tau session, or have the person told why that cannot be."""
    if os.environ.get("PI_INTENT", "").strip().lower() == "off":
        return
    found = "pi_intent" in sys.modules
    try:
        if not found:
            load_package()
        from pi_intent.hosts.tau.setup import setup as set_up

        set_up(tau)
    except Exception as error:
        if not found:
            for name in [name for name in sys.modules if name.partition(".")[0] == "pi_intent"]:
                del sys.modules[name]
        speak(tau, f"pi-intent is off, calls state no intent: {PACKAGE} cannot be used: {reason(error)}")


def load_package() -> None:
    """Make the package importable by its name, whatever the search path."""
    start = PACKAGE / "__init__.py"
    spec = importlib.util.spec_from_file_location("pi_intent", start, submodule_search_locations=[str(PACKAGE)])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["pi_intent"] = module
    spec.loader.exec_module(module)


def reason(error: Exception) -> str:
    """Say in one line what an exception is about."""
    return " ".join(str(error).split())[:300] or "it does not say why"


def speak(tau: Any, sentence: str) -> None:
    """Tell the person when the session starts, and whoever asks with `/intent`, which would else go to the model."""
    tau.on("session_start", lambda event, context: context.ui.notify(sentence, "error"))
    tau.register_command("intent", lambda arguments, context: sentence, description="Say why pi-intent is off.")
