"""The frozen objects of a policy; an empty `Policy()` changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from envcheck.records import field, record

if TYPE_CHECKING:
    from datetime import date

    from envcheck.policy.baseline import Baseline

__all__ = ["DRIFTS", "Citation", "Policy", "Waiver", "Wanted"]

DRIFTS = ("none", "patch", "minor", "major", "any")
"""How far versions may drift apart, from not at all to as far as they like.

`patch`, `minor` and `major` say nothing about local labels (`+cu121`); `none` forbids and `any`
allows another label.
"""


@record(kw_only=True)
class Citation:
    """Where a setting of the policy comes from, so that a finding can name it."""

    value: Any
    place: str


@record(kw_only=True)
class Wanted:
    """A package that the policy asks for or forbids, by normalised name."""

    name: str
    specifier: str = ""

    @property
    def text(self) -> str:
        """The requirement as it is written."""
        return f"{self.name}{self.specifier}"


@record(kw_only=True)
class Waiver:
    """One accepted finding: a rule, the facts it is accepted for, why, and until when.

    `fact` is a glob over subjects such as `package.numpy`; empty for all. The waiver holds up to
    and including the day `expires` in UTC.
    """

    rule: str
    reason: str
    expires: date
    fact: str = ""
    owner: str = ""
    place: str = ""

    @property
    def note(self) -> str:
        """The reason with owner and end, as reports show it."""
        owner = f"{self.owner}, " if self.owner else ""
        return f"{self.reason} ({owner}until {self.expires.isoformat()})"


@record(kw_only=True)
class Policy:
    """What a user allows, asks for and forbids, beside what the rules say themselves.

    `roles` and `drift` are keyed by normalised package names, `drift` also by `python` and by
    `role:NAME`; values of `drift` are of `DRIFTS`. `profiles` names the active profile and those
    it extends: rules that belong to a profile run only in it. `cited` says where settings come
    from, by dotted name (`drift.numpy`). `today` decides which waivers have expired; None is the
    current day in UTC.
    """

    profiles: tuple[str, ...] = ("default",)
    roles: Mapping[str, str] = field(default_factory=dict)
    drift: Mapping[str, str] = field(default_factory=dict)
    require: tuple[Wanted, ...] = ()
    forbid: tuple[Wanted, ...] = ()
    roots: tuple[str, ...] = ()
    severity: Mapping[str, str] = field(default_factory=dict)
    disable: frozenset[str] = frozenset()
    require_gpu: bool = False
    waivers: tuple[Waiver, ...] = ()
    baseline: Baseline | None = None
    cited: Mapping[str, Citation] = field(default_factory=dict)
    today: date | None = None

    @property
    def day(self) -> date:
        """The day by which waivers expire."""
        from datetime import UTC, datetime

        return self.today or datetime.now(UTC).date()

    @property
    def accepts(self) -> bool:
        """Whether there is a waiver or a baseline."""
        return bool(self.waivers or self.baseline is not None)

    def runs(self, rule: str, profile: str) -> bool:
        """Return whether a rule runs; `profile` is the one it belongs to, or empty."""
        return rule not in self.disable and (not profile or profile in self.profiles)

    def citation(self, name: str) -> Citation:
        """Return where a setting comes from; without a place if nobody said."""
        return self.cited.get(name) or Citation(value=None, place="")
