"""Hostile files give a reason, in bounded memory and time; nothing in them is ever executed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from envcheck.artefacts.describing import describe
from envcheck.artefacts.files import Place
from envcheck.artefacts.pickle_names import is_dangerous
from envcheck.artefacts.reading import Unreadable, Unsure
from tests.artefacts import hostile
from tests.artefacts.hostile import ATTACKS, Attack
from tests.artefacts.test_recorded import DATA, EXPECTED
from tests.conftest import ROOT

LARGEST_MEMORY = 400 << 20
LONGEST_SECONDS = 30
CHILD = """
import json, resource, sys, time
sys.path.insert(0, {root!r})
import envcheck
envcheck.__path__.append({root!r})
resource.setrlimit(resource.RLIMIT_AS, ({memory}, {memory}))
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))
from envcheck.artefacts.describing import describe
from envcheck.artefacts.files import Place
from envcheck.artefacts.reading import Unreadable
for path in sys.argv[1:]:
    start = time.process_time()
    try:
        told = describe(Place(path))["format"]
    except Unreadable as problem:
        told = str(problem)
    print(json.dumps([path, told, time.process_time() - start]))
"""


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_reason(attack: Attack, tmp_path: Path) -> None:
    """The file is refused, and the reason names what is wrong with it."""
    path = tmp_path / attack.name
    path.write_bytes(attack.make())

    with pytest.raises(Unreadable) as caught:
        describe(Place(str(path)))

    assert attack.reason in str(caught.value)


@pytest.mark.skipif(sys.platform != "linux", reason="needs RLIMIT_AS")
def test_memory_and_time(tmp_path: Path) -> None:
    """No hostile file needs more than 400 MiB of address space or 30 seconds."""
    for attack in ATTACKS:
        (tmp_path / attack.name).write_bytes(attack.make())
    code = CHILD.format(root=str(ROOT), memory=LARGEST_MEMORY, seconds=10 * LONGEST_SECONDS)
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", code, *map(str, sorted(tmp_path.iterdir()))],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    results = [json.loads(line) for line in done.stdout.splitlines()]

    assert done.returncode == 0, done.stderr
    assert len(results) == len(ATTACKS)
    assert [told for _, told, seconds in results if seconds > LONGEST_SECONDS] == []
    assert [told for _, told, _ in results if "memory" in told] == []


PAYLOADS = {
    "system": b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c{command}\x85R.",
    "global": b"cos\nsystem\n(S'{line}'\ntR.",
    "old_name": b'c__builtin__\neval\n(S\'__import__("os").system("{line}")\'\ntR.',
    "instance": b"(S'{line}'\nios\nsystem\n.",
    "object": b"(cos\nsystem\nS'{line}'\no.",
    "memo": b"\x80\x04\x8c\x05posix\x94\x8c\x06system\x940\x30h\x00h\x01\x93\x8c{command}\x85R.",
    "dotted": b"\x80\x04\x8c\x06pickle\x8c\x0asys.intern\x93.",
    "second": b"\x80\x04N.\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c{command}\x85R.",
    "frame": b"\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00cos\nsystem\n\x8c{command}\x85R.",
    "getattr": b"\x80\x04cbuiltins\ngetattr\nN\x8c\x06system\x86R.",
    "computed": b"\x80\x04cbuiltins\ngetattr\nNN\x86R.",
    "new_object": b"\x80\x04csubprocess\nPopen\n\x8c{command}\x85\x81.",
}


@pytest.mark.parametrize("name", sorted(PAYLOADS))
def test_commands_are_named_and_not_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pickle that would run a command is described; the command does not run."""
    monkeypatch.chdir(tmp_path)
    command = b"touch canary"
    data = PAYLOADS[name].replace(b"{command}", bytes([len(command)]) + command)
    path = tmp_path / "model.pkl"
    path.write_bytes(data.replace(b"{line}", command))

    facts = describe(Place(str(path)))

    assert facts["dangerous"]
    assert sorted(item.name for item in tmp_path.iterdir()) == ["model.pkl"]


