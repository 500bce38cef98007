"""Metrics that Prometheus parses, with a bounded number of series."""

from __future__ import annotations

import time

import pytest

from envcheck.reporting.registry import render
from tests.reporting.hostile import hostile_report
from tests.reporting.sample import report


def test_parses() -> None:
    """The reference parser reads every family, each with a type and a meaning."""
    parser = pytest.importorskip("prometheus_client.parser")
    digest = "0" * 64
    made = report(inputs={"train": {"digest": digest}, "deploy": {"digest": digest}})
    families = list(parser.text_string_to_metric_families(render(made, "prometheus")))

    assert all(family.documentation and family.type == "gauge" for family in families)
    values = {(s.name, *s.labels.values()): s.value for family in families for s in family.samples}
    assert values["envcheck_conforms",] == 0
    assert values["envcheck_findings", "error"] == 2
    assert values["envcheck_fingerprint_info", "deploy", digest] == 1
    assert abs(values["envcheck_last_run_timestamp_seconds",] - time.time()) < 60


def test_no_text_from_outside_is_in_it() -> None:
    """A hostile report gives the same series as an honest one, but for the digests."""

    def series(text: str) -> list[str]:
        return [line.rpartition(" ")[0] for line in text.splitlines()]

    assert series(render(hostile_report(), "prometheus")) == series(render(report(), "prometheus"))
