"""The pytest plugin: `pytest --envcheck train.json` puts one test per finding before your own.

A run that would test a model in the wrong environment then says so first. pytest finds the
plugin by its entry point; without the option nothing of envcheck is loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from envcheck.findings import Finding, Outcome, Report

__all__ = ["pytest_addoption", "pytest_collection_modifyitems", "pytest_report_header"]

_LIVE = "live"
_REPORT: pytest.StashKey[Any] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the plugin."""
    group = parser.getgroup("envcheck", "compare this environment with the one of training")
    group.addoption(
        "--envcheck", metavar="TRAIN",
        help="fingerprint of the training environment; adds one test per error and warning",
    )  # fmt: skip
    group.addoption(
        "--envcheck-deploy", metavar="DEPLOY", default=_LIVE,
        help="what to judge instead of this interpreter: a fingerprint or requirements file",
    )  # fmt: skip
    group.addoption(
        "--envcheck-fail-on", choices=("error", "warning"), default="error",
        help="what makes such a test fail (default: error)",
    )  # fmt: skip


def pytest_report_header(config: pytest.Config) -> str | None:
    """Name the two sides above the tests."""
    train = config.getoption("--envcheck")
    if not train:
        return None
    return f"envcheck: {config.getoption('--envcheck-deploy')} against {train}"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Put the tests of the comparison before all others."""
    if config.getoption("--envcheck"):
        items[:0] = _items(session, _report(config))


def _report(config: pytest.Config) -> Report:
    """Compare once in each process."""
    if _REPORT not in config.stash:
        from envcheck.errors import EnvcheckError
        from envcheck.pairing import compare

        train, deploy = (config.getoption(name) for name in ("--envcheck", "--envcheck-deploy"))
        try:
            config.stash[_REPORT] = compare(train, deploy)
        except EnvcheckError as problem:
            raise pytest.UsageError(f"envcheck: {problem}") from problem
    report: Report = config.stash[_REPORT]
    return report


def _items(session: pytest.Session, report: Report) -> Iterator[pytest.Item]:
    """Yield one item for the run, and one for each finding or open rule that may need action."""
    yield _made(RulesItem, session, "rules checked", report=report)
    for finding in report.findings:
        if finding.severity != "info":
            name = f"{finding.rule} {finding.fault}[{_plain(finding.subject)}]"
            yield _made(FindingItem, session, name, finding=finding)
    for outcome in report.undetermined:
        name = f"{outcome.rule} not decided[{_plain(outcome.subject)}]"
        yield _made(OpenItem, session, name, outcome=outcome)


def _made(kind: type[pytest.Item], session: pytest.Session, name: str, **about: Any) -> pytest.Item:
    """Return an item that is found as `envcheck::NAME` and by `-k envcheck`."""
    item: pytest.Item = kind.from_parent(session, name=name, nodeid=f"envcheck::{name}", **about)
    item.extra_keyword_matches.add("envcheck")
    return item


def _plain(text: str) -> str:
    from envcheck.reporting.escape import escape, shorten

    return shorten(escape(text), 80)


class Nonconformity(Exception):
    """A finding that makes its test fail."""


class _EnvcheckItem(pytest.Item):
    """A test that is no function: it shows its own words when it fails."""

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the message alone; there is no code to look at."""
        if isinstance(excinfo.value, Nonconformity):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Any, int | None, str]:
        """Return where the test comes from: the line of the fact, where it has one."""
        return self.path, None, self.name


class RulesItem(_EnvcheckItem):
    """Passes when there was something to judge: nothing checked is no pass."""

    def __init__(self, *, report: Report, **others: Any) -> None:
        super().__init__(**others)
        self.report = report

    def runtest(self) -> None:
        """Fail when no rule reached a decision."""
        from envcheck.reporting.words import rules_sentence

        told = rules_sentence(self.report)
        if self.report.verdict == "undetermined":
            raise Nonconformity(f"nothing could be checked: {told}")
        self.add_report_section("call", "envcheck", f"checked {told}")


class FindingItem(_EnvcheckItem):
    """Fails when the finding is at or above the level that was asked for."""

    def __init__(self, *, finding: Finding, **others: Any) -> None:
        super().__init__(**others)
        self.finding = finding

    def runtest(self) -> None:
        """Fail with what the finding says, or skip when it is waived."""
        from envcheck.reporting.escape import escape

        if self.finding.waived:
            pytest.skip(f"waived: {escape(self.finding.waived)}")
        levels = {"error", self.config.getoption("--envcheck-fail-on")}
        if self.finding.severity in levels:
            raise Nonconformity(self._told())
        self.add_report_section("call", "envcheck", self._told())

    def _told(self) -> str:
        from envcheck.reporting.escape import escape
        from envcheck.reporting.words import place_of, value_text

        found = self.finding
        lines = [
            f"{found.severity} {found.rule} {escape(found.title)}",
            f"  train   {value_text(found.train)}",
            f"  deploy  {value_text(found.deploy)}",
            f"  why     {escape(found.detail)}" if found.detail else "",
            f"  fix     {escape(found.fix.text)}" if found.fix.text else "",
            f"          {escape(found.fix.command)}" if found.fix.command else "",
            f"  where   {place_of(found.location)}" if found.location.file else "",
            f"  more    envcheck explain {escape(found.rule)}",
        ]
        return "\n".join(line for line in lines if line)


class OpenItem(_EnvcheckItem):
    """Skipped, with the reason why the rule could not be decided."""

    def __init__(self, *, outcome: Outcome, **others: Any) -> None:
        super().__init__(**others)
        self.outcome = outcome

    def runtest(self) -> None:
        """Skip."""
        from envcheck.reporting.escape import escape

        pytest.skip(f"{escape(self.outcome.title)}: {escape(self.outcome.reason)}")
