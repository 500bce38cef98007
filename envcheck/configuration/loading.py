"""From command line, environment and file to settled options and the policy."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from envcheck.configuration.options import OPTIONS, Setting, from_environment, settle
from envcheck.policy.model import Policy
from envcheck.records import record, replace

if TYPE_CHECKING:
    from datetime import date

    from envcheck.comparing.rulesets import Rules

__all__ = ["Configuration", "load_configuration"]

COMMAND_LINE = "command line"
_FOR_THE_POLICY = {"profile", "waivers", "baseline", "rules"}


@record(kw_only=True)
class Configuration:
    """The settled options by long name, the policy, and the file they come from.

    `rules` are all rules where folders with further ones were named, else None.
    """

    settings: Mapping[str, Setting]
    policy: Policy
    rules: Rules | None = None
    file: str | None = None

    def __getitem__(self, name: str) -> Any:
        """Return the value of an option."""
        return self.settings[name].value


def load_configuration(
    config: str | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    folder: str | None = None,
    today: date | None = None,
    with_baseline: bool = True,
) -> Configuration:
    """Return options and policy; raises ConfigError that lists every mistake.

    `config` names the file; without it the nearest one from `folder` upward counts. `options`
    are those of the command line by long name, None for those not given. `today` is the day by
    which waivers expire, by default the current one in UTC. Without `with_baseline` the baseline
    file is not read.
    """
    from_variables = from_environment(os.environ if environment is None else environment)
    folder = os.getcwd() if folder is None else folder
    given = {
        name: Setting(value=value, source=COMMAND_LINE)
        for name, value in (options or {}).items()
        if value is not None and name in OPTIONS
    }
    stated = {**from_variables, **given}
    named = config or (from_variables["config"].value if "config" in from_variables else None)
    file = named or _nearest(folder)
    if file is None and not _FOR_THE_POLICY & stated.keys():
        return Configuration(settings=settle(given, from_variables), policy=Policy(today=today))
    from datetime import UTC, datetime

    from envcheck.configuration.assembling import assemble

    day = today or datetime.now(UTC).date()
    made = assemble(file, stated, folder=folder, today=day, with_baseline=with_baseline)
    settings = settle(given, from_variables, made.settings)
    policy = replace(made.policy, today=day)
    return Configuration(settings=settings, policy=policy, rules=made.rules, file=file)


def _nearest(folder: str) -> str | None:
    """Return the nearest configuration file, relative to the current folder where it lies below."""
    from envcheck.configuration.documents import find_configuration

    found = find_configuration(folder)
    if found is None:
        return None
    here = os.getcwd() + os.sep
    return found.removeprefix(here)
