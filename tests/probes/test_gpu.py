"""What the gpu probe says about recorded cards, about machines without, and about real ones."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from envcheck.probes import gpu

from envcheck.facts import Fact, error, not_applicable, ok, unknown
from envcheck.probing import nvml
from envcheck.probing.host import Host
from envcheck.probing.visibility import cuda_visible, kind_of_list, nvidia_visible
from tests.probes.elf_files import elf, write_elf
from tests.probes.recorded_nvml import CODES, RecordedNvml

HOSTS = Path(__file__).resolve().parents[1] / "hosts"
DRIVER = "/proc/driver/nvidia/version"
BOARDS = "/proc/driver/nvidia/gpus"
LIBRARY = "usr/lib/libnvidia-ml.so.1"
ABSENT = not_applicable("no sign of an NVIDIA GPU")
UUID_PARTS = ("8d1e4c2a", "GPU-", "0000:07")


def machine(
    tmp_path: Path, name: str, *, environ: dict[str, str] | None = None, library: bool = True
) -> Host:
    """Return a recorded GPU machine as if it were this one, with a library for any processor."""
    root = tmp_path / name
    shutil.copytree(HOSTS / name, root)
    if library:
        write_elf(root / LIBRARY, elf(0))
    return Host(str(root), live=True, environ=environ or {})


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that lets a recorded machine's NVML answer."""

    def install(name: str, **options: bool) -> RecordedNvml:
        library = RecordedNvml(HOSTS / name / "nvml.json", **options)
        monkeypatch.setattr(nvml, "load", lambda: library)
        return library

    return install


A100 = [
    {"name": "NVIDIA A100-SXM4-40GB MIG 3g.20gb", "compute_capability": "8.0",
     "memory_bytes": 20937965568, "mig": True},
    {"name": "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "compute_capability": "8.0",
     "memory_bytes": 5100273664, "mig": True},
]  # fmt: skip
T4 = [{"name": "Tesla T4", "compute_capability": "7.5", "memory_bytes": 15843721216}]
HOPPER = [
    {"name": "NVIDIA H100 80GB HBM3", "compute_capability": "9.0", "memory_bytes": 85520809984,
     "mig": False},
    {"name": "NVIDIA H200", "compute_capability": "9.0", "memory_bytes": 150754820096,
     "mig": False},
]  # fmt: skip
PASCAL = [{"name": "GeForce GTX 1080", "compute_capability": "6.1", "memory_bytes": 8513978368}]
ADA = [
    {"name": "NVIDIA GeForce RTX 4090", "compute_capability": "8.9", "memory_bytes": 25757220864}
]


@pytest.mark.parametrize(
    ("name", "driver", "cuda", "devices"),
    [
        ("gpu-a100-mig", "535.104.05", ok("12.2", "nvml"), A100),
        ("gpu-t4", "470.82.01", ok("11.4", "nvml"), T4),
        ("gpu-h100-h200", "550.54.15", ok("12.4", "nvml"), HOPPER),
        ("gpu-gtx1080", "384.81", unknown("NVML does not tell the CUDA version"), PASCAL),
        ("gpu-rtx4090", "580.65.06", ok("13.0", "nvml"), ADA),
    ],
)
@pytest.mark.parametrize("as_bytes", [False, True])
def test_cards(  # noqa: PLR0917
    tmp_path: Path, answering: Any, name: str, driver: str, cuda: Fact, devices: Any, as_bytes: bool
) -> None:
    """Driver, CUDA and devices are as NVML and the kernel module say, and nothing identifies."""
    library = answering(name, as_bytes=as_bytes)

    facts = gpu.probe(machine(tmp_path, name))

    assert facts["gpu.driver"] == ok(driver, DRIVER)
    assert facts["gpu.cuda_driver_version"] == cuda
    assert facts["gpu.devices"] == ok(devices, "nvml")
    assert facts["gpu.visible"] == ok("all")
    assert library.open == 0, "NVML was not shut down"
    assert not any(part in str(facts) for part in UUID_PARTS)


def test_driver_and_library_of_different_versions(tmp_path: Path, answering: Any) -> None:
    """A mismatch is an error, since CUDA fails too; the driver is the kernel module's."""
    answering("gpu-mismatch")
    broken = error("driver and NVML library are of different versions")

    facts = gpu.probe(machine(tmp_path, "gpu-mismatch"))

    assert facts["gpu.driver"] == ok("535.183.01", DRIVER)
    assert facts["gpu.cuda_driver_version"] == broken
    assert facts["gpu.devices"] == broken


