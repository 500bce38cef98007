"""A report in which every text that a file can fill attacks the format that shows it."""

from __future__ import annotations

from dataclasses import replace

from envcheck.findings import Evidence, Fix, Location, Outcome, Report
from tests.reporting.sample import finding

__all__ = ["ATTACKS", "hostile_report"]

ATTACKS = (
    "$(touch canary) `touch canary`; touch canary",
    "a\nb\r\n::set-output name=conforms::true",
    "%0A::error::forged%0D##[set-output name=conforms]true",
    "```\n## heading\n| cell | cell |\n",
    "<script>alert(1)</script><img src=x onerror=alert(1)>&amp;&lt;",
    "![x](https://evil.example/x.png)[y](javascript:alert(1)) @octocat #1 $x^2$ **b** _i_ ~s~",
    ']]>--><!--"\'><a href="x">y</a>',
    "\x1b[31m\x07\x00\u202eevil\u200b\ufeff\ud800\x85\u2028",
    "{0} {{x}} \\[z](1) \\n",
    'x" y} 1\nenvcheck_conforms 1\n',
    "- list",
    "1. list",
    "https://evil.example www.evil.example",
)
"""Texts that would execute, forge, break out or hide."""


def hostile_report() -> Report:
    """Return findings of every severity, waived and open ones, for each attack."""
    findings = []
    for number, text in enumerate(ATTACKS):
        bad = finding(
            rank=4 * number + 1, rule=f"ENV9{number:02}", title=text, detail=text, subject=text,
            train=text, deploy=[text, {text: text}], fix=Fix(text=text, command=text),
            location=Location(file=text, line=3), related=(Location(file=text, line=2),),
            because=(text, f"  {text}"), guards=(text,), explained_by=text,
            evidence=(Evidence(fact=text, origin=text, value=text),),
        )  # fmt: skip
        findings += [
            replace(bad, rank=4 * number + 1 + offset, severity=severity, waived=waived)
            for offset, (severity, waived) in enumerate(
                [("error", ""), ("warning", ""), ("info", ""), ("error", text)]
            )
        ]
    open_ones = tuple(
        Outcome(rule="ENV050", title=text, subject=text, severity="error", reason=text)
        for text in ATTACKS
    )
    everything = " ".join(ATTACKS)
    about = dict.fromkeys(
        ("place", "python", "system", "created", "libc", "digest", "kind"), everything
    )
    return Report(
        findings=tuple(findings),
        undetermined=open_ones,
        rules={"finding": len(ATTACKS), "pass": 3},
        inputs={"train": about, "deploy": about},
        notes=ATTACKS,
    )
