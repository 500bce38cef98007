"""Reading metadata folders: every layout that importlib.metadata knows, and the same answers."""

from __future__ import annotations

import email.parser
import sys
import zipfile
from importlib import metadata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.utils import canonicalize_name

from envcheck.probing.distributions import Distribution, _parse_header, normalise, scan, unlistable
from envcheck.probing.host import Host
from envcheck.probing.interpreter import live_interpreter
from tests.wheels import install
from tests.wheels import metadata as metadata_text

if TYPE_CHECKING:
    from pathlib import Path


def found(*folders: Path) -> list[tuple[str | None, str | None]]:
    """Return name and version of everything on a path, in order."""
    dists = scan(Host(), [str(folder) for folder in folders])
    return [(dist.name, dist.field("version")) for dist in dists]


def oracle(*folders: Path) -> list[tuple[str, str]]:
    """Return what importlib.metadata finds there, sorted."""
    dists = metadata.distributions(path=[str(folder) for folder in folders])
    return sorted((canonicalize_name(dist.metadata["Name"]), dist.version) for dist in dists)


@given(st.text("abz-_.AZ09", min_size=1, max_size=20))
def test_normalise(name: str) -> None:
    """Names are normalised as packaging does it."""
    assert normalise(name) == canonicalize_name(name)


FIELD = st.sampled_from(["Name", "VERSION", "requires-dist", "Provides-Extra", "Classifier", "X"])
TEXT = st.text("abc =>1.0;()", max_size=12).map(str.strip)


@given(st.lists(st.tuples(FIELD, TEXT, st.lists(TEXT.filter(bool), max_size=2)), max_size=8))
def test_headers_against_the_email_parser(fields: list[tuple[str, str, list[str]]]) -> None:
    """Fields, repeated ones and folded ones are those that the standard parser finds."""
    text = "".join(
        f"{name}: {value}\n" + "".join(f"   {more}\n" for more in folded)
        for name, value, folded in fields
    )
    expected = email.parser.Parser().parsestr(f"{text}\nName: body\n")
    ours = _parse_header(text.partition("\n\n")[0])

    for key in ("name", "version", "requires-dist", "provides-extra"):
        values = expected.get_all(key) or []
        assert [" ".join(value.split()) for value in ours.get(key, [])] == [
            " ".join(str(value).split()) for value in values
        ]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("padding", [0, 7_000, 9_000, 70_000, 600_000])
