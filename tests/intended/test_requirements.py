"""Requirement files as intended environments."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from envcheck.errors import InputError
from envcheck.intended import from_requirements, read_intended

if TYPE_CHECKING:
    from pathlib import Path

SHA = "1" * 64


def write(folder: Path, text: str | bytes, name: str = "requirements.txt") -> str:
    """Write a file and return its path."""
    place = folder / name
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(place)


def read(folder: Path, text: str | bytes) -> dict[str, Any]:
    """Return the values of the packages in a requirements file."""
    facts = from_requirements(write(folder, text))
    return {key[8:]: fact.value for key, fact in facts.items() if key.startswith("package.")}


@pytest.mark.parametrize(
    ("line", "name", "expected"),
    [
        ("numpy", "numpy", {}),
        ("NumPy==1.26.4", "numpy", {"specifier": "==1.26.4", "version": "1.26.4"}),
        ("a_b.c === 1.0", "a-b-c", {"specifier": "===1.0", "version": "1.0"}),
        ("torch == 2.4.0+cu121", "torch", {"specifier": "==2.4.0+cu121", "version": "2.4.0+cu121"}),
        ("numpy==1.26.*", "numpy", {"specifier": "==1.26.*"}),
        ("numpy >= 1.26 , < 3  # why", "numpy", {"specifier": "<3,>=1.26"}),
        ("pandas[excel, fss]~=2.0", "pandas",
         {"specifier": "~=2.0", "wanted_extras": ["excel", "fss"]}),
        (f"a==1 --hash=sha256:{SHA}", "a", {"specifier": "==1", "version": "1"}),
        ("a==1 --global-option=\"--x\"", "a", {"specifier": "==1", "version": "1"}),
        ("a>=1 ; python_version >= '3' and os_name != 'x'", "a", {"specifier": ">=1"}),
        ("a>=1;python_version>='3'and(os_name!='x')", "a", {"specifier": ">=1"}),
        ("git+https://tok:x@h.org/o/r.git@v1.0#egg=proj", "proj",
         {"origin": "vcs", "origin_url": "https://h.org/o/r.git", "origin_revision": "v1.0"}),
        ("proj @ git+ssh://git@h.org/o/r.git@abc123 ; python_version > '3'", "proj",
         {"origin": "vcs", "origin_url": "ssh://h.org/o/r.git", "origin_revision": "abc123"}),
        ("-e git+https://h.org/o/r#egg=proj", "proj",
         {"origin": "vcs", "origin_url": "https://h.org/o/r", "editable": True}),
        ("--editable=git+https://h.org/o/r#egg=proj", "proj",
         {"origin": "vcs", "origin_url": "https://h.org/o/r", "editable": True}),
        ("https://u:p@h.org/w/a_b-1.2-py3-none-any.whl?token=t", "a-b",
         {"origin": "archive", "origin_url": "https://h.org/w/a_b-1.2-py3-none-any.whl",
          "version": "1.2"}),
        (f"https://h.org/a-1.2.tar.gz#sha256={SHA}", "a",
         {"origin": "archive", "origin_url": "https://h.org/a-1.2.tar.gz", "version": "1.2",
          "origin_revision": f"sha256={SHA}"}),
        ("https://h.org/download/7#egg=lib", "lib",
         {"origin": "archive", "origin_url": "https://h.org/download/7"}),
        ("lib[x] @ https://u@h.org/lib-3-py3-none-any.whl", "lib",
         {"origin": "archive", "origin_url": "https://h.org/lib-3-py3-none-any.whl",
          "version": "3", "wanted_extras": ["x"]}),
        ("lib @ https://h.org/other-3-py3-none-any.whl", "lib",
         {"origin": "archive", "origin_url": "https://h.org/other-3-py3-none-any.whl"}),
    ],
)  # fmt: skip
def test_lines(tmp_path: Path, line: str, name: str, expected: dict[str, Any]) -> None:
    """Each form of a requirement, without credentials and queries."""
    assert read(tmp_path, f"{line}\n") == {name: expected}


def test_options_and_comments_are_no_packages(tmp_path: Path) -> None:
    """Options, also those with values that look like names, name no package and leave no trace."""
    text = (
        "# first\n--index-url https://user:secret@idx.example/simple\n-i https://x.example\n"
        "--extra-index-url=https://tok@y.example\n--no-binary numpy\n--only-binary :all:\n--pre\n"
        "-f ./wheels\n--trusted-host z.example\n--require-hashes\n\n   # indented\na==1\n"
    )
    facts = from_requirements(write(tmp_path, text))

    assert sorted(facts) == ["package.a", "python.packages"]
    assert not any(word in repr(facts) for word in ("secret", "tok@", "idx.example"))


def test_continued_lines_keep_their_number(tmp_path: Path) -> None:
    """A line that goes on with a backslash is one requirement, at the line where it begins."""
    path = write(
        tmp_path, f"# x\na==1 \\\n    --hash=sha256:{SHA} \\\n    --hash=sha256:{SHA}\nb==2\n"
    )
    facts = from_requirements(path)

    assert facts["package.a"].source == "requirements.txt:2"
    assert facts["package.b"].source == "requirements.txt:5"


def test_markers_are_evaluated_for_this_interpreter(tmp_path: Path) -> None:
    """A requirement for another system is left out, and the note says for which this was."""
    path = write(
        tmp_path,
        f"a; sys_platform == '{sys.platform}'\nb; sys_platform == 'other'\nc; extra == 'x'\n",
    )
    facts = from_requirements(path)

    assert sorted(facts) == ["package.a", "python.packages"]
    minor = f"{sys.version_info.major}.{sys.version_info.minor}"
    assert (
        f"markers evaluated for Python {minor} on {sys.platform}" in facts["python.packages"].source
    )
    assert "markers" not in from_requirements(write(tmp_path, "a\n"))["python.packages"].source


def test_nested_files_and_constraints(tmp_path: Path) -> None:
    """Included files are read relative to the including one; constraints only limit."""
    write(tmp_path, "numpy\nscipy>=1\n-r loop.txt\n", "base.txt")
    deep = tmp_path / "deep"
    deep.mkdir()
    path = write(deep, "-r ../base.txt\n--constraint ../limits.txt\npandas\n", "all.txt")
    write(tmp_path, "numpy==1.26.4\nscipy<2\nabsent==9\n", "limits.txt")
    write(tmp_path, "--requirement deep/all.txt\nsix\n", "loop.txt")
    facts = from_requirements(path)

    assert {key: fact.value for key, fact in facts.items()} == {
        "package.numpy": {"specifier": "==1.26.4", "version": "1.26.4"},
        "package.pandas": {},
        "package.scipy": {"specifier": "<2,>=1"},
        "package.six": {},
        "python.packages": {
            "complete": False, "count": 4, "kind": "requirements", "nameless": [],
        },
    }  # fmt: skip
    assert facts["package.six"].source == "loop.txt:2"


def test_complete_only_with_hashes(tmp_path: Path) -> None:
    """Pip takes nothing else once all have hashes; one without leaves the list open."""
    line = f"--hash=sha256:{SHA}\n"
    for text, complete in ((f"a==1 {line}b==2 {line}", True), (f"a==1 {line}b==2\n", False)):
        value = from_requirements(write(tmp_path, text))["python.packages"].value
        assert value["complete"] is complete


def test_local_projects(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`-e .` and folders are named by their own metadata, beside the file or where we are."""
    write(tmp_path, '[project]\nname = "My.Project"\n', "pyproject.toml")
    legacy = tmp_path / "old"
    legacy.mkdir()
    write(legacy, "from setuptools import setup\nsetup(name='legacy')\n", "setup.py")
    anonymous = tmp_path / "anon"
    anonymous.mkdir()
    wheel = tmp_path / "dist"
    wheel.mkdir()
    write(wheel, "", "w-1.0-py3-none-any.whl")
    path = write(tmp_path, "-e .[dev]\n./old\n-e ./anon\n./dist/w-1.0-py3-none-any.whl\n")
    monkeypatch.chdir(legacy)
    facts = from_requirements(path)

    assert {key: fact.value for key, fact in facts.items() if key != "python.packages"} == {
        "package.my-project": {"origin": "directory", "editable": True},
        "package.legacy": {"origin": "directory"},
        "package.w": {"origin": "archive", "origin_url": "file:", "version": "1.0"},
    }
    assert facts["python.packages"].value["nameless"] == ["requirements.txt:3"]
    assert str(tmp_path) not in repr(facts)


