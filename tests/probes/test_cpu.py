"""What the cpu probe says about recorded processors, images and this machine."""

from __future__ import annotations

import os
import platform
import sys
from typing import TYPE_CHECKING

import pytest
from envcheck.probes import cpu

from envcheck.facts import Fact, not_applicable, ok, unknown
from envcheck.probing.cpulist import count_cpus
from envcheck.probing.host import Host
from envcheck.probing.machine import normalise_architecture
from tests.probes.elf_files import elf, write_elf

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WESTMERE = ["lahf_lm", "popcnt", "sse3", "sse4_1", "sse4_2", "ssse3"]
HASWELL = [
    "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse3", "sse4_1",
    "sse4_2", "ssse3",
]  # fmt: skip
SAPPHIRE_RAPIDS = sorted([
    *HASWELL, "amx_bf16", "amx_int8", "amx_tile", "avx512_bf16", "avx512_bitalg", "avx512_fp16",
    "avx512_ifma", "avx512_vbmi", "avx512_vbmi2", "avx512_vnni", "avx512_vpopcntdq", "avx512bw",
    "avx512cd", "avx512dq", "avx512f", "avx512vl", "avx_vnni",
])  # fmt: skip
NEOVERSE_V1 = [
    "asimd", "asimddp", "asimdfhm", "asimdhp", "asimdrdm", "bf16", "fphp", "i8mm", "sve",
    "svebf16", "svei8mm",
]  # fmt: skip
OTHER = unknown("/proc/cpuinfo names no instruction sets of aarch64")


@pytest.mark.parametrize(
    ("host", "architecture", "features", "level"),
    [
        ("kubernetes-v2", "x86_64", ok(SAPPHIRE_RAPIDS), ok("x86-64-v4")),
        ("docker-v1", "x86_64", ok(HASWELL), ok("x86-64-v3")),
        ("batch-v1-nested", "x86_64", ok(WESTMERE[1:]), ok("x86-64-v2")),
        ("graviton-lambda", "aarch64", ok(NEOVERSE_V1), not_applicable("only x86_64 has levels")),
        ("emulated-arm", "aarch64", OTHER, not_applicable("only x86_64 has levels")),
    ],
)
def test_features(
    recorded: Callable[..., Host], host: str, architecture: str, features: Fact, level: Fact
) -> None:
    """Instruction sets bear one name each, are sorted, and give the level of the x86-64 psABI."""
    facts = cpu.probe(recorded(host))

    assert facts["cpu.architecture"] == ok(architecture, "/proc/sys/kernel/arch")
    assert facts["cpu.features"] == features
    assert facts["cpu.level"] == level


@pytest.mark.parametrize(
    ("lost", "level"),
    [("cx16", "x86-64-v1"), ("movbe", "x86-64-v2"), ("avx512cd", "x86-64-v3")],
)
def test_one_missing_set_lowers_the_level(tmp_path: Path, lost: str, level: str) -> None:
    """A level asks for all of its sets and of the sets below."""
    sets = (
        "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3 avx avx2 bmi1 bmi2 f16c fma abm movbe"
        " avx512f avx512bw avx512cd avx512dq avx512vl"
    )
    (tmp_path / "proc/sys/kernel").mkdir(parents=True)
    (tmp_path / "proc/sys/kernel/arch").write_text("x86_64\n", "utf-8")
    (tmp_path / "proc/cpuinfo").write_text(f"flags : {sets.replace(lost, '')}\n", "utf-8")

    assert cpu.probe(Host(str(tmp_path)))["cpu.level"] == ok(level)


@pytest.mark.parametrize(
    ("host", "model"),
    [
        ("kubernetes-v2", ok("Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz")),
        ("batch-v1-nested", ok("Intel(R) Core(TM) i3 CPU M 330 @ 2.13GHz")),
        ("graviton-lambda", ok("implementer 0x41 part 0xd40")),
        ("gvisor", ok("unknown")),
        ("gpu-t4", unknown("an image has no processor of its own")),
    ],
)
def test_model(recorded: Callable[..., Host], host: str, model: Fact) -> None:
    """The model is the kernel's text with single spaces; Arm gives numbers only."""
    assert cpu.probe(recorded(host))["cpu.model"] == model


