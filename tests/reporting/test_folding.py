"""Findings under their root causes."""

from __future__ import annotations

from envcheck.reporting.folding import bundle, fold
from tests.reporting.sample import finding


def shape(*findings: object) -> list[tuple[str, list[str]]]:
    """Return the groups as subjects."""
    groups = fold(findings)  # type: ignore[arg-type]
    return [(group.root.subject, [item.subject for item in group.consequences]) for group in groups]


def test_chains_end_at_the_last_explanation() -> None:
    """What follows from something that follows from a root cause stands under the root cause."""
    a = finding(rule="R1", subject="a")
    b = finding(rule="R2", subject="b", explained_by="R1 a")
    c = finding(rule="R3", subject="c", explained_by="R2 b")

    assert shape(c, a, b) == [("a", ["c", "b"])]


def test_missing_explanation() -> None:
    """A finding whose explanation is not shown stands on its own."""
    assert shape(finding(subject="b", explained_by="R1 a")) == [("b", [])]


def test_circles_hide_nothing() -> None:
    """Findings that explain each other are all shown."""
    a = finding(rule="R1", subject="a", explained_by="R2 b")
    b = finding(rule="R2", subject="b", explained_by="R1 a")
    c = finding(rule="R3", subject="c", explained_by="R1 a")
    shown = {name for root, rest in shape(a, b, c) for name in (root, *rest)}

    assert shown == {"a", "b", "c"}
    assert shape(finding(rule="R1", subject="a", explained_by="R1 a")) == [("a", [])]


def test_bundles_keep_the_order() -> None:
    """A bundle stands where its first member stood; other advice is another bundle."""
    a, b, c = (finding(rule=rule, subject=rule + name) for rule, name in ("Ra", "Sb", "Rc"))
    d = finding(rule="R", subject="Rd", detail="something else")
    a, c = (finding(rule="R", subject=item.subject) for item in (a, c))
    bundles = [[group.root.subject for group in groups] for groups in bundle(fold((a, b, c, d)))]

    assert bundles == [["Ra", "Rc"], ["Sb"], ["Rd"]]