def test_an_address_without_a_name_is_nameless(tmp_path: Path) -> None:
    """A repository whose project is not told is listed, not guessed."""
    facts = from_requirements(write(tmp_path, "git+https://h.org/o/r.git\nhttps://h.org/x.zip\n"))

    assert sorted(facts) == ["python.packages"]
    assert facts["python.packages"].value["nameless"] == [
        "requirements.txt:1",
        "requirements.txt:2",
    ]


@pytest.mark.parametrize(
    "data",
    [
        "a==1\n".encode("utf-8-sig"),
        b"\xff\xfe" + "a==1\r\n".encode("utf-16-le"),
        b"\xfe\xff" + "a==1\r\n".encode("utf-16-be"),
        b"a==1\r\n",
    ],
)
def test_encodings(tmp_path: Path, data: bytes) -> None:
    """Files with a byte order mark are read, as PowerShell writes them."""
    assert read(tmp_path, data) == {"a": {"specifier": "==1", "version": "1"}}


def test_the_same_name_twice(tmp_path: Path) -> None:
    """Two lines of one name both hold; two different versions are refused."""
    assert read(tmp_path, "a>=1\nA[x]<2\n") == {
        "a": {"specifier": "<2,>=1", "wanted_extras": ["x"]}
    }
    with pytest.raises(InputError, match=r":2: wants a 2, but .*:1 wants 1"):
        read(tmp_path, "a==1\na==2\n")


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("a==1\nfoo bar\n", ":2", "'foo bar' is no requirement"),
        ("bar=>2\n", ":1", "'bar=>2' is no requirement"),
        ("a==1 2\n", ":1", "is no requirement"),
        ("f\u202eoo==1\n", ":1", "'f?oo==1' is no requirement"),
        ("foo; python_version <\n", ":1", "the marker 'python_version <' is not valid"),
        ("foo; bogus == '1'\n", ":1", "the marker"),
        ("\n\n--frob x\n", ":3", "unknown option '--frob'"),
        ("-r\n", ":1", "--requirement names nothing"),
        ("-e\n", ":1", "--editable names nothing"),
        ("-e ./missing\n", ":1", "'./missing' does not exist"),
        ("./missing\n", ":1", "does not exist"),
        ("-r no.txt\n", ":1", "no.txt: no such file or directory"),
        ("-r https://u:secret@h.org/r.txt\n", ":1", "which is not fetched"),
        ("foo @ \n", ":1", "is no requirement"),
        ("# nothing\n", "", "asks for no package"),
        ("", "", "asks for no package"),
        (b"foo\xff\n", "", "is not utf-8 text (byte 3)"),
        (b"a\x00b\n", "", "is not a text file"),
        ("a" * 100_000 + "!\n", ":1", "is no requirement"),
    ],
)
def test_bad_files(tmp_path: Path, text: str | bytes, place: str, problem: str) -> None:
    """What cannot be read is said with file and line, shortly and without credentials."""
    path = write(tmp_path, text)

    with pytest.raises(InputError) as caught:
        from_requirements(path)
    assert str(caught.value).startswith(f"{path}{place}: ")
    assert problem in str(caught.value)
    assert len(str(caught.value)) < 500 + len(path)
    assert "secret" not in str(caught.value)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    """A path that is no file."""
    for path in (tmp_path / "absent.txt", tmp_path):
        with pytest.raises(InputError):
            from_requirements(str(path))