def test_without_permission_the_kernel_files_answer(tmp_path: Path, answering: Any) -> None:
    """NVML refuses; driver and product names are known, the rest is not."""
    answering("gpu-no-permission")

    facts = gpu.probe(machine(tmp_path, "gpu-no-permission"))

    assert facts["gpu.driver"] == ok("535.183.01", DRIVER)
    assert facts["gpu.cuda_driver_version"] == unknown("this user may not ask NVML")
    assert facts["gpu.devices"] == ok([{"name": "Tesla V100-SXM2-16GB"}] * 2, BOARDS)
    assert not any(part in str(facts) for part in UUID_PARTS)


def test_a_driver_without_devices(tmp_path: Path, answering: Any) -> None:
    """A driver that serves no device is known to serve none, and nothing is visible."""
    answering("gpu-none-there")

    facts = gpu.probe(machine(tmp_path, "gpu-none-there"))

    assert facts["gpu.devices"] == ok([], "nvml")
    assert facts["gpu.visible"] == ok("none")


@pytest.mark.parametrize("name", [name for name in CODES if name != "NVML_ERROR_UNKNOWN"])
def test_every_error_leaves_the_facts_open(
    tmp_path: Path, answering: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """No error of NVML is taken for the absence of a GPU."""
    library = answering("gpu-t4")
    library._data["error"] = name
    shutil.copytree(HOSTS / "gpu-t4/dev", tmp_path / "bare/dev")
    write_elf(tmp_path / "bare" / LIBRARY, elf(0))

    facts = gpu.probe(Host(str(tmp_path / "bare"), live=True, environ={}))

    for key in ("gpu.driver", "gpu.cuda_driver_version", "gpu.devices"):
        assert facts[key].is_open, (key, facts[key])
        assert facts[key].reason


def test_nvidia_ml_py_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the package the kernel files answer, and say what is missing."""
    monkeypatch.setattr(nvml, "load", lambda: None)

    facts = gpu.probe(machine(tmp_path, "gpu-t4"))

    assert facts["gpu.driver"] == ok("470.82.01", DRIVER)
    assert facts["gpu.cuda_driver_version"] == unknown("nvidia-ml-py is not installed")
    assert facts["gpu.devices"] == ok([{"name": "Tesla T4"}], BOARDS)


def test_nvml_is_not_asked_without_a_device_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the library alone NVML would start a helper program to make the device file."""
    monkeypatch.setattr(nvml, "load", lambda: pytest.fail("NVML was loaded"))
    write_elf(tmp_path / LIBRARY, elf(0))

    facts = gpu.probe(Host(str(tmp_path), live=True, environ={}))

    assert facts["gpu.devices"] == unknown("NVML cannot be reached from here")
    assert facts["gpu.driver"] == unknown("NVML cannot be reached from here")


@pytest.mark.parametrize(
    ("files", "environ", "devices"),
    [
        ([], {}, ABSENT),
        ([], {"NVIDIA_VISIBLE_DEVICES": "void"}, ABSENT),
        ([], {"NVIDIA_VISIBLE_DEVICES": "all"}, unknown("NVML cannot be reached from here")),
        ([], {"CUDA_VISIBLE_DEVICES": "0"}, ABSENT),  # set by habit on many machines without one
        (["dev/nvidia0"], {}, unknown("NVML cannot be reached from here")),
        (["etc/nv_tegra_release"], {}, unknown("NVML cannot be reached from here")),
        (["usr/local/cuda/bin/nvcc"], {}, ABSENT),  # a compiler is no card
        (["dev/kfd"], {},
         unknown("an AMD GPU is there (/dev/kfd), of which only the presence is read")),
    ],
)  # fmt: skip
def test_unknown_is_not_absent(
    tmp_path: Path, files: list[str], environ: dict[str, str], devices: Fact
) -> None:
    """A hint without an answer is unknown; without any hint there is no GPU."""
    for name in ["dev/null", *files]:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    facts = gpu.probe(Host(str(tmp_path), live=True, environ=environ))

    assert facts["gpu.devices"] == devices


def test_an_image_has_no_gpu(tmp_path: Path) -> None:
    """Libraries in an image say nothing of the machine that will run it."""
    write_elf(tmp_path / "usr/lib/libcuda.so.1", elf(0))

    facts = gpu.probe(Host(str(tmp_path)))

    assert set(facts.values()) == {unknown("an image has no GPU of its own")}


@pytest.mark.parametrize(
    ("cuda", "container", "visible"),
    [
        (None, None, ok("all")),
        (None, "all", ok("all")),
        (None, "0,1", ok("2")),
        (None, "none", ok("none")),
        ("", None, ok("none")),
        ("-1", "all", ok("none")),
        ("0", "all", ok("1")),
        ("1,0", None, ok("2")),
        ("0,7,1", None, ok("1")),  # this machine has two: 7 is invalid and hides what follows
        ("GPU-8d1e4c2a-1111-2222-3333-444455556660", None, ok("1")),
        ("0,0", None, unknown("CUDA_VISIBLE_DEVICES names a device twice")),
        ("0", "void", ok("none")),
    ],
)
def test_visible(
    tmp_path: Path, answering: Any, cuda: str | None, container: str | None, visible: Fact
) -> None:
    """The container's variable and CUDA's decide how many devices a program sees."""
    answering("gpu-h100-h200")
    both = {"CUDA_VISIBLE_DEVICES": cuda, "NVIDIA_VISIBLE_DEVICES": container}
    environ = {name: value for name, value in both.items() if value is not None}

    facts = gpu.probe(machine(tmp_path, "gpu-h100-h200", environ=environ))

    assert facts["gpu.visible"] == visible


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ("0", "1"), ("0,1", "2"), (" 0 , 1 ", "2"), ("0,-1,1", "1"), ("-1", "none"),
        ("", "none"), ("NoDevFiles", "none"), ("MIG-GPU-8d1e4c2a/1/0", "1"), ("00,0", "?"),
    ],
)  # fmt: skip
def test_cuda_visible(value: str, count: str) -> None:
    """Devices count up to the first entry that is none."""
    assert cuda_visible(value) == count


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("0,1", "2 by index"), ("GPU-1a2b3c4d", "1 by UUID"),
        ("MIG-1a2b3c4d,MIG-2", "2 by MIG instance"), ("0:1", "1 by MIG instance"),
        ("0,GPU-1a2b3c4d", "2 mixed"),
    ],
)  # fmt: skip
def test_lists_are_reduced_to_their_kind(value: str, words: str) -> None:
    """What leaves a list of devices is how many and by what, never the names."""
    assert kind_of_list(value) == words


