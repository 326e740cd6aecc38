"""Lets `python -m pi_intent` be the command `pi-intent`."""

from __future__ import annotations

from pi_intent.cli.entry import main

if __name__ == "__main__":
    main()