def test_read_intended(tmp_path: Path) -> None:
    """The fingerprint holds packages alone; everything else is unknown."""
    path = write(tmp_path, "a==1\n")
    fingerprint = read_intended(path)

    assert fingerprint.place == path
    assert fingerprint.fact("package.a").value["version"] == "1"
    assert fingerprint.fact("cpu.architecture").state == "unknown"


def test_without_pip(tmp_path: Path, root: Path) -> None:
    """Where pip-api finds no pip, one sentence says so."""
    code = (
        f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(root)!r}]\n"
        "from envcheck.intended import from_requirements\n"
        "from envcheck.errors import EnvcheckError\n"
        "try: from_requirements(sys.argv[1])\n"
        "except EnvcheckError as problem: print(problem)\n"
    )
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip/__init__.py").write_text("raise ImportError")
    (tmp_path / "pip_api").mkdir()
    (tmp_path / "pip_api/__init__.py").write_text(
        "import subprocess, sys\n"
        "subprocess.check_output([sys.executable, '-c', 'raise SystemExit(1)'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-B", "-c", code, write(tmp_path, "a==1\n")],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip

    assert done.stdout == (
        "reading requirement files needs pip beside envcheck, and it is missing\n"
        "hint: python -m ensurepip\n"
    ), done.stderr
