"""The fact store: triples indexed by predicate, (predicate, subject), (predicate, object)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

__all__ = ["NO_TABLE", "FactBase", "Pair", "Table", "Triple"]

Triple = tuple[str, str, str]
Pair = tuple[str, str]

_NOTHING: tuple[str, ...] = ()


class Table:
    """The facts of one predicate: (subject, object) pairs with the source of each.

    The two indexes are built on first use and kept up to date from then on.
    """

    __slots__ = ("_objects", "_subjects", "pairs")

    def __init__(self, pairs: dict[Pair, Hashable] | None = None) -> None:
        self.pairs: dict[Pair, Hashable] = {} if pairs is None else pairs
        self._objects: dict[str, list[str]] | None = None
        self._subjects: dict[str, list[str]] | None = None

    def copy(self) -> Table:
        """Return an independent table with the same facts."""
        return Table(dict(self.pairs))

    @property
    def objects(self) -> dict[str, list[str]]:
        """The objects of each subject."""
        if self._objects is None:
            index: dict[str, list[str]] = {}
            self._objects = index
            for subject, object_ in self.pairs:
                index.setdefault(subject, []).append(object_)
        return self._objects

    @property
    def subjects(self) -> dict[str, list[str]]:
        """The subjects of each object."""
        if self._subjects is None:
            index: dict[str, list[str]] = {}
            self._subjects = index
            for subject, object_ in self.pairs:
                index.setdefault(object_, []).append(subject)
        return self._subjects

    def add(self, pair: Pair, source: Hashable = None) -> bool:
        """Add one fact; return False if it was there, whose first source then stays."""
        if pair in self.pairs:
            return False
        self.pairs[pair] = source
        if self._objects is not None:
            self._objects.setdefault(pair[0], []).append(pair[1])
        if self._subjects is not None:
            self._subjects.setdefault(pair[1], []).append(pair[0])
        return True

    def count(self, subject: str | None, object_: str | None) -> int:
        """Count the facts with this subject and object, where None stands for any."""
        if subject is not None:
            if object_ is not None:
                return (subject, object_) in self.pairs
            return len(self.objects.get(subject, _NOTHING))
        if object_ is not None:
            return len(self.subjects.get(object_, _NOTHING))
        return len(self.pairs)


NO_TABLE = Table()
"""Stands for a predicate without facts; never add to it."""


class FactBase:
    """Asserted facts, each with the sources that its caller gave.

    >>> base = FactBase()
    >>> base.add("pkg:numpy", "ec:version", '"2.4.6', source="package.numpy")
    """

    def __init__(self, triples: Iterable[Triple] = ()) -> None:
        self.tables: dict[str, Table] = {}
        self._more_sources: dict[Triple, list[Hashable]] = {}
        for subject, predicate, object_ in triples:
            self.add(subject, predicate, object_)

    def add(self, subject: str, predicate: str, object_: str, source: Hashable = None) -> None:
        """Assert a triple of terms; the same triple may be added from several sources."""
        table = self.tables.get(predicate)
        if table is None:
            table = self.tables[predicate] = Table()
        if not table.add((subject, object_), source):
            first = table.pairs[(subject, object_)]
            more = self._more_sources.setdefault((subject, predicate, object_), [])
            if source is not None and source != first and source not in more:
                more.append(source)

    def sources(self, triple: Triple) -> tuple[Hashable, ...]:
        """Return the sources of an asserted triple, those that are None left out."""
        subject, predicate, object_ = triple
        table = self.tables.get(predicate, NO_TABLE)
        found = [table.pairs.get((subject, object_)), *self._more_sources.get(triple, ())]
        return tuple(sorted((s for s in found if s is not None), key=repr))

    def matching(self, predicate: str) -> list[Pair]:
        """Return the sorted (subject, object) pairs of `predicate`."""
        return sorted(self.tables.get(predicate, NO_TABLE).pairs)

    def __contains__(self, triple: Triple) -> bool:
        subject, predicate, object_ = triple
        return (subject, object_) in self.tables.get(predicate, NO_TABLE).pairs

    def __iter__(self) -> Iterator[Triple]:
        return iter(sorted((s, p, o) for p, table in self.tables.items() for s, o in table.pairs))

    def __len__(self) -> int:
        return sum(len(table.pairs) for table in self.tables.values())
