"""The packages probe: what a metadata folder tells, and what a hostile one cannot do."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any

import pytest
from packaging.utils import canonicalize_name

from envcheck.probing.host import Host
from envcheck.probing.interpreter import Interpreter, live_interpreter
from envcheck.probing.run import run_probes
from tests.wheels import build_wheel, install
from tests.wheels import metadata as metadata_text

if TYPE_CHECKING:
    from pathlib import Path

    from envcheck.facts import Facts
    from tests.conftest import Interpreters

probe = import_module("envcheck.probes.packages").probe
FILES = {"pkg/__init__.py": "x = 1\n", "pkg/deep/mod.py": "", "single.py": "", "data/x.txt": "1"}


def look(*folders: Path) -> Facts:
    """Run the probe on folders as if they were the import path."""
    path = tuple(str(folder) for folder in folders)
    interpreter = Interpreter("3.11.7", "cpython", "cpython-311", ".so", path, running=True)
    facts: Facts = probe(Host(live=True, interpreter=interpreter))
    return facts


def value(*folders: Path, name: str = "demo") -> dict[str, Any]:
    """Return the value of one package's fact."""
    found: dict[str, Any] = look(*folders)[f"package.{name}"].value
    return found


def test_a_wheel_in_full(tmp_path: Path) -> None:
    """Every field is there, lists are sorted, and the description cannot add to the header."""
    text = metadata_text(
        "De.Mo", "1.0", "Requires-Dist: zoo (>=1)", "Requires-Dist: abc",
        "Requires-Python: >=3.8", "Provides-Extra: test", "Provides-Extra: docs",
    )  # fmt: skip
    wheel = "Wheel-Version: 1.0\nTag: cp311-cp311-manylinux_2_17_x86_64\nTag: cp311-abi3-any\n"
    install(tmp_path, "demo", "1.0", files=FILES, METADATA=text, WHEEL=wheel, INSTALLER="pip\n")

    found = value(tmp_path, name="de-mo")
    digest = found.pop("record_sha256")
    assert found == {
        "version": "1.0",
        "tag": "cp311-abi3-any,cp311-cp311-manylinux_2_17_x86_64",
        "requires": ["abc", "zoo (>=1)"],
        "requires_python": ">=3.8",
        "extras": ["docs", "test"],
        "installer": "pip",
        "imports": ["pkg", "single"],
    }
    assert len(digest) == 64


def test_what_is_absent_is_left_out(tmp_path: Path) -> None:
    """A bare METADATA gives a version and no requirements, and nothing is made up."""
    install(tmp_path, "demo", "2")

    assert value(tmp_path) == {"version": "2", "requires": []}


@pytest.mark.parametrize(
    ("direct_url", "expected"),
    [
        (
            {"url": "https://u:p@example.org/a-1.0.tar.gz?token=x#frag",
             "archive_info": {"hashes": {"sha256": "ab"}}},
            {"origin": "archive", "origin_url": "https://example.org/a-1.0.tar.gz",
             "origin_revision": "sha256=ab"},
        ),
        (
            {"url": "https://h/a.whl", "archive_info": {"hash": "sha512=cd"}},
            {"origin": "archive", "origin_url": "https://h/a.whl", "origin_revision": "sha512=cd"},
        ),
        (
            {"url": "ssh://git@h/r.git", "vcs_info": {"vcs": "git", "commit_id": "0123"}},
            {"origin": "vcs", "origin_url": "ssh://h/r.git", "origin_revision": "0123"},
        ),
        (
            {"url": "file:///home/someone/secret", "dir_info": {}},
            {"origin": "directory", "origin_url": "file:"},
        ),
        (
            {"url": "file:///srv/x", "dir_info": {"editable": True}},
            {"origin": "directory", "origin_url": "file:", "editable": True},
        ),
        ([], {}),
        ({"url": 5, "vcs_info": "x", "archive_info": None}, {}),
    ],
)  # fmt: skip
def test_origin(tmp_path: Path, direct_url: object, expected: dict[str, Any]) -> None:
    """direct_url.json is told without credentials, query or local path."""
    install(tmp_path, "demo", "1", files=FILES, direct_url_json=json.dumps(direct_url))
    found = value(tmp_path)

    assert {key: item for key, item in found.items() if key in ("origin", "editable")
            or key.startswith("origin_")} == expected  # fmt: skip
    assert ("record_sha256" in found) is not expected.get("editable", False)


def test_requirements_by_address_carry_no_credentials(tmp_path: Path) -> None:
    """A Requires-Dist with an address is told without user, password and query."""
    line = "Requires-Dist: a @ https://u:pw@h/a.whl?key=k ; python_version > '3'"
    install(tmp_path, "demo", "1", METADATA=metadata_text("demo", "1", line))

    assert value(tmp_path)["requires"] == ["a @ https://h/a.whl ; python_version > '3'"]


