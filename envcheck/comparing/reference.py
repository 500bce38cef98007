"""The reference engine: EYE has to derive what the built-in engine derived."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.errors import EXIT_CRASHED, EnvcheckError

if TYPE_CHECKING:
    from envcheck.reasoning import Inference
    from envcheck.rulebook.loading import Rulebook

__all__ = ["EngineDisagreement", "confirm_with_eye"]

_SHOWN = 5


class EngineDisagreement(EnvcheckError):
    """The two engines derived different facts: a fault of envcheck, and no verdict."""

    exit_code = EXIT_CRASHED


def confirm_with_eye(inference: Inference, rulebook: Rulebook) -> str:
    """Run the same facts and rules on EYE and return a sentence about it.

    Raises EngineDisagreement when EYE derives other facts, and UsageError without an EYE.
    """
    from envcheck.reasoning import eye

    reference = set(eye.infer(inference.base, rulebook.implications))
    ours = set(inference.facts)
    if reference == ours:
        return f"EYE derived the same {len(ours)} facts"
    lines = [
        f"  only {who}: {' '.join(triple)}"
        for who, some in (("EYE", reference - ours), ("the built-in engine", ours - reference))
        for triple in sorted(some)[:_SHOWN]
    ]
    raise EngineDisagreement(
        f"EYE and the built-in engine derive different facts "
        f"({len(reference)} and {len(ours)})\n" + "\n".join(lines),
        hint="please report this with the two fingerprints",
    )
