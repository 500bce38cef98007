"""Judge this environment by the rules, under the policy of the project.

The module itself is CPython 3.9; what it calls is not.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from envcheck.errors import EXIT_DOES_NOT_CONFORM, EXIT_UNDETERMINED, NothingChecked
from envcheck.fingerprint.document import Fingerprint
from envcheck.records import record
from envcheck.startup.checked import Checked
from envcheck.startup.seal import Seal, name_of

if TYPE_CHECKING:
    from envcheck.configuration import Configuration
    from envcheck.facts import Facts
    from envcheck.findings import Finding, Report
    from envcheck.startup.journal import Journal
    from envcheck.startup.settings import Settings

__all__ = ["Judged", "judge"]

_BLOCKING = {"error": ("error",), "warning": ("error", "warning"), "never": ()}
"""The severities that stop a start, by `fail-on`."""


def judge(settings: Settings, facts: Facts, seal: Seal | None) -> Judged:
    """Run the rules as `envcheck compare` would, and drop what was accepted at release.

    Raises EnvcheckError.
    """
    if sys.version_info < (3, 11):
        raise NothingChecked(
            "judging by rules needs Python 3.11 or newer; under this one only an environment"
            " that is as the seal has it can be confirmed",
            place="envcheck selftest",
            hint="make the seal in the environment that is started: compare TRAIN live --seal",
        )
    from envcheck.configuration import load_configuration
    from envcheck.pairing import compare

    configuration = load_configuration(settings.stated.get("config"), settings.stated)
    deploy = Fingerprint(dict(sorted(facts.items())), {"role": "deploy"}, place="live")
    report = compare(
        _train_side(settings),
        deploy,
        strict=configuration["strict"],
        rules=configuration["rules"] if configuration.rules is None else configuration.rules,
        engine=configuration["engine"],
        policy=configuration.policy,
    )
    return Judged(report, configuration, seal.findings if seal else frozenset())


def _train_side(settings: Settings) -> Any:
    if settings.train:
        return settings.train
    from envcheck.embedding.carriers import extract

    return extract(settings.model)


@record
class Judged:
    """A report, the options it was made under, and the findings accepted at release."""

    report: Report
    configuration: Configuration
    accepted: frozenset[str]

    def told(self, journal: Journal, late: list[str]) -> Checked:
        """Log the findings, and return what they come to; `late` is what was not reached."""
        findings = [item for item in self.report.active if name_of(item) not in self.accepted]
        levels = _BLOCKING[self.configuration["fail-on"]]
        blocking = [item for item in findings if item.severity in levels]
        others = [item for item in findings if item.severity not in levels]
        warnings = [item for item in others if item.severity != "info"]
        infos = [item for item in others if item.severity == "info" and not item.pre_existing]
        self._tell_policy(journal)
        for finding in journal.some([*blocking, *warnings, *infos]):
            _tell(journal, finding)
        unclear = self._unclear(journal)
        problems = [
            f"{item.severity} {item.rule} {item.subject}: {item.title}" for item in blocking
        ]
        codes = {EXIT_DOES_NOT_CONFORM} if blocking else set()
        codes |= {EXIT_UNDETERMINED} if late or unclear else set()
        details = {
            "rules_checked": self.report.rules_checked,
            "undetermined": len(self.report.undetermined),
        }
        return Checked(
            frozenset(codes), "rules", [*problems, *late, *unclear], len(warnings), details
        )

    def _tell_policy(self, journal: Journal) -> None:
        profile = self.configuration["profile"]
        if profile != "default" or self.configuration.file is not None:
            journal.write("info", "judged", profile=profile, file=self.configuration.file)

    def _unclear(self, journal: Journal) -> list[str]:
        """Return why the rules as a whole have not decided, if they have not."""
        open_ones = self.report.undetermined
        if open_ones:
            reasons = sorted({outcome.reason for outcome in open_ones})
            journal.write("info", "undetermined", rules=len(open_ones),
                          reasons=journal.some(reasons)[:3])  # fmt: skip
        if self.report.rules_checked == 0:
            return ["no rule could be decided"]
        severe = [outcome for outcome in open_ones if outcome.severity == "error"]
        if self.configuration["strict"] and severe:
            return [f"undetermined {severe[0].rule} {severe[0].subject}: {severe[0].reason}"]
        return []


def _tell(journal: Journal, finding: Finding) -> None:
    journal.write(finding.severity, "finding", rule=finding.rule, fact=finding.subject,
                  train=finding.train, deploy=finding.deploy, title=finding.title,
                  fix=finding.fix.command or finding.fix.text)  # fmt: skip
