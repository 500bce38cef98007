"""Frozen records: what `dataclasses` makes, at a tenth of its cost when a process starts.

`dataclasses` loads `inspect` and compiles six methods for every class. Here the methods are
shared, and `__init__` is compiled when the first instance is made. To `dataclasses.fields`,
`dataclasses.replace` and pydantic a record is a dataclass like any other. CPython 3.9, standard
library.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from typing import NoReturn, dataclass_transform
else:

    def dataclass_transform(**_options):
        """Return what changes nothing; only type checkers need it."""
        return lambda function: function


__all__ = ["field", "record", "replace"]

_T = TypeVar("_T")
_NONE: Any = object()


class _Field:
    """How a member of a record is to be treated."""

    __slots__ = ("compare", "default", "default_factory", "repr")

    def __init__(self, default: Any, default_factory: Any, shown: bool, compare: bool) -> None:
        self.default = default
        self.default_factory = default_factory
        self.repr = shown
        self.compare = compare


def field(
    *,
    default: Any = _NONE,
    default_factory: Any = _NONE,
    repr: bool = True,  # noqa: A002  the name that `dataclasses` has
    compare: bool = True,
) -> Any:
    """Return the specification of a member, with the meanings of `dataclasses.field`."""
    return _Field(default, default_factory, repr, compare)


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(kind: Any = None, *, kw_only: bool = False) -> Any:
    """Make a class a frozen record of its annotated members, as `dataclass(frozen=True)` does.

    Records are not derived from one another, and have neither `ClassVar` nor `__post_init__`.
    """
    if kind is None:
        return lambda made: _make(made, kw_only)
    return _make(kind, kw_only)


def replace(instance: _T, **changes: Any) -> _T:
    """Return a copy of a record with some members changed."""
    members = vars(instance)
    kept = {name: members[name] for name in type(instance).__record_fields__}  # type: ignore[attr-defined]
    return type(instance)(**{**kept, **changes})


def _make(kind: Any, kw_only: bool) -> Any:
    fields: dict[str, _Field] = {}
    for name in kind.__annotations__:
        given = kind.__dict__.get(name, _NONE)
        if isinstance(given, _Field):
            if given.default is _NONE:
                delattr(kind, name)
            else:
                setattr(kind, name, given.default)
        else:
            given = _Field(given, _NONE, True, True)
        fields[name] = given

    def __init__(self: Any, *arguments: Any, **members: Any) -> None:  # noqa: N807
        compiled = _compiled_init(kind, fields, kw_only)
        kind.__init__ = compiled
        compiled(self, *arguments, **members)

    kind.__init__ = __init__
    kind.__record_fields__ = fields
    kind.__record_values__ = attrgetter(*(name for name in fields if fields[name].compare))
    for name, given in (("__match_args__", () if kw_only else tuple(fields)), *_SHARED):
        if kind.__dict__.get(name) is None:
            setattr(kind, name, given)
    for name in ("__dataclass_fields__", "__dataclass_params__"):
        setattr(kind, name, _Twin(name, kw_only))
    return kind


def _compiled_init(kind: Any, fields: dict[str, _Field], kw_only: bool) -> Any:
    names: dict[str, Any] = {"_none": _NONE}
    parameters = ["self", "*"] if kw_only else ["self"]
    lines = ["    _members = self.__dict__"]
    for name, spec in fields.items():
        value = name
        if spec.default_factory is not _NONE:
            names[f"_make_{name}"] = spec.default_factory
            value = f"_make_{name}() if {name} is _none else {name}"
            parameters.append(f"{name}=_none")
        elif spec.default is not _NONE:
            names[f"_default_{name}"] = spec.default
            parameters.append(f"{name}=_default_{name}")
        else:
            parameters.append(name)
        lines.append(f"    _members[{name!r}] = {value}")
    body = "\n".join(lines)
    exec(f"def __init__({', '.join(parameters)}):\n{body}\n", names)  # noqa: S102  as dataclasses
    made = names["__init__"]
    made.__qualname__ = f"{kind.__qualname__}.__init__"
    made.__module__ = kind.__module__
    made.__annotations__ = {**kind.__annotations__, "return": "None"}
    return made


def _repr(self: Any) -> str:
    fields = type(self).__record_fields__
    members = (f"{name}={getattr(self, name)!r}" for name in fields if fields[name].repr)
    return f"{type(self).__qualname__}({', '.join(members)})"


def _eq(self: Any, other: Any) -> Any:
    if type(other) is not type(self):
        return NotImplemented
    values: Any = type(self).__record_values__
    return bool(values(self) == values(other))


def _hash(self: Any) -> int:
    return hash(type(self).__record_values__(self))


def _refuse(self: Any, name: str, *_value: Any) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot change field {name!r} of {type(self).__name__}")


_SHARED: tuple[tuple[str, Any], ...] = (
    ("__repr__", _repr),
    ("__eq__", _eq),
    ("__hash__", _hash),
    ("__setattr__", _refuse),
    ("__delattr__", _refuse),
)


class _Twin:
    """An attribute by which tools know a dataclass, made when one of them asks."""

    def __init__(self, name: str, kw_only: bool) -> None:
        self.name = name
        self.kw_only = kw_only

    def __get__(self, instance: Any, kind: Any) -> Any:
        import dataclasses

        members: dict[str, Any] = {
            "__annotations__": dict(kind.__annotations__),
            "__module__": kind.__module__,
        }
        for name, spec in kind.__record_fields__.items():
            options = {"repr": spec.repr, "compare": spec.compare}
            if spec.default is not _NONE:
                options["default"] = spec.default
            if spec.default_factory is not _NONE:
                options["default_factory"] = spec.default_factory
            members[name] = dataclasses.field(**options)
        options = {"kw_only": True} if self.kw_only else {}
        plain = type(kind.__name__, (), members)
        twin: Any = dataclasses.dataclass(frozen=True, **options)(plain)
        for name in ("__dataclass_fields__", "__dataclass_params__"):
            setattr(kind, name, getattr(twin, name))
        return getattr(twin, self.name)