@pytest.mark.parametrize(
    ("host", "logical", "affinity"),
    [
        ("kubernetes-v2", ok(16, "/sys/devices/system/cpu/online"), ok(5, "/proc/self/status")),
        ("docker-v1", ok(40, "/sys/devices/system/cpu/online"), ok(40, "/proc/self/status")),
        (
            "graviton-lambda",
            ok(2, "/proc/cpuinfo"),
            unknown("/proc/self/status does not exist"),
        ),
    ],
)
def test_counts(recorded: Callable[..., Host], host: str, logical: Fact, affinity: Fact) -> None:
    """The host's processors and those that the process may use are two numbers."""
    facts = cpu.probe(recorded(host))

    assert facts["cpu.logical_count"] == logical
    assert facts["cpu.affinity_count"] == affinity


@pytest.mark.parametrize(
    ("machine", "bits", "little", "architecture"),
    [
        (62, 64, True, "x86_64"),
        (183, 64, True, "aarch64"),
        (3, 32, True, "x86"),
        (40, 32, True, "armv7l"),
        (21, 64, True, "ppc64le"),
        (21, 64, False, "ppc64"),
        (22, 64, False, "s390x"),
        (243, 64, True, "riscv64"),
    ],
)
def test_image_architecture(
    tmp_path: Path, machine: int, bits: int, little: bool, architecture: str
) -> None:
    """An image has the architecture of its interpreter's program, whatever machine reads it."""
    program = "usr/local/bin/python3.12"
    write_elf(tmp_path / program, elf(machine, bits=bits, little=little, loader="/lib/ld.so"))
    (tmp_path / "usr/local/lib/python3.12").mkdir(parents=True)
    (tmp_path / "usr/local/lib/python3.12/os.py").touch()

    facts = cpu.probe(Host(str(tmp_path)))

    assert facts["cpu.architecture"] == ok(architecture, f"/{program}")
    assert facts["cpu.pointer_bits"] == ok(bits, f"/{program}")
    assert facts["cpu.byte_order"] == ok("little" if little else "big", f"/{program}")
    assert facts["cpu.features"] == unknown("an image has no processor of its own")
    assert facts["cpu.logical_count"] == unknown("an image has no processor of its own")


def test_damaged_files_are_unknown(recorded: Callable[..., Host]) -> None:
    """Files without sense give no value at all."""
    facts = cpu.probe(recorded("damaged"))

    assert {key for key, fact in facts.items() if fact.is_ok} == set()


def test_nothing_is_guessed_for_an_empty_folder(empty: Host) -> None:
    """An empty root has no processor."""
    assert {fact.state for fact in cpu.probe(empty).values()} == {"unknown"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("AMD64", "x86_64"), ("x86_64", "x86_64"), ("x64", "x86_64"), ("arm64", "aarch64"),
        ("aarch64", "aarch64"), ("i386", "x86"), ("i686", "x86"), ("armv8l", "armv7l"),
        ("ppc64le", "ppc64le"), ("riscv64", "riscv64"),
    ],
)  # fmt: skip
def test_one_name_for_each_architecture(name: str, expected: str) -> None:
    """Spellings of Windows, macOS and Linux are one."""
    assert normalise_architecture(name) == expected


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0", 1), ("0-3,8\n", 5), ("0-3,2-5", 6), ("0-31:1/2", 16), ("", None), ("all", None),
        ("3-1", None), ("0-", None), ("1,", None), ("0-99999999999", None),
    ],
)  # fmt: skip
def test_lists_of_processors(text: str, count: int | None) -> None:
    """The kernel's lists are counted; anything else is no list."""
    assert count_cpus(text) == count


def test_this_machine_agrees_with_the_standard_library() -> None:
    """Architecture, byte order, word size and counts are those of `platform`, `sys` and `os`."""
    facts = cpu.probe(Host())

    assert facts["cpu.architecture"].value == normalise_architecture(platform.machine())
    assert facts["cpu.byte_order"].value == sys.byteorder
    assert facts["cpu.pointer_bits"].value == (64 if sys.maxsize > 2**32 else 32)
    assert facts["cpu.logical_count"].value == os.cpu_count()


@pytest.mark.skipif(platform.system() != "Linux", reason="reads the kernel's list")
def test_this_machine_agrees_with_py_cpuinfo() -> None:
    """Every instruction set that py-cpuinfo names under our spelling is found, and no other."""
    cpuinfo = pytest.importorskip("cpuinfo")
    flags = set(cpuinfo.get_cpu_info()["flags"])
    if normalise_architecture(platform.machine()) != "x86_64":
        pytest.skip("py-cpuinfo spells Arm's sets as the kernel does")
    spelled = {
        "pni": "sse3",
        "abm": "lzcnt",
        "avx512ifma": "avx512_ifma",
        "avx512vbmi": "avx512_vbmi",
    }
    theirs = {spelled.get(flag, flag) for flag in flags}

    assert cpu.probe(Host())["cpu.features"] == ok(sorted(theirs & cpu._X86))