def test_long_headers(tmp_path: Path, newline: str, padding: int) -> None:
    """A field after a long licence text is found, one in the description is not."""
    lines = [
        "Name: demo",
        *["License: " + "x" * 90] * (padding // 100),
        "Version: 4",
        "",
        "Version: 5",
    ]
    install(tmp_path, "demo", "1", METADATA=newline.join(lines))

    assert found(tmp_path) == [("demo", "4")]


def test_egg_layouts(tmp_path: Path) -> None:
    """egg-info folders and files, unpacked eggs and zipped ones are found, as importlib does."""
    site = tmp_path / "site-packages"
    (site / "a.egg-info").mkdir(parents=True)
    (site / "a.egg-info/PKG-INFO").write_text(metadata_text("a", "1"))
    (site / "b-2.egg-info").write_text(metadata_text("b", "2"))
    egg = site / "c-3-py3.11.egg"
    (egg / "EGG-INFO").mkdir(parents=True)
    (egg / "EGG-INFO/PKG-INFO").write_text(metadata_text("c", "3"))
    zipped = site / "d-4-py3.11.egg"
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("EGG-INFO/PKG-INFO", metadata_text("d", "4"))
        archive.writestr("EGG-INFO/top_level.txt", "d_module\n")
    wheel = site / "e.zip"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("e-5.dist-info/METADATA", metadata_text("e", "5"))
        archive.writestr("e-5.dist-info/RECORD", "e/__init__.py,sha256=x,1\n")

    folders = (site, egg, zipped, wheel)
    assert sorted(found(*folders)) == oracle(*folders)
    assert found(*folders) == [("a", "1"), ("b", "2"), ("c", "3"), ("d", "4"), ("e", "5")]
    dists = scan(Host(), [str(folder) for folder in folders])
    assert [dist.import_names for dist in dists] == [[], [], [], ["d_module"], ["e"]]
    assert unlistable(Host(), [str(folder) for folder in folders]) == []


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04garbage", b"\x00" * 4096])
def test_files_on_the_path_that_are_no_archives(tmp_path: Path, content: bytes) -> None:
    """A broken archive holds nothing that could be imported, and hides nothing."""
    broken = tmp_path / "broken.zip"
    broken.write_bytes(content)

    assert found(broken) == []
    assert unlistable(Host(), [str(broken), str(tmp_path / "absent.zip")]) == []


def test_a_damaged_member_of_an_archive(tmp_path: Path) -> None:
    """A member whose data is damaged reads as absent."""
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x-1.dist-info/METADATA", metadata_text("x", "1") * 50)
    data = bytearray(path.read_bytes())
    data[60:90] = b"\xff" * 30
    path.write_bytes(data)

    assert found(path) == [(None, None)]


def test_egg_links(tmp_path: Path) -> None:
    """`setup.py develop` leaves an egg-link: the project is found once, and is editable."""
    site, project, other = tmp_path / "site", tmp_path / "project", tmp_path / "other"
    for folder, name in ((project, "linked_one"), (other, "linked_two")):
        (folder / f"{name}.egg-info").mkdir(parents=True)
        (folder / f"{name}.egg-info/PKG-INFO").write_text(metadata_text(name, "1"))
    site.mkdir()
    (site / "linked-one.egg-link").write_text(f"{project}\n.")
    (site / "linked-two.egg-link").write_text(f"{other}\n.")
    (site / "gone.egg-link").write_text("/nowhere\n.")
    (site / "odd.egg-link").write_bytes(b"\xff\x00")

    dists = scan(Host(), [str(site), str(project)])
    assert [(dist.name, dist.linked) for dist in dists] == [
        ("linked-one", True), ("linked-two", True),
    ]  # fmt: skip


def test_import_names() -> None:
    """Import names are those that importlib.metadata would map to a distribution."""
    expected: dict[str, set[str]] = {}
    for module, names in metadata.packages_distributions().items():
        for name in names:
            expected.setdefault(canonicalize_name(name), set()).add(module)
    checked = 0
    for dist in scan(Host(), live_interpreter().path):
        if dist.raw_record and b"direct_url.json" not in dist.raw_record:
            importable = {name for name in expected.get(dist.name or "", ()) if name.isidentifier()}
            assert importable <= set(dist.import_names) | {"py"}
            checked += 1

    assert checked > 10


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ("pkg/__init__.py,,\n", ["pkg"]),
        ("pkg/_c.abi3.so,,\n", ["pkg"]),
        ("_c.cpython-311-x86_64-linux-gnu.so,,\nsix.py,,\n", ["_c", "six"]),
        ("ns/deep/mod.py,,\nns/deep-er/x.py,,\nns0.py,,\n", ["ns", "ns0"]),
        ("pkg.libs/libx.so,,\nshare/doc.txt,,\n__pycache__/six.cpython-311.pyc,,\n", []),
        ("../../bin/run.py,,\n/etc/x.py,,\nx-1.dist-info/hook.py,,\n", []),
        ("__editable___x_finder.py,,\n__editable__.x.pth,,\n", []),
        ('"a,b/c.py",,\n"odd/a,b.py",,\n', ["odd"]),
    ],
)
def test_import_names_of_a_record(tmp_path: Path, record: str, expected: list[str]) -> None:
    """Packages, modules and extension modules count; data, scripts and libraries do not."""
    install(tmp_path, "x", "1", RECORD=record)

    assert scan(Host(), [str(tmp_path)])[0].import_names == expected


def test_files_of_a_record(tmp_path: Path) -> None:
    """Paths are unquoted; what lies outside the package folder is not the distribution's own."""
    install(
        tmp_path,
        "x",
        "1",
        RECORD='"a,""b.py",sha256=x,1\r\nc.py,,\r\n../bin/x,,\r\nx-1.dist-info/RECORD,,\r\n',
    )
    dist = scan(Host(), [str(tmp_path)])[0]

    assert dist.files == ['a,"b.py', "c.py"]


def test_order_does_not_matter_for_the_digest(tmp_path: Path) -> None:
    """Line order, line ends and compiled files leave the digest alone."""
    lines = ["a.py,sha256=1,1", "b.py,sha256=2,2", "b/c.py,sha256=3,3"]
    variants = [
        "\n".join(lines),
        "\r\n".join(reversed(lines)) + "\r\n",
        "\n".join(
            [
                *lines,
                "__pycache__/a.cpython-39.pyc,,",
                '"b/__pycache__/x,y.pyc",,',
                "../../bin/a,sha256=9,9",
            ]
        ),
    ]
    digests = set()
    for number, text in enumerate(variants):
        install(tmp_path / str(number), "x", "1", RECORD=text)
        digests.add(scan(Host(), [str(tmp_path / str(number))])[0].record_sha256)

    assert len(digests) == 1
    assert None not in digests


def test_this_path_is_read_as_importlib_reads_it() -> None:
    """Everything on the running interpreter's path is found, once per folder."""
    path = live_interpreter().path
    expected = {
        (canonicalize_name(dist.metadata["Name"]), dist.version)
        for dist in metadata.distributions(path=list(path))
    }

    assert {(dist.name, dist.field("version")) for dist in scan(Host(), path)} == expected
    assert sys.prefix


def test_has_and_text(tmp_path: Path) -> None:
    """Files of a metadata folder are asked for by name."""
    install(tmp_path, "x", "1", INSTALLER="uv")
    dist: Distribution = scan(Host(), [str(tmp_path)])[0]

    assert (dist.has("INSTALLER"), dist.has("REQUESTED")) == (True, False)
    assert (dist.text("INSTALLER"), dist.text("REQUESTED")) == ("uv", None)
