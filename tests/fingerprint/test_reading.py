"""Reading refuses what is no fingerprint and says where and why."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envcheck.errors import InputError, SchemaError
from envcheck.fingerprint import files
from envcheck.fingerprint.reading import parse_fingerprint, read_fingerprint
from tests.strategies import fingerprints

if TYPE_CHECKING:
    from pathlib import Path


def document(facts: Any = None, **changes: Any) -> dict[str, Any]:
    """Return a small fingerprint document with some members changed."""
    good = {
        "schema": "envcheck.fingerprint/1",
        "envelope": {},
        "facts": {"os.system": {"state": "ok", "value": "linux"}} if facts is None else facts,
    }
    return {**good, **changes}


def problem_of(content: Any) -> str:
    """Return the message for a document or text that cannot be used."""
    text = content if isinstance(content, str) else json.dumps(content)
    with pytest.raises(InputError) as caught:
        parse_fingerprint(text.encode("utf-8", "surrogatepass"), "x.json")
    assert caught.value.hint, "no hint"
    return f"{caught.value.place}: {caught.value.problem}"


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"os.system": 5}, 'facts["os.system"]: a number, not an object'),
        ({"os.system": {}}, 'facts["os.system"].state: null is none of ok'),
        ({"os.system": {"state": []}}, 'facts["os.system"].state: [] is none of ok'),
        ({"os.system": {"state": "ok"}}, 'facts["os.system"]: state "ok" without a value'),
        ({"os.system": {"state": "ok", "value": 1}}, ".value: a number, not a string"),
        ({"os.system": {"state": "unknown", "reason": 1}}, ".reason: a number, not a string"),
        ({"cpu.pointer_bits": {"state": "ok", "value": True}}, ".value: true, not an integer"),
        ({"cpu.pointer_bits": {"state": "ok", "value": 1.5}}, ".value: a number, not an integer"),
        ({"limits.cpu_quota": {"state": "ok", "value": "2"}}, ".value: a string, not a number"),
        ({"python.utf8_mode": {"state": "ok", "value": 1}}, "a number, not true or false"),
        ({"cpu.features": {"state": "ok", "value": ["a", 1]}}, ".value[1]: a number, not a string"),
        ({"cpu.features": {"state": "ok", "value": "avx"}}, ".value: a string, not a list"),
        ({"package.x": {"state": "ok", "value": []}}, ".value: a list, not an object"),
        (
            {"package.x": {"state": "ok", "value": {"requires": [None]}}},
            'facts["package.x"].value.requires[0]: null, not a string',
        ),
        (
            {"gpu.devices": {"state": "ok", "value": [{}, {"memory_bytes": "1"}]}},
            'facts["gpu.devices"].value[1].memory_bytes: a string, not an integer',
        ),
        ({"nogroup": {"state": "ok", "value": 1}}, 'facts["nogroup"]: a key is group.name'),
        ({"package.a\u202eb": {"state": "unknown"}}, r'facts["package.a\u202eb"]: a key is'),
        ({"package.a\x1b[0m": {"state": "unknown"}}, r'facts["package.a\u001b[0m"]: a key is'),
        ({"package.\ud800": {"state": "unknown"}}, r'facts["package.\ud800"]: a key is'),
        ([], "facts: a list, not an object"),
        (json.loads("[" * 30 + "]" * 30), "facts: a list"),
        (
            {"acme.x": {"state": "ok", "value": json.loads("[" * 30 + "]" * 30)}},
            'facts["acme.x"].value: nested deeper than 20 levels',
        ),
    ],
)
def test_wrong_types_deep_inside(facts: Any, expected: str) -> None:
    """A value of the wrong type is named by its path, with what was found and expected."""
    assert expected in problem_of(document(facts))


def test_every_problem_is_told_at_once() -> None:
    """Several wrong facts are listed together, a great many of them are counted."""
    message = problem_of(document({f"os.x{n}": n for n in range(9)}))

    assert message.startswith("x.json: 9 problems:\n")
    assert message.count("not an object") == 5
    assert "and 4 more" in message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "x.json: is empty"),
        (" \n ", "x.json: is empty"),
        ('{"schema": "envchec', "x.json:1: ends too early"),
        ('{\n"schema": 1,\n', "x.json:3: ends too early"),
        ("hello", "x.json:1: is not JSON"),
        ("[]", "x.json: holds a list, not an object"),
        ("{}", 'x.json: is not a fingerprint: no "schema"'),
        ("null", "x.json: holds null, not an object"),
        ('{"schema": "a", "schema": "b"}', 'x.json:1: key "schema" stands twice in one object'),
        ('{"schema": NaN}', "x.json:1: NaN is no JSON number"),
        ('{\n"schema": -Infinity}', "x.json:2: -Infinity is no JSON number"),
        ('{"schema": 1e999}', "x.json:1: 1e999 is larger than any number this format holds"),
        ('{"schema": ' + "9" * 5000 + "}", "is larger than any number this format holds"),
        ("[" * 100_000, "x.json: is nested too deeply"),
        ('{"a":' * 100_000, "x.json: is nested too deeply"),
        ('{"schema": {"a": {"b": 1, "b": 2}}}', 'key "b" stands twice'),
    ],
)
def test_no_usable_json(text: str, expected: str) -> None:
    """What is no JSON, or JSON that no fingerprint may hold, is refused with its line."""
    assert expected in problem_of(text)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\xff\xfe{\x00}\x00", "is UTF-16 text"),
        ("{}".encode("utf-16-be"), "is UTF-16 text"),
        (b"{\xff}", "is not UTF-8 text (byte 1)"),
        (b"\x7fELF\x02\x01\x01\x00\xf0", "is not UTF-8 text"),
    ],
)
def test_no_usable_text(data: bytes, expected: str) -> None:
    """Bytes that are no UTF-8 text are refused; UTF-16 is recognised."""
    with pytest.raises(InputError, match="is ") as caught:
        parse_fingerprint(data, "x.json")
    assert expected in str(caught.value)
    assert caught.value.hint


def test_byte_order_mark() -> None:
    """A UTF-8 byte order mark is accepted."""
    data = b"\xef\xbb\xbf" + json.dumps(document()).encode()

    assert parse_fingerprint(data, "x.json").fact("os.system").value == "linux"


@pytest.mark.parametrize(
    ("schema", "hint"),
    [
        ("envcheck.fingerprint/2", "update envcheck"),
        ("envcheck.fingerprint/" + "9" * 6000, "update envcheck"),
        ("envcheck.fingerprint/0", "envcheck capture"),
        ("envcheck.fingerprint/", "envcheck capture"),
        ("envcheck.fingerprint/\u0661\u0662", "envcheck capture"),
        ("envcheck.report/1", "envcheck capture"),
        (7, "envcheck capture"),
        (None, "envcheck capture"),
    ],
)
def test_other_schemas(schema: Any, hint: str) -> None:
    """Another schema is named, and for a newer one the way to read it."""
    with pytest.raises(SchemaError) as caught:
        parse_fingerprint(json.dumps(document(schema=schema)).encode(), "x.json")

    assert hint in caught.value.hint
    assert len(str(caught.value)) < 300


def test_minor_versions_of_the_schema_are_read() -> None:
    """`/1.7` is the same major version with more in it, and unknown members are let through."""
    data = document(schema="envcheck.fingerprint/1.7", news={"a": 1})
    data["facts"]["zz.new"] = {"state": "ok", "value": [1], "also": "this"}

    read = parse_fingerprint(json.dumps(data).encode(), "x.json")

    assert read.schema == "envcheck.fingerprint/1.7"
    assert read.fact("zz.new").value == [1]


def test_a_value_counts_only_in_state_ok() -> None:
    """An unknown fact has no value, whatever the file says."""
    facts = {"os.system": {"state": "unknown", "value": 5, "reason": "x"}}

    assert (
        parse_fingerprint(json.dumps(document(facts)).encode(), "x").fact("os.system").value is None
    )


@pytest.mark.parametrize(
    ("envelope", "expected"),
    [
        ([], "envelope: a list, not an object"),
        ({"role": "both"}, 'envelope.role: "both" is neither train nor deploy'),
        ({"created": 5}, "envelope.created: a number, not a string"),
        (json.loads('{"a":' * 30 + "1" + "}" * 30), "envelope: nested deeper"),
    ],
)
def test_wrong_envelopes(envelope: Any, expected: str) -> None:
    """The envelope is checked like the facts."""
    assert expected in problem_of(document(envelope=envelope))


def test_a_pipe_is_read(tmp_path: Path) -> None:
    """A named pipe with a writer is read like a file, also one that starts late."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    text = json.dumps(document())
    writer = threading.Timer(0.2, path.write_text, [text])
    writer.start()

    assert read_fingerprint(str(path)).fact("os.system").value == "linux"
    writer.join()


