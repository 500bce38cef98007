"""An environment that is to load a model file, and the form of an answer about the two."""

from __future__ import annotations

from envcheck.comparing.artefacts import Artefact
from envcheck.comparing.checks import Check
from envcheck.comparing.inventory import Inventory, Package
from envcheck.fingerprint import Fingerprint
from envcheck.records import record

__all__ = ["Reader", "file_check"]


@record(kw_only=True)
class Reader:
    """An environment that is to load a model file; `writer` is the train side.

    Each question is put to an environment, so that the train side can be asked the same.
    """

    inventory: Inventory
    writer: Fingerprint

    @property
    def side(self) -> Fingerprint:
        """The fingerprint of the environment."""
        return self.inventory.fingerprint

    def source(self, key: str) -> str:
        """Return the source of a fact of this environment."""
        return f"{self.inventory.side}:{key}"

    def members(self, group: str) -> list[Package]:
        """Return the installed variants of one import that have a version."""
        names = self.inventory.groups.get(group, [])
        found = [self.inventory.packages[name] for name in names]
        return [package for package in found if package.version]


def file_check(
    artefact: Artefact, kind: str, outcome: str, sources: tuple[str, ...], **texts: str
) -> Check:
    """Return the answer about a file, which rests on the file and on more facts."""
    return Check(
        subject=artefact.key,
        kind=kind,
        outcome=outcome,
        sources=(artefact.source, *sources),
        name=artefact.name,
        **texts,
    )
