"""Facts about how a program divides its rows, and what the parts have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.localisation.training_log import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from envcheck.localisation.graph import TrainingGraph

__all__ = ["add_split"]

_TINY_DOMAIN = 64
_CHANCE = 0.01


def add_split(graph: TrainingGraph, fit: Mapping[str, Any], place: str) -> None:
    """Assert the shares of training, validation and test rows, their overlap and doubles."""
    subject, data = f"fit:{fit['id']}", fit.get("data") or {}
    told = fit.get("validation") or "none"
    graph.put(subject, "validation", f"ec:{told}", f"{place}/validation")
    for key, word in (("duplicate_share", "doubles"), ("conflict_share", "contradictions")):
        value = number(data.get(key))
        if value is not None:
            graph.put_value(subject, word, float(f"{value:.3g}"), f"{place}/data/{key}")
    _add_shares(graph, subject, fit, data, place)
    validation = data.get("validation") or {}
    shift = number(validation.get("mean_shift"))
    if shift is not None:
        graph.put_value(
            subject, "meanShift", round(shift, 3), f"{place}/data/validation/mean_shift"
        )
    _add_overlap(graph, subject, data, place)
    held = validation.get("rows")
    if isinstance(held, int):
        graph.put_value(subject, "validationRows", held, f"{place}/data/validation/rows")
    if _is_tiny(data):
        graph.put_value(subject, "tinyDomain", True, f"{place}/data/inputs")


def _add_shares(
    graph: TrainingGraph,
    subject: str,
    fit: Mapping[str, Any],
    data: Mapping[str, Any],
    place: str,
) -> None:
    """Assert the share of rows held back, and whether the program itself divided them.

    Of a validation and a test part the larger one counts. Rows that a file of its own holds are
    an official split; only a `test_size` that the program writes says that it chose the share.
    """
    rows = data.get("rows")
    parts = {name: (data.get(name) or {}).get("rows") for name in ("validation", "test")}
    for name in ("test_size", "train_size"):
        if (fit.get("arguments") or {}).get(name):
            graph.put_value(subject, "dividesRows", True, f"{place}/arguments/{name}")
    if not isinstance(rows, int):
        return
    if fit.get("validation") == "split" and isinstance(parts["validation"], int):
        parts["validation"] = None
    counts = [count for count in parts.values() if isinstance(count, int)]
    held, every = max(counts, default=0), rows + sum(counts)
    if held:
        share = held / every
        sources = (f"{place}/data/rows", f"{place}/data/validation/rows")
        graph.put_value(subject, "heldShare", float(f"{share:.3g}"), *sources)
        graph.put_value(subject, "heldRows", held, *sources)
        graph.put_value(subject, "allRows", every, *sources)


def _add_overlap(graph: TrainingGraph, subject: str, data: Mapping[str, Any], place: str) -> None:
    """Assert the validation rows that were trained on, where they are more than chance doubles.

    Rows that are doubled in the data come to lie on both sides of any split.
    """
    shared = number((data.get("validation") or {}).get("overlap_share"))
    doubles = number(data.get("duplicate_share")) or 0.0
    if shared is None:
        return
    source = f"{place}/data/validation/overlap_share"
    graph.put_value(subject, "overlap", shared, source)
    if shared > max(_CHANCE, 2 * doubles):
        graph.put_value(subject, "overlapPercent", f"{100 * shared:.1f} %", source)


def _is_tiny(data: Mapping[str, Any]) -> bool:
    """Tell whether the inputs can take so few values that equal rows are no wonder."""
    rows, doubles = data.get("rows_examined"), number(data.get("duplicate_share"))
    if not isinstance(rows, int) or doubles is None:
        return False
    distinct = (1 - doubles) * rows
    return distinct <= _TINY_DOMAIN or doubles > 0.2
