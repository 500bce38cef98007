"""Records behave as frozen dataclasses do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from envcheck.records import field, record, replace


@record
class Mine:
    """A record."""

    name: str
    size: int = 0
    tags: list[str] = field(default_factory=list)
    note: str = field(default="", repr=False, compare=False)


@dataclasses.dataclass(frozen=True)
class Theirs:
    """The same as a dataclass."""

    name: str
    size: int = 0
    tags: list[str] = dataclasses.field(default_factory=list)
    note: str = dataclasses.field(default="", repr=False, compare=False)


@record(kw_only=True)
class Named:
    """A record whose members are all named."""

    a: int
    b: int = 2


CALLS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    (("a",), {}),
    (("a", 1), {}),
    (("a", 1, ["x"]), {"note": "n"}),
    ((), {"name": "a", "tags": ["y"]}),
    ((), {"size": 3, "name": "b"}),
]


@pytest.mark.parametrize(("arguments", "members"), CALLS)
def test_an_instance_is_that_of_a_dataclass(
    arguments: tuple[Any, ...], members: dict[str, Any]
) -> None:
    """Members, their order and the representation are the same."""
    mine, theirs = Mine(*arguments, **members), Theirs(*arguments, **members)

    assert list(vars(mine).items()) == list(vars(theirs).items())
    assert repr(mine) == repr(theirs).replace("Theirs", "Mine")


@pytest.mark.parametrize(
    ("arguments", "members"), [((), {}), (("a", 1, [], "n", 5), {}), (("a",), {"other": 1})]
)
def test_wrong_members_are_refused(arguments: tuple[Any, ...], members: dict[str, Any]) -> None:
    """Missing, surplus and unknown members raise what they raise for a dataclass."""
    for kind in (Mine, Theirs):
        with pytest.raises(TypeError, match=r"__init__\(\)"):
            kind(*arguments, **members)


def test_named_members_only() -> None:
    """Under `kw_only` no member has a position."""
    made: Any = Named

    assert made(a=1) == Named(a=1, b=2)
    with pytest.raises(TypeError):
        made(1)


def test_equality_and_hash() -> None:
    """They go by the compared members, and never hold between classes."""
    assert Mine("a", note="x") == Mine("a", note="y")
    assert Mine("a") != Mine("b")
    other: Any = Theirs("a")
    assert Mine("a") != other
    assert hash(Named(a=1)) == hash(Named(a=1))
    assert {Named(a=1), Named(a=1), Named(a=2)} == {Named(a=1), Named(a=2)}
    with pytest.raises(TypeError):
        hash(Mine("a"))


def test_defaults_are_not_shared() -> None:
    """Each instance gets its own list."""
    assert Mine("a").tags is not Mine("a").tags


def test_a_record_is_frozen() -> None:
    """Members can be neither set nor deleted."""
    mine: Any = Mine("a")

    with pytest.raises(dataclasses.FrozenInstanceError):
        mine.name = "b"
    with pytest.raises(dataclasses.FrozenInstanceError):
        del mine.name
    assert mine.name == "a"


def test_copies() -> None:
    """`replace`, of either module, `copy` and `pickle` know records."""
    mine: Any = Mine("a", 1, ["x"], "n")

    assert vars(replace(mine, size=2)) == vars(mine) | {"size": 2}
    assert vars(dataclasses.replace(mine, size=2)) == vars(mine) | {"size": 2}
    assert vars(copy.deepcopy(mine)) == vars(mine)
    assert vars(pickle.loads(pickle.dumps(mine))) == vars(mine)
    with pytest.raises(TypeError):
        replace(mine, other=1)


def test_tools_see_a_dataclass() -> None:
    """What looks into dataclasses finds the same in a record."""
    mine: Any = Mine
    one: Any = Mine("a")

    assert dataclasses.is_dataclass(mine)
    assert dataclasses.asdict(one) == dataclasses.asdict(Theirs("a"))
    for ours, theirs in zip(dataclasses.fields(mine), dataclasses.fields(Theirs), strict=True):
        for name in ("name", "type", "default", "default_factory", "repr", "compare", "kw_only"):
            assert getattr(ours, name) == getattr(theirs, name)
    assert all(spec.kw_only for spec in dataclasses.fields(Named))
