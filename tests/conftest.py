"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

# A slow machine is no fault of the code: speed is measured in tests/bench.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
