"""The lines of `compile` and `fit`, and of what is written in them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from envcheck.localisation.recording.optimisers import inner_optimiser
from envcheck.localisation.source_lines import UNKNOWN, Hints

if TYPE_CHECKING:
    from envcheck.localisation.source_lines import Frame, Site

__all__ = ["describe_sites"]

_COMPILE = ("loss", "optimizer", "metrics", "loss_weights")
_FIT = (
    "epochs", "batch_size", "validation_split", "class_weight", "shuffle", "steps_per_epoch",
    "initial_epoch",
)  # fmt: skip
_DATA = ("x", "y", "validation_data", "callbacks", "sample_weight")
"""Arguments that are shown where the call has them: what they are bound to says nothing."""
_OPTIMISER = (
    "learning_rate", "momentum", "nesterov", "weight_decay", "clipnorm", "clipvalue",
    "global_clipnorm", "epsilon",
)  # fmt: skip
_LOSS = ("from_logits", "label_smoothing", "reduction")
_SPLIT = ("test_size", "train_size")


def describe_sites(
    model: Any, losses: list[dict[str, Any]], optimiser: Mapping[str, Any] | None, sites: Any
) -> dict[str, Any]:
    """Return `site`, `compile_site` and `arguments` of a fit that is on the stack.

    Adds the line of its loss to each output's loss.
    """
    from envcheck.localisation.recording.sites import user_frames

    if sites is None:
        return {"site": None, "compile_site": None, "arguments": {}}
    fitting = user_frames(12)
    compiling = sites.chain(getattr(model, "_loss_tracker", None))
    arguments = {
        **_of_compile(compiling, model, losses, sites),
        **_of_optimiser(compiling, model, optimiser, sites),
        **_of_fit(fitting, sites),
    }
    return {
        "site": sites.lines.call(fitting, "fit"),
        "compile_site": sites.lines.call(compiling, "compile"),
        "arguments": {name: site for name, site in arguments.items() if site is not None},
    }


def _of_fit(fitting: Sequence[Frame], sites: Any) -> dict[str, Site | None]:
    lines = sites.lines
    found = {name: lines.argument(fitting, name, Hints(callee="fit")) for name in _FIT}
    for name in _DATA:
        found[name] = lines.argument(fitting, name, Hints(callee="fit", follow=False))
    for name in _SPLIT:
        found[name] = lines.only_call(fitting, "train_test_split", name)
    return found


def _of_compile(
    compiling: Sequence[Frame], model: Any, losses: list[dict[str, Any]], sites: Any
) -> dict[str, Site | None]:
    lines = sites.lines
    found = {
        name: lines.argument(compiling, name, Hints(callee="compile", value=_given(model, name)))
        for name in _COMPILE
    }
    for loss in losses:
        path = () if len(losses) < 2 else (loss["output"],)
        loss["site"] = lines.argument(compiling, "loss", Hints(callee="compile", within=path))
    for made in _loss_objects(model):
        for name in _LOSS:
            found.setdefault(name, sites.argument(made, name, _positional(made)))
    return found


def _given(model: Any, name: str) -> Any:
    """Return what was passed to `compile`, where Keras keeps it as it was."""
    value = getattr(model, "loss", None) if name == "loss" else None
    return value if isinstance(value, str) else UNKNOWN


def _loss_objects(model: Any) -> list[Any]:
    import keras

    compiled = getattr(model, "_compile_loss", None)
    given = keras.tree.flatten(getattr(compiled, "_user_loss", None))
    return [item for item in given if isinstance(item, keras.losses.Loss)]


def _of_optimiser(
    compiling: Sequence[Frame], model: Any, described: Mapping[str, Any] | None, sites: Any
) -> dict[str, Site | None]:
    """Return the lines of the optimiser's own arguments, or of the word that stands for it."""
    made = inner_optimiser(model)
    if made is None or described is None:
        return {}
    if sites.is_direct(made):
        positional = _positional(made)
        return {
            name: sites.argument(made, name, positional, _value(described.get(name)))
            for name in _OPTIMISER
        }
    named = sites.lines.argument(compiling, "optimizer", Hints(callee="compile"))
    return {} if named is None else {"learning_rate": {**named, "default": True}}


def _value(value: Any) -> Any:
    return UNKNOWN if value is None else value


def _positional(made: Any) -> list[str]:
    parameters = inspect.signature(type(made).__init__).parameters.values()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [parameter.name for parameter in parameters if parameter.kind in kinds][1:]
