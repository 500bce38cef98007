"""What a report says about the two sides of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from envcheck.fingerprint import Fingerprint

__all__ = ["About"]


class About(Mapping[str, Any]):
    """Where a side comes from and what it is; its digest is made when somebody asks for it.

    A report on the screen shows no digest, and making it means to write the whole fingerprint.
    """

    def __init__(self, side: Fingerprint) -> None:
        def known(key: str) -> Any:
            fact = side.fact(key)
            return fact.value if fact.is_ok else None

        libc = [str(known(key) or "") for key in ("os.libc_family", "os.libc_version")]
        self._side = side
        self._known = {
            "place": side.place or None,
            "role": side.role or None,
            "created": side.envelope.get("created"),
            "tool": side.envelope.get("tool"),
            "implementation": known("python.implementation"),
            "python": known("python.version"),
            "system": known("os.system"),
            "architecture": known("cpu.architecture"),
            "libc": " ".join(part for part in libc if part) or None,
            "packages": len(side.family("package")),
            "kind": (known("python.packages") or {}).get("kind"),
        }

    def __getitem__(self, name: str) -> Any:
        """Return one of the values."""
        return self._side.digest if name == "digest" else self._known[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        yield from self._known
        yield "digest"

    def __len__(self) -> int:
        """Return how many values there are."""
        return len(self._known) + 1

    def __repr__(self) -> str:
        return f"About({self._known})"
