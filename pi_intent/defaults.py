"""The two functions of the contract that need our texts, with the texts we ship filled in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pi_intent.contract import inject
from pi_intent.contract import read_call as reading
from pi_intent.contract.read_call import Derive
from pi_intent.descriptions import model_texts
from pi_intent.types import IntentCall, Policy, Profile


def read_call(
    tool_name: str,
    arguments: object,
    *,
    policy: Policy = "require",
    parameters: Mapping[str, Any] | None = None,
    derive: Derive | None = None,
) -> IntentCall:
    """Read one call's arguments, as the model sent them: the intent, the rationale and what the tool runs with.

    `parameters` is the tool's own schema, used to name what else is missing; `derive` makes the intent where the
    policy lets a call run without one. Raises `IntentRejected`: `str()` is the text for the model, `codes` says why.
    """
    return reading.read_call(
        tool_name, arguments, texts=model_texts(), policy=policy, parameters=parameters, derive=derive
    )


def inject_intent(
    parameters: Mapping[str, Any], *, profile: Profile = "full", policy: Policy = "require", strict: bool = False
) -> dict[str, Any]:
    """Return a new schema that opens with `intent` and `rationale` and accepts what the tool accepts.

    `strict` is for providers that want every property required: what may be left out becomes nullable. Raises
    `InjectionSkipped`, with `.reason`, where the schema cannot carry them; the input is never changed.
    """
    return inject.inject_intent(parameters, texts=model_texts(), profile=profile, policy=policy, strict=strict)
