"""RECORD is taken apart as a plain reading of its lines would do it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from envcheck.probing.record_file import Record

ENTRY = "a_b-1.0.dist-info"
HEADS = (
    "", "a_b/", "a_b-1.0.dist-info/", "a_b-1.0.dist-infos/", "../", "../../bin/", "..", "./", "/",
    "/usr/", '"', '".."', '"/x', f'"{ENTRY}/', "\\", "__pycache__/", "\x00", "~",
)  # fmt: skip
NAMES = ("x", "x.py", "y.pyc", "libgomp.so.1", 'q".pyc"', "a.pyc,b", "RECORD", "direct_url.json")
ENDS = (",,", ",sha256=abc,12", "", '",,', ",")
LINES = st.lists(
    st.one_of(
        st.just(""),
        st.builds(
            "".join,
            st.tuples(st.sampled_from(HEADS), st.sampled_from(NAMES), st.sampled_from(ENDS)),
        ),
    ),
    max_size=30,
)


def is_outside(line: bytes, entry: bytes) -> bool:
    """Return whether a line names nothing of the package folder."""
    return line.startswith((b"..", b"/", b'"..', b'"/', b"\\", entry + b"/", b'"' + entry + b"/"))


@given(LINES)
def test_lines_are_told_apart(lines: list[str]) -> None:
    """The own lines are all but those outside, of byte code and of the metadata folder."""
    data = "\n".join(lines).encode()
    plain = [line for line in data.split(b"\n") if line]
    compiled = {line for line in plain if b".pyc," in line or b'.pyc",' in line}

    record = Record(data, ENTRY)

    outside = sorted(line for line in plain if is_outside(line, ENTRY.encode()))
    assert record.own_lines == sorted(
        line for line in plain if line not in compiled and not is_outside(line, ENTRY.encode())
    )
    assert record.own_text == b"\n".join(record.own_lines)
    assert sorted(record.other_lines) == outside


@given(LINES, st.sampled_from([b".so", b"libgomp", b"nothing"]))
def test_words_are_found(lines: list[str], word: bytes) -> None:
    """A word is found wherever it stands outside the lines of byte code."""
    data = "\n".join(lines).encode()
    without = [line for line in data.split(b"\n") if b".pyc" not in line]

    found = Record(data, ENTRY).mentions(word)

    assert found or not any(word in line for line in without)
    assert word in data or not found


def test_what_the_metadata_folder_may_hold() -> None:
    """Only a RECORD that lists itself tells that a file is not there."""
    listed = f"{ENTRY}/METADATA,,\n{ENTRY}/direct_url.json,sha256=a,1\n"

    complete = Record(f"{listed}{ENTRY}/RECORD,,\n".encode(), ENTRY)
    assert complete.may_list("direct_url.json")
    assert not complete.may_list("entry_points.txt")
    assert Record(listed.encode(), ENTRY).may_list("entry_points.txt")
    assert Record(b"", ENTRY).may_list("entry_points.txt")


def test_an_entry_beyond_ascii() -> None:
    """Names of folders are compared as bytes."""
    entry = "zögern-1.dist-info"

    record = Record(f"{entry}/RECORD,,\nzoegern.py,,1\n".encode(), entry)

    assert record.own_lines == [b"zoegern.py,,1"]
    assert not record.may_list("entry_points.txt")