WATCH = """
import json, os, sys
sys.path.insert(0, {root!r})
import envcheck
envcheck.__path__.append({root!r})
EVENTS = ("pickle.find_class", "subprocess", "os.system", "os.exec", "os.posix_spawn", "os.fork",
          "os.spawn", "socket", "ctypes", "os.mkdir", "os.remove", "os.rename", "os.symlink")
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
seen = []
def hook(event, args):
    if event.startswith(EVENTS) or (
        event == "open" and isinstance(args[2], int) and args[2] & WRITING
    ):
        seen.append([event, repr(args)[:200]])
sys.addaudithook(hook)
from envcheck.probing.host import Host
from envcheck.probing.run import run_probes
facts = run_probes(Host(models=sys.argv[1:]), ["models"])
heavy = [name for name in ("numpy", "sklearn", "keras", "joblib", "h5py", "pickle")
         if name in sys.modules]
print(json.dumps([len(facts), seen, heavy]))
"""


def test_nothing_is_executed_written_or_loaded(tmp_path: Path) -> None:
    """Under an audit hook, reading models opens files for reading and does nothing else."""
    for name, data in PAYLOADS.items():
        (tmp_path / f"{name}.pkl").write_bytes(data)
    models = [*map(str, tmp_path.iterdir()), *(str(DATA / name) for name in EXPECTED)]
    done = subprocess.run(
        [sys.executable, "-I", "-B", "-c", WATCH.format(root=str(ROOT)), *models],
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [len(models), [], []]


def test_the_canary_sings(tmp_path: Path) -> None:
    """The payload of these tests does run when a pickle is loaded, so that its absence tells."""
    line = PAYLOADS["global"].replace(b"{line}", b"touch canary")
    (tmp_path / "model.pkl").write_bytes(line)
    code = "import pickle; pickle.load(open('model.pkl', 'rb'))"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, timeout=60)

    assert (tmp_path / "canary").exists()


@pytest.mark.parametrize("extension", [".pt", ".zip"])
def test_pickles_in_an_archive(extension: str, tmp_path: Path) -> None:
    """Every pickle in a PyTorch archive is looked into."""
    payload = PAYLOADS["global"].replace(b"{line}", b"touch canary")
    entries = {"model/data.pkl": b"\x80\x02cbuiltins\nset\n.", "model/extra.pkl": payload,
               "model/version": b"3\n", "model/data/0": b"\0" * 8}  # fmt: skip
    path = tmp_path / f"model{extension}"
    path.write_bytes(hostile.archive(entries, complete=False))

    facts = describe(Place(str(path)))

    assert facts["format"] == "torch"
    assert facts["pickles"] == ["model/data.pkl", "model/extra.pkl"]
    assert facts["dangerous"] == ["os.system"]
    assert facts["archive_version"] == 3
    assert facts["imports"] == ["torch"]


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "C:\\evil", "a/../../evil", "..\\evil"])
def test_names_that_leave_the_archive(name: str, tmp_path: Path) -> None:
    """Entries that would be unpacked elsewhere are named, and nothing is unpacked."""
    path = tmp_path / "model.keras"
    path.write_bytes(hostile.archive({name: b"x", "assets/fine": b"y"}))

    facts = describe(Place(str(path)))

    assert facts["unsafe_names"] == [name]
    assert [item.name for item in tmp_path.iterdir()] == ["model.keras"]


def test_links_in_an_archive(tmp_path: Path) -> None:
    """A symbolic link among the entries is unsafe."""
    path = tmp_path / "model.keras"
    path.write_bytes(hostile.archive({}))
    link = zipfile.ZipInfo("assets/link")
    link.external_attr = 0o120777 << 16
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(link, "/etc/passwd")

    assert describe(Place(str(path)))["unsafe_names"] == ["assets/link"]


@pytest.mark.parametrize(
    "location", ["../secret", "/etc/passwd", "a/../../secret", "C:\\secret", "link", ""]
)
def test_external_data_outside_the_folder(location: str, tmp_path: Path) -> None:
    """External data outside the model's folder is named as such, and never opened."""
    (tmp_path / "secret").write_bytes(b"1234")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "link").symlink_to("../secret")
    path = folder / "model.onnx"
    path.write_bytes(hostile.onnx(hostile.initialiser(location)))

    facts = describe(Place(str(path)))

    assert facts["external_outside"] == [location]
    assert "external_sha256" not in facts


