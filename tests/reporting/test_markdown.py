"""Markdown for a job summary: readable, inert, and within the size that GitHub takes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from envcheck.reporting.as_markdown import LIMIT
from envcheck.reporting.markdown_text import cell, fenced, inline
from envcheck.reporting.registry import render
from tests.reporting.hostile import ATTACKS, hostile_report
from tests.reporting.models import hostile_models, parity_report, training_report
from tests.reporting.sample import finding, report
from tests.strategies import hostile_text

if TYPE_CHECKING:
    from markdown_it.token import Token

    from envcheck.findings import Report

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
OURS = re.compile(r"</?(details|summary|code)>")


def leaves(text: str) -> list[Token]:
    """Return all tokens of a text, inner ones too."""
    found = []
    for token in PARSER.parse(text):
        found += [token, *(token.children or ())]
    return found


def shown(text: str) -> str:
    """Return what a reader sees of one paragraph."""
    return "".join(
        token.content for token in leaves(text) if token.type in ("text", "text_special")
    )


def test_summary_shows_what_matters() -> None:
    """Verdict, counts, both sides, findings with values and places, fix, open and waived ones."""
    text = render(report(), "markdown")

    assert text.startswith("## ❌ envcheck: does not conform\n")
    assert "```bash\npython -m pip install 'scikit-learn==1.5.2'\n```" in text
    assert "Follows from <code>ENV031 package.scikit-learn</code>" in text
    assert "### Not decided" in text
    assert "logs are in UTC either way" in text
    kinds = {token.type for token in leaves(text)}
    assert {"table_open", "heading_open", "fence", "bullet_list_open"} <= kinds


def test_a_training_fault_in_a_summary() -> None:
    """Seen against expected, script line, layer, batch, and the ways out are there to read."""
    text = render(training_report(), "markdown")

    assert "| severity | rule | what | seen | expected | where |" in text
    assert "| train | deploy |" not in text
    assert "**Where:** <code>train.py:31</code>, <code>train.py:12</code>" in text
    assert "**At:** layer block/dense\\_2, tensor block/dense\\_2/kernel, epoch 2, batch 37" in text
    assert "- TRN014 no gradient clipping: clip by norm 1.0" in text


def test_a_comparison_of_models_in_a_summary() -> None:
    """Verdict, outputs and every call are there, under the names of the models."""
    text = render(parity_report(), "markdown")

    assert "- **reference** <code>tiny.keras</code>" in text
    assert "- **parity** mismatch: not the same function" in text
    assert "| fault | hidden | Dense | open | 4.3e-02 | 4.3e-02 | 1.5e-07 | 2.9e+05 |" in text
    assert text.count("| exact |") == 5


@pytest.mark.parametrize("made", [hostile_report(), hostile_models()], ids=["report", "models"])
def test_hostile_report_has_no_mark_up_of_its_own(made: Report) -> None:
    """The attacks add no link, image, HTML, heading or emphasis to the page."""
    tokens = leaves(render(made, "markdown"))
    html = [token.content for token in tokens if token.type in ("html_block", "html_inline")]
    heads = [token for token in tokens if token.type == "heading_open"]

    assert {token.type for token in tokens} & {"link_open", "image", "em_open", "s_open"} == set()
    for piece in html:
        assert "<" not in OURS.sub("", piece), piece
    assert len(heads) == 3


@pytest.mark.parametrize("text", ATTACKS)
def test_inline(text: str) -> None:
    """A reader sees the text, with the invisible spelt out, and nothing is made of it."""
    kinds = {token.type for token in leaves(f"x {inline(text)}")}

    assert kinds <= {"paragraph_open", "paragraph_close", "inline", "text", "text_special"}


@given(hostile_text())
def test_any_text_stays_text(text: str) -> None:
    """No text becomes more than a paragraph, a cell of a table, or a block of code."""
    kinds = {token.type for token in leaves(f"x {inline(text)}")}
    assert kinds <= {"paragraph_open", "paragraph_close", "inline", "text", "text_special"}

    table = leaves(f"| a | b |\n|---|---|\n| {cell(text)} | {cell(text)} |\n")
    assert sum(token.type == "td_open" for token in table) == 2
    assert [token.type for token in leaves(fenced(text))] == ["fence"]


@given(st.text(alphabet="`\n a", max_size=40))
def test_fences_hold(text: str) -> None:
    """A block of code ends where it should, whatever back-quotes are in it."""
    assert [token.type for token in leaves(fenced(text))] == ["fence"]


def test_size() -> None:
    """A huge report is cut between rows, says so, and closes everything it opened."""
    long = "x" * 290
    many = tuple(
        finding(rank=n, severity=severity, title=f"{n} {long}", subject=f"{severity} {n}")
        for severity in ("error", "info")
        for n in range(4000)
    )
    text = render(report(findings=many), "markdown")

    assert 500_000 < len(text.encode("utf-8")) <= LIMIT
    assert re.search(r"\*\*\d+ more left out here for size;\*\*", text)
    assert text.count("<details>") == text.count("</details>")
    assert "Checked 88 rules" in text
    rows = [line for line in text.splitlines() if line.startswith("| 🔴")]
    assert {line.count("|") for line in rows} == {7}


def test_readable() -> None:
    """Versions and names stand as they are in the source as well."""
    assert inline("scikit-learn 1.5.2: 50 % (a/b)") == "scikit-learn 1.5.2: 50 % (a/b)"
    assert shown(inline("a_b*c [d] #1 @e <f> 1 | 2")) != ""