def test_a_pipe_without_a_writer_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A named pipe that nobody writes to does not hang for ever."""
    monkeypatch.setattr(files, "PIPE_PATIENCE", 0.1)
    path = tmp_path / "pipe"
    os.mkfifo(path)

    with pytest.raises(InputError, match="nothing wrote to"):
        read_fingerprint(str(path))


def test_an_endless_device_is_cut_off() -> None:
    """A device that never ends is refused at the limit."""
    with pytest.raises(InputError, match="more than 32 MiB"):
        read_fingerprint("/dev/zero")


@settings(max_examples=300, deadline=None)
@given(
    fingerprints().map(lambda made: made.to_text().encode()),
    st.lists(
        st.tuples(st.integers(0, 10**6), st.binary(max_size=4), st.integers(0, 9)), max_size=4
    ),
)
def test_damaged_files(data: bytes, damages: list[tuple[int, bytes, int]]) -> None:
    """Whatever happens to the bytes of a file, it is read or refused; nothing else."""
    for where, new, gone in damages:
        start = where % (len(data) + 1)
        data = data[:start] + new + data[start + gone :]
    try:
        made = parse_fingerprint(data, "x.json")
    except InputError as problem:
        assert problem.place.startswith("x.json")  # noqa: PT017 - either end is right
        assert problem.hint  # noqa: PT017
    else:
        assert parse_fingerprint(made.to_text().encode(), "x.json").facts == made.facts


@given(st.binary(max_size=80) | st.text().map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes(data: bytes) -> None:
    """Any bytes at all are read or refused."""
    with contextlib.suppress(InputError):
        parse_fingerprint(data, "x.json")
