"""Lock files of PEP 751 as intended environments."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from envcheck.errors import InputError
from envcheck.intended import from_pylock, read_intended

if TYPE_CHECKING:
    from pathlib import Path

SHA = "c" * 64
HEAD = 'lock-version = "1.0"\ncreated-by = "hand"\n'


def wheel(name: str, version: str, *lines: str) -> str:
    """Return the entry of a package with one wheel."""
    more = "".join(f"{line}\n" for line in lines)
    file = f"{name}-{version}-py3-none-any.whl"
    return (
        f'\n[[packages]]\nname = "{name}"\nversion = "{version}"\n{more}'
        f'wheels = [{{name = "{file}", url = "https://u:secret@h.org/{file}", '
        f'hashes = {{sha256 = "{SHA}"}}}}]\n'
    )


def write(folder: Path, text: str | bytes) -> str:
    """Write a lock and return its path."""
    place = folder / "pylock.toml"
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(place)


def test_a_lock(tmp_path: Path) -> None:
    """Every kind of package; those for other systems are left out; nothing secret is kept."""
    text = HEAD + 'default-groups = ["main"]\n'
    text += wheel("attrs", "25.1.0") + wheel("win", "1", "marker = \"sys_platform == 'other'\"")
    text += wheel("here", "2", f"marker = \"sys_platform == '{sys.platform}'\"")
    text += wheel("grouped", "3", "marker = \"'main' in dependency_groups\"")
    text += wheel("extra", "4", "marker = \"'x' in extras\"")
    text += (
        '\n[[packages]]\nname = "mine"\ndirectory = {path = "/home/me/x", editable = true}\n'
        '\n[[packages]]\nname = "vcs"\nversion = "1"\n'
        'vcs = {type = "git", url = "https://tok@h.org/v.git", commit-id = "abc"}\n'
        f'\n[[packages]]\nname = "arc"\narchive = {{url = "https://h.org/arc-1.zip?t=1", '
        f'hashes = {{sha256 = "{SHA}"}}}}\n'
    )
    facts = read_intended(write(tmp_path, text)).facts

    assert {key: fact.value for key, fact in facts.items()} == {
        "package.attrs": {"version": "25.1.0", "specifier": "==25.1.0"},
        "package.here": {"version": "2", "specifier": "==2"},
        "package.grouped": {"version": "3", "specifier": "==3"},
        "package.mine": {"origin": "directory", "editable": True},
        "package.vcs": {"version": "1", "origin": "vcs", "origin_url": "https://h.org/v.git",
                        "origin_revision": "abc"},
        "package.arc": {"origin": "archive", "origin_url": "https://h.org/arc-1.zip",
                        "origin_revision": f"sha256={SHA}"},
        "python.packages": {"complete": True, "count": 6, "kind": "lock", "nameless": []},
    }  # fmt: skip
    assert facts["package.attrs"].source == "pylock.toml:5"
    assert "markers evaluated for Python" in facts["python.packages"].source
    assert "secret" not in repr(facts)


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("a = \n", ":1", "is not TOML"),
        (HEAD + "a = 1\nb = [\n", "", "is not TOML"),
        ("", "", "is no lock of PEP 751"),
        (HEAD.replace("1.0", "9.0") + "packages = []\n", "", "is of a newer kind"),
        (HEAD + wheel("ok", "1") + wheel("Not_Ok", "1"), ":9", "is no lock of PEP 751"),
        (HEAD + wheel("twice", "1") + wheel("twice", "2"), ":9", "locks twice twice"),
        (HEAD + wheel("bad", "1", 'marker = "nonsense =="'), ":4", "is no lock of PEP 751"),
        (b"\xff\xfe\x00", "", "is not UTF-8 text"),
    ],
)
def test_bad_locks(tmp_path: Path, text: str | bytes, place: str, problem: str) -> None:
    """What cannot be read is said with file and line."""
    path = write(tmp_path, text)

    with pytest.raises(InputError) as caught:
        from_pylock(path)
    assert str(caught.value).startswith(f"{path}{place}")
    assert problem in str(caught.value)