def test_duplicates_and_shadowed(tmp_path: Path) -> None:
    """A second folder beside is a duplicate; one later on the path is shadowed."""
    first, second = tmp_path / "a", tmp_path / "b"
    for version in ("1.0", "2.0"):
        install(first, "demo", version)
    install(second, "demo", "3.0")

    found = value(first, second)
    assert (found["version"], found["duplicates"], found["shadowed"]) == ("1.0", ["2.0"], ["3.0"])


def test_a_folder_reached_twice_counts_once(tmp_path: Path) -> None:
    """`lib64` that is a link to `lib` shadows nothing."""
    install(tmp_path / "lib", "demo", "1.0")
    (tmp_path / "lib64").symlink_to("lib")

    assert "shadowed" not in value(tmp_path / "lib", tmp_path / "lib64")


def test_the_source_tree_of_an_editable_install_is_no_second_copy(tmp_path: Path) -> None:
    """The egg-info in the project of an editable install shadows nothing."""
    project, site = tmp_path / "src", tmp_path / "site-packages"
    url = json.dumps({"url": f"file://{project}", "dir_info": {"editable": True}})
    install(site, "demo", "1.0", direct_url_json=url)
    (project / "demo.egg-info").mkdir(parents=True)
    (project / "demo.egg-info/PKG-INFO").write_text(metadata_text("demo", "1.0"))

    assert "shadowed" not in value(site, project)
    install(project / "site-packages", "demo", "0.9")
    assert value(site, project / "site-packages")["shadowed"] == ["0.9"]


@pytest.mark.parametrize(
    "text",
    [
        "", "\n\nName: demo\n", "\x00\x01\x02" * 100, "Metadata-Version: 2.1\nVersion: 1\n",
        "Name: a/b\nVersion: 1\n", "Name: ../../etc\nVersion: 1\n", "Name: a\u202eb\nVersion: 1\n",
        "Name: a b\n", "Name: -a\n", "Name: python.packages x\n", "Name: " + "a" * 300 + "\n",
        "Name: \udcff\udcfe\n", "Name: a\x1b[31m\n", "Name:\n",
    ],
)  # fmt: skip
def test_unusable_metadata_is_nameless(tmp_path: Path, text: str) -> None:
    """What has no valid name becomes no key, and its folder is listed."""
    install(tmp_path, "good", "1")
    info = install(tmp_path, "bad", "1", METADATA=text)

    facts = look(tmp_path)
    assert sorted(facts) == ["package.good", "python.packages"]
    assert facts["python.packages"].value["nameless"] == [info.name]


def test_a_name_cannot_continue_into_another_fact(tmp_path: Path) -> None:
    """A name with a line break ends at the break; folded lines make it invalid."""
    install(tmp_path, "bad", "1", METADATA='Name: x\n", "os.system": "y\nVersion: 1\n')
    install(tmp_path, "fold", "1", METADATA="Name: y\n z\nVersion: 1\n")

    assert sorted(look(tmp_path)) == ["package.x", "python.packages"]


def test_left_overs_of_pip_are_nameless(tmp_path: Path) -> None:
    """Pip renames what it is about to remove; such a folder is not an installed package."""
    info = install(tmp_path, "umpy", "1", METADATA=metadata_text("numpy", "1"))
    info.rename(tmp_path / "~umpy-1.dist-info")

    assert look(tmp_path)["python.packages"].value == {
        "complete": True, "count": 0, "kind": "installed", "nameless": ["~umpy-1.dist-info"],
    }  # fmt: skip


def test_folder_names_are_made_readable(tmp_path: Path) -> None:
    """A folder with bidirectional or undecodable characters is spelled out."""
    (tmp_path / "a\u202eb\n.dist-info").mkdir()
    (tmp_path / "\udcff.dist-info").mkdir()

    assert look(tmp_path)["python.packages"].value["nameless"] == [
        "\\udcff.dist-info", "a\\u202eb\\u000a.dist-info",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "lines", [["Requires-Dist: x" + "y" * 5000], [f"Requires-Dist: p{n}" for n in range(100_000)]]
)
def test_absurd_requirements_are_left_out(tmp_path: Path, lines: list[str]) -> None:
    """Requirements beyond any use are unknown, which is the field being absent."""
    install(tmp_path, "demo", "1", METADATA=metadata_text("demo", "1", *lines))

    assert value(tmp_path) == {"version": "1"}


def test_a_header_without_end_is_bounded(tmp_path: Path) -> None:
    """Of a header of 3 MiB the first MiB is read; requirements after it are not claimed absent."""
    text = "Name: demo\nVersion: 1\n" + "License: x\n" * 300_000 + "Requires-Dist: late\n"
    install(tmp_path, "demo", "1", METADATA=text)

    assert value(tmp_path) == {"version": "1"}


