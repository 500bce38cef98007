"""What every built-in probe must do, on every host there is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from envcheck.catalogue import declaration, keys_of
from envcheck.facts import ERROR, NOT_APPLICABLE, OK, UNKNOWN, Fact, Facts
from envcheck.probing.host import Host
from envcheck.probing.run import _load, builtin_probes, run_probes

if TYPE_CHECKING:
    from collections.abc import Callable

HOSTS = Path(__file__).resolve().parents[1] / "hosts"
RECORDED = sorted(path.name for path in HOSTS.iterdir() if path.is_dir())
PROBES = builtin_probes()
IN_ORDER = {"gpu.devices"}
"""Lists whose order means something: devices are in index order."""


def _empty(tmp_path: Path) -> Host:
    return Host(str(tmp_path))


def _gone(tmp_path: Path) -> Host:
    return Host(str(tmp_path / "gone"))


def _rubbish(tmp_path: Path) -> Host:
    """Return a host whose files are all of the wrong kind: folders, or binary."""
    for number, place in enumerate(
        (
            "etc/os-release", "etc/ld.so.cache", "proc/cpuinfo", "proc/meminfo", "proc/version",
            "proc/self/cgroup", "proc/self/mountinfo", "proc/self/limits", "proc/self/status",
            "proc/driver/nvidia/version", "lib64/ld-linux-x86-64.so.2", "lib/ld-musl-x86_64.so.1",
            "usr/lib/python3.11/os.py", "usr/bin/python3.11", "lib/apk/db/installed",
            "usr/lib/x86_64-linux-gnu/libc.so.6", "dev/nvidiactl",
            "usr/lib/python3.11/site-packages/a-1.dist-info/METADATA",
            "usr/lib/python3.11/site-packages/b-1.dist-info/RECORD",
        )
    ):  # fmt: skip
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if number % 2:
            path.mkdir()
        else:
            path.write_bytes(b"\x7fELF\x02\x01" + bytes(range(256)) * 40)
    return Host(str(tmp_path), environ={"LD_LIBRARY_PATH": "\0:/\udcff"})


def _recorded(name: str, environ: dict[str, str] | None = None) -> Callable[[Path], Host]:
    return lambda _path: Host(str(HOSTS / name), environ=environ)


KINDS: dict[str, Callable[[Path], Host]] = {
    "live": lambda _path: Host(),
    "this machine as an image": lambda _path: Host("/", live=False),
    "live without variables": lambda _path: Host(environ={}, live=True),
    "empty": _empty,
    "gone": _gone,
    "rubbish": _rubbish,
    **{name: _recorded(name) for name in RECORDED},
    **{f"{name}, variables": _recorded(name, {"OMP_NUM_THREADS": "2"}) for name in RECORDED[:3]},
}


@pytest.fixture(params=list(KINDS))
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Host:
    """Return one host after the other."""
    return KINDS[request.param](tmp_path)


@pytest.mark.parametrize("name", PROBES)
def test_a_probe_keeps_the_contract(host: Host, name: str) -> None:
    """No exception; all declared keys and no others; states with reasons; plain, sorted data."""
    facts = _load(name)(host)

    declared = keys_of(name)
    assert declared, f"{name} is not in the catalogue"
    wanted = {key for key in declared if not key.endswith("*")}
    families = [key[:-1] for key in declared if key.endswith("*")]
    assert wanted <= set(facts), "a declared key is missing"
    others = [key for key in facts if key not in wanted]
    assert [key for key in others if not any(map(key.startswith, families))] == []
    assert problems(facts) == []
    json.dumps({key: fact.to_json() for key, fact in facts.items()}, allow_nan=False)


def test_two_runs_are_equal(host: Host) -> None:
    """The same host read twice by fresh objects gives the same facts in the same order."""
    again = Host(host.root, live=host.live, environ=host.environ if host.knows_environ else None)

    first, second = run_probes(host), run_probes(again)

    assert first == second
    assert list(first) == sorted(first)
    assert not any("failed:" in fact.reason for fact in first.values())


def test_no_text_of_ours_shows_where_the_root_lies(host: Host) -> None:
    """Paths in facts are those inside the root."""
    if host.root == "/":
        pytest.skip("the root is the root")
    facts = run_probes(host)

    assert host.root not in json.dumps([fact.to_json() for fact in facts.values()])


def problems(facts: Facts) -> list[str]:
    """Return what is wrong with facts, in words."""
    found = []
    for key, fact in facts.items():
        if type(fact) is not Fact or fact.state not in (OK, NOT_APPLICABLE, UNKNOWN, ERROR):
            found.append(f"{key} is no fact")
        elif fact.state == OK:
            found += value_problems(key, fact.value)
        elif fact.value is not None:
            found.append(f"{key} is {fact.state} and has a value")
        elif not fact.reason:
            found.append(f"{key} is {fact.state} without a reason")
    return found


def value_problems(key: str, value: Any) -> list[str]:
    """Return how a value differs from its declaration in the catalogue."""
    declared = declaration(key)
    if declared is None:
        return [f"{key} is not declared"]
    if not is_of(declared.type, value):
        return [f"{key} is declared {declared.type} and is {value!r}"]
    if isinstance(value, list) and key not in IN_ORDER and not is_sorted(value):
        return [f"{key} is not sorted"]
    found = []
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict) and declared.fields is not None:
            found += field_problems(key, item, declared.fields)
    return found


def field_problems(key: str, item: dict[str, Any], fields: Any) -> list[str]:
    """Return how the members of an object differ from their declaration."""
    found = []
    for field, content in item.items():
        if field not in fields:
            found.append(f"{key}: field {field} is not declared")
        elif not is_of(fields[field][0], content):
            found.append(f"{key}: {field} is {content!r}")
        elif fields[field][0] == "list[string]" and not is_sorted(content):
            found.append(f"{key}: {field} is not sorted")
    return found


def is_sorted(values: list[Any]) -> bool:
    """Return whether a list of JSON data is in the order of its text."""
    texts = [item if isinstance(item, str) else json.dumps(item, sort_keys=True) for item in values]
    return texts == sorted(texts)


def is_of(kind: str, value: Any) -> bool:
    """Return whether a value is of a declared type."""
    if kind.startswith("list["):
        return isinstance(value, list) and all(is_of(kind[5:-1], item) for item in value)
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, {"string": str, "boolean": bool, "object": dict}[kind])


@pytest.mark.parametrize(
    ("facts", "problem"),
    [
        ({"cpu.features": Fact(OK, ["b", "a"])}, "cpu.features is not sorted"),
        ({"cpu.level": Fact(OK, 3)}, "cpu.level is declared string and is 3"),
        ({"cpu.logical_count": Fact(OK, True)}, "cpu.logical_count is declared integer"),
        ({"cpu.level": Fact(UNKNOWN)}, "cpu.level is unknown without a reason"),
        ({"cpu.level": Fact(UNKNOWN, "x", "y")}, "cpu.level is unknown and has a value"),
        ({"gpu.devices": Fact(OK, [{"uuid": "x"}])}, "gpu.devices: field uuid is not declared"),
        ({"file.a": Fact(OK, {"bytes": "1"})}, "file.a: bytes is '1'"),
        ({"made.up": Fact(OK, 1)}, "made.up is not declared"),
    ],
)
def test_the_contract_sees_what_it_is_for(facts: Facts, problem: str) -> None:
    """Each breach of the contract is reported."""
    assert problems(facts)[0].startswith(problem)
