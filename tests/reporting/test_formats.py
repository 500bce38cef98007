"""Every format, on one report that has everything."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from envcheck.errors import UsageError
from envcheck.findings import Fix, Location, Outcome, Report
from envcheck.reporting.registry import formats, render
from envcheck.reporting.style import Style
from tests.reporting.refresh_golden import GOLDEN, STYLES, rendered
from tests.reporting.sample import finding, report

HOSTILE = "a\x1b[2J\x07b\u202ec\u200bd\ne\r\tf\ud800\u2028g\x85h\ufeff"
VISIBLE = r"a\x1b[2J\x07b\u202ec\u200bd\ne\r\tf\ud800\u2028g\x85h\ufeff"


@pytest.mark.parametrize("name", STYLES)
def test_golden(name: str) -> None:
    """The report looks as it did; `refresh_golden` says how to accept a change."""
    assert rendered(name) == (GOLDEN / name).read_text("utf-8")


def test_formats_are_found_by_file_name() -> None:
    """The formats are those that have a file here."""
    assert {"json", "text"} <= set(formats())


def test_unknown_format() -> None:
    """A format that does not exist is a usage error that lists those that do."""
    with pytest.raises(UsageError, match="unknown format 'pdf'") as caught:
        render(report(), "pdf")
    assert "json" in caught.value.hint


def test_json_is_the_report() -> None:
    """The JSON report is exactly `to_json`, in its order, in ASCII."""
    text = render(report(), "json")

    assert text.isascii()
    assert json.loads(text) == report().to_json()
    assert list(json.loads(text)) == list(report().to_json())


def hostile_report() -> Report:
    """Return a report with troublesome text in every place that a file can fill."""
    bad = finding(
        title=HOSTILE,
        detail=HOSTILE,
        subject=HOSTILE,
        train=HOSTILE,
        deploy=[HOSTILE, {HOSTILE: HOSTILE}],
        fix=Fix(text=HOSTILE, command=HOSTILE),
        location=Location(file=HOSTILE, line=3),
        because=(HOSTILE,),
        guards=(HOSTILE,),
    )
    inputs = {
        side: {"place": HOSTILE, "python": HOSTILE, "system": HOSTILE, "created": HOSTILE}
        for side in ("train", "deploy")
    }
    findings = tuple(
        replace(bad, severity=severity, rule=rule, waived=waived)
        for severity, rule, waived in [
            ("error", "ENV001", ""),
            ("warning", "ENV002", ""),
            ("info", "ENV003", ""),
            ("info", "ENV004", ""),
            ("info", "ENV004", ""),
            ("error", "ENV005", HOSTILE),
        ]
    )
    open_one = Outcome(
        rule="ENV006", title=HOSTILE, subject=HOSTILE, severity="error", reason=HOSTILE
    )
    return Report(
        findings=findings,
        undetermined=(open_one,),
        rules={"finding": 5},
        inputs=inputs,
        notes=(HOSTILE,),
    )


@pytest.mark.parametrize("verbose", [False, True])
def test_hostile_text_in_a_text_report(*, verbose: bool) -> None:
    """Nothing invisible gets through, and no line is longer for it than its content."""
    text = render(hostile_report(), "text", Style(verbose=verbose))

    assert re.search(r"[^\n\x20-\x7e\u2192\u2026\u00d7]", text) is None
    assert VISIBLE in text


def test_hostile_text_in_a_json_report() -> None:
    """JSON spells everything in ASCII and gives it back unchanged."""
    text = render(hostile_report(), "json")

    assert text.isascii()
    assert json.loads(text)["findings"][0]["title"] == HOSTILE


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_lines_fit(width: int) -> None:
    """Lines fit the width; only commands and single long words may stand out."""
    text = render(report(), "text", Style(width=width, verbose=True))

    long = [line for line in text.splitlines() if len(line) > width]
    assert [line for line in long if "pip install" not in line and "  envcheck " not in line] == []


def test_commands_can_be_copied() -> None:
    """Every command stands whole on a line of its own, however narrow the terminal."""
    lines = [line.strip() for line in render(report(), "text", Style(width=40)).splitlines()]

    assert "python -m pip install 'scikit-learn==1.5.2'" in lines
    assert "export OMP_NUM_THREADS=2" in lines
    assert "envcheck compare train.json deploy.json" in lines


def test_colour_only_where_allowed() -> None:
    """Without permission there is no escape sequence, and colours change no word."""
    plain = render(report(), "text")
    colored = render(report(), "text", Style(color=True))

    assert "\x1b" not in plain
    assert "\x1b[1;31m" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain


def test_the_same_said_of_many_is_said_once() -> None:
    """Findings that differ in their subject alone share one explanation."""
    many = tuple(
        finding(rank=n, title=f"package {n} is built for another interpreter", subject=f"p{n}")
        for n in range(1, 31)
    )
    text = render(report(findings=many), "text")

    assert text.count("A pickle holds") == 1
    assert "error ENV031 30 times:" in text
    assert "and 22 more (-v shows them)" in text
    assert text.count("pip install") == 1
    assert render(report(findings=many), "text", Style(verbose=True)).count("is built for") == 30


def test_infos_are_counted_until_asked_for() -> None:
    """Info findings are one line; -v groups them by rule."""
    quiet, loud = render(report(), "text"), render(report(), "text", Style(verbose=True))

    assert "2 info findings not shown" in quiet
    assert "certifi" not in quiet
    assert "ENV020 2 \u00d7 patch-difference: package.certifi 2024.7.4" in loud


@pytest.mark.parametrize(
    ("changes", "first"),
    [
        ({}, "DOES NOT CONFORM: 2 errors, 1 warning (deploy.json against train.json)"),
        ({"findings": ()}, "CONFORMS: no errors, no warnings (deploy.json against train.json)"),
        (
            {"findings": (), "rules": {"unknown": 3}},
            "UNDETERMINED: nothing could be checked (deploy.json against train.json)",
        ),
        (
            {"findings": (), "strict": True},
            "UNDETERMINED: 1 possible error not decided, which strict does not accept",
        ),
    ],
)
def test_first_line(changes: dict[str, object], first: str) -> None:
    """The first line is the verdict and the two sides."""
    assert render(report(**changes), "text", Style(width=100)).splitlines()[0].startswith(first)


def test_a_bare_report_can_be_shown() -> None:
    """A report without inputs, findings or rules is shown in every format."""
    for name in formats():
        assert render(Report(), name)