def test_control_characters_in_values_are_spelled_out(tmp_path: Path) -> None:
    """Values are one readable line."""
    install(
        tmp_path, "demo", "1", METADATA="Name: demo\nVersion: 1\x1b\u202e2\nRequires-Dist: a\tb\n"
    )

    assert value(tmp_path) == {"version": "1\\u001b\\u202e2", "requires": ["a\\u0009b"]}


def test_garbage_in_every_file(tmp_path: Path) -> None:
    """Binary WHEEL, INSTALLER, RECORD and direct_url.json do not stop the probe."""
    junk = "\udc80\udcff\x00\n" * 50
    install(tmp_path, "demo", "1", WHEEL=junk, INSTALLER=junk, RECORD=junk, direct_url_json=junk)

    found = value(tmp_path)
    assert found["version"] == "1"
    assert "tag" not in found
    json.dumps(found).encode("ascii")


def test_a_folder_that_cannot_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hidden folder makes the list incomplete; with nothing else to see it is unknown."""
    install(tmp_path / "seen", "demo", "1")
    (tmp_path / "hidden").mkdir()
    real = Host.listdir
    monkeypatch.setattr(
        Host, "listdir", lambda host, path: None if "hidden" in path else real(host, path)
    )

    both = look(tmp_path / "hidden", tmp_path / "seen", tmp_path / "missing")
    assert both["python.packages"].value["complete"] is False
    alone = look(tmp_path / "hidden")
    assert sorted(alone) == ["python.packages"]
    assert alone["python.packages"].state == "unknown"
    assert look(tmp_path / "seen", tmp_path / "missing")["python.packages"].value["complete"]


def test_no_interpreter() -> None:
    """Without an import path nothing is claimed."""
    host = Host(interpreter=Interpreter(None, None, None, None, (), problem="no Python here"))

    assert probe(host)["python.packages"].reason == "no Python here"


def test_this_environment_against_importlib_metadata() -> None:
    """Names, versions, requirements and extras are those that importlib.metadata reports."""
    interpreter = live_interpreter()
    facts = run_probes(Host(interpreter=interpreter), ["packages"])
    seen = set()
    for dist in metadata.distributions(path=list(interpreter.path)):
        name = canonicalize_name(dist.metadata["Name"])
        if name in seen:
            continue
        seen.add(name)
        found = facts[f"package.{name}"].value
        assert found["version"] == dist.version
        assert found["requires"] == sorted(dist.metadata.get_all("Requires-Dist") or [])
        assert found.get("extras", []) == sorted(dist.metadata.get_all("Provides-Extra") or [])
        assert [found.get("requires_python")] == (
            dist.metadata.get_all("Requires-Python") or [None]
        )

    assert {f"package.{name}" for name in seen} | {"python.packages"} == set(facts)


def test_two_captures_are_the_same_bytes(tmp_path: Path) -> None:
    """Nothing depends on the order of directory entries or on hashing."""
    for number in range(20):
        install(tmp_path, f"p{number}", "1", files={f"p{number}/__init__.py": ""})

    assert repr(look(tmp_path)) == repr(look(tmp_path))


def test_one_wheel_one_digest(tmp_path: Path, interpreters: Interpreters) -> None:
    """One wheel gives one digest, whatever the place, the interpreter and byte compilation."""
    wheel = build_wheel(
        tmp_path,
        "demo",
        "1.0",
        {
            "demo/__init__.py": "x = 1\n",
            "demo/a,b.py": "",
            "demo-1.0.data/scripts/demo": "#!python\nprint(1)\n",
            "demo-1.0.data/data/share/demo.txt": "1",
            "demo-1.0.dist-info/entry_points.txt": "[console_scripts]\ndemo-run = demo:x\n",
        },
    )
    digests = set()
    for place, minor, compiled in (("one", "3.11", True), ("two/deeper", "3.12", False)):
        venv = tmp_path / place
        python = str(interpreters[minor])
        _run(python, "-m", "venv", "--without-pip", str(venv))
        flag = "--compile" if compiled else "--no-compile"
        _run(
            sys.executable, "-m", "pip", "--python", str(venv / "bin/python"), "install",
            "--no-index", "--no-deps", "--quiet", "--disable-pip-version-check", flag, str(wheel),
        )  # fmt: skip
        found = value(venv / f"lib/python{minor}/site-packages")
        assert found["tag"] == "py2-none-any,py3-none-any"
        assert found["imports"] == ["demo"]
        digests.add(found["record_sha256"])

    assert len(digests) == 1


def test_another_wheel_another_digest(tmp_path: Path) -> None:
    """One changed byte of a module changes the digest; another path does not."""
    for folder, text in (("a", "x = 1\n"), ("b", "x = 2\n"), ("c/d", "x = 1\n")):
        install(tmp_path / folder, "demo", "1", files={"demo/__init__.py": text})
    a, b, c = (value(tmp_path / folder)["record_sha256"] for folder in ("a", "b", "c/d"))

    assert a == c
    assert a != b


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