@pytest.mark.parametrize(
    ("size", "field"), [(4, ""), (3, "external_short"), (-1, "external_missing")]
)
def test_external_data_is_complete(size: int, field: str, tmp_path: Path) -> None:
    """Missing files, and files that end before the weights do, are named."""
    if size >= 0:
        (tmp_path / "weights").write_bytes(bytes(size))
    path = tmp_path / "model.onnx"
    path.write_bytes(hostile.onnx(hostile.initialiser("weights")))
    facts = describe(Place(str(path)))
    told = {name for name in ("external_short", "external_missing") if facts[name] == ["weights"]}

    assert told == ({field} if field else set())
    assert facts["external_outside"] == []


def test_absurd_shapes_are_facts(tmp_path: Path) -> None:
    """A shape that no machine could hold is told as it stands; nothing is allocated for it."""
    path = tmp_path / "model.onnx"
    path.write_bytes(hostile._shape(4))

    assert describe(Place(str(path)))["inputs"][0]["shape"] == [(1 << 63) - 1] * 4


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
@pytest.mark.parametrize("kind", ["fifo", "device", "inside"])
def test_what_is_no_file(kind: str, tmp_path: Path) -> None:
    """A FIFO or a device is never opened, neither as a model nor inside one."""
    path = tmp_path / "model.onnx"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        path = Path("/dev/zero")
    else:
        path = tmp_path / "saved"
        path.mkdir()
        graph = hostile.field(2, hostile.field(1, hostile.field(5, b"2.15.0")))
        (path / "saved_model.pb").write_bytes(hostile.field(1, 1) + graph)
        os.mkfifo(path / "assets.pb")

    with pytest.raises(Unreadable, match="is not a regular file"):
        describe(Place(str(path)))


def test_loops_of_links(tmp_path: Path) -> None:
    """Links that lead back to themselves end, as a model and inside a folder."""
    (tmp_path / "a.onnx").symlink_to("b.onnx")
    (tmp_path / "b.onnx").symlink_to("a.onnx")
    with pytest.raises(Unreadable, match="leads back to itself"):
        describe(Place(str(tmp_path / "a.onnx")))

    folder = tmp_path / "saved"
    folder.mkdir()
    graph = hostile.field(2, hostile.field(1, hostile.field(5, b"2.15.0")))
    (folder / "saved_model.pb").write_bytes(hostile.field(1, 1) + graph)
    (folder / "variables").symlink_to(".")
    with pytest.raises(Unreadable, match="is not a regular file"):
        describe(Place(str(folder)))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"N0" * 2_600_000 + b"N.", "only the first 5000000 opcodes were looked at"),
        (b"(" * 1_100_000 + b".", "a value has more than 1000000 parts"),
    ],
)
def test_more_than_is_ever_read(data: bytes, reason: str, tmp_path: Path) -> None:
    """A pickle that is too long is described as far as it was read, and says so."""
    path = tmp_path / "model.pkl"
    path.write_bytes(b"\x80\x04cshop.models\nNet\n0" + data)

    facts = describe(Place(str(path)))

    assert facts["imports"] == ["shop"]
    assert {item["reason"] for item in facts["unread"]} == {reason}
    assert {item["field"] for item in facts["unread"]} >= {"imports", "dangerous", "holds_code"}


def test_what_python_cannot_decompress(tmp_path: Path) -> None:
    """A joblib file in lz4 is unknown, not wrong."""
    path = tmp_path / "model.joblib"
    path.write_bytes(b"\x04\x22\x4d\x18" + bytes(64))

    with pytest.raises(Unsure, match="compressed with lz4"):
        describe(Place(str(path)))


@pytest.mark.parametrize(
    ("module", "name", "expected"),
    [
        ("os", "system", True), ("posix", "system", True), ("builtins", "eval", True),
        ("importlib", "import_module", True), ("sklearn.utils", "os.system", True),
        ("shop", "Net.__init__.__globals__", True), ("linecache", "getline", True),
        ("builtins", "set", False), ("builtins", "getattr", False), ("copyreg", "_rec", False),
        ("numpy", "memmap", False), ("numpy", "trace", False), ("shop", "Model.load", False),
        ("sklearn.tree._tree", "Tree", False), ("_codecs", "encode", False),
    ],
)  # fmt: skip
def test_which_names_are_dangerous(module: str, name: str, expected: bool) -> None:
    """Names that reach commands are dangerous; those of ordinary models are not."""
    assert is_dangerous(module, name) is expected