def test_nvidia_visible_is_not_set() -> None:
    """Without the variable nothing is said."""
    assert nvidia_visible(None) is None


def test_the_real_binding_has_what_is_called() -> None:
    """The package nvidia-ml-py has every function and error number of the recordings."""
    pynvml = pytest.importorskip("pynvml", reason="nvidia-ml-py is not installed")
    functions = [name for name in dir(RecordedNvml) if name.startswith("nvml")]

    assert [name for name in functions if not callable(getattr(pynvml, name, None))] == []
    assert {name: getattr(pynvml, name) for name in CODES} == CODES


@pytest.mark.gpu
def test_a_real_card_agrees_with_nvidia_smi() -> None:
    """On a machine with a card the facts are those of `nvidia-smi`."""
    pytest.importorskip("pynvml")
    smi = shutil.which("nvidia-smi")
    assert smi is not None, "a machine for `-m gpu` has nvidia-smi"
    query = "--query-gpu=name,driver_version,compute_cap"
    done = subprocess.run([smi, query, "--format=csv,noheader"], capture_output=True, text=True)
    lines = [line.split(", ") for line in done.stdout.splitlines()]

    facts = gpu.probe(Host())

    assert facts["gpu.driver"].value == lines[0][1]
    assert [device["name"] for device in facts["gpu.devices"].value] == [line[0] for line in lines]
    assert [device["compute_capability"] for device in facts["gpu.devices"].value] == [
        line[2] for line in lines
    ]
    assert facts["gpu.cuda_driver_version"].is_ok


@pytest.mark.gpu
def test_a_real_card_twice() -> None:
    """Two captures of a machine with a card are the same and hold no UUID."""
    first, second = gpu.probe(Host()), gpu.probe(Host())

    assert first == second
    assert "GPU-" not in str(first)
