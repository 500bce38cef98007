"""The processor: architecture, instruction sets and how many of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from envcheck.facts import Fact, Facts, not_applicable, ok, unknown
from envcheck.probing.cpulist import count_cpus
from envcheck.probing.machine import Machine, machine_of

if TYPE_CHECKING:
    from envcheck.probing.host import Host

CPUINFO = "/proc/cpuinfo"
ONLINE = "/sys/devices/system/cpu/online"
STATUS = "/proc/self/status"
IMAGE = "an image has no processor of its own"

_FIRST_BLOCK = 1 << 14
"""Bytes of /proc/cpuinfo that surely hold the first processor.

The kernel makes the text while it is read, at a cost per processor that is felt on big machines.
"""
_LEVELS: tuple[tuple[str, frozenset[str]], ...] = (
    ("x86-64-v2", frozenset({"cx16", "lahf_lm", "popcnt", "sse3", "sse4_1", "sse4_2", "ssse3"})),
    ("x86-64-v3", frozenset({"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "movbe"})),
    ("x86-64-v4", frozenset({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})),
)
"""The levels of the x86-64 psABI, each asking for the sets of the lower ones too.

OSXSAVE is left out: where the system does not save the registers the kernel hides AVX itself.
"""
_X86 = frozenset({
    "sse3", "ssse3", "sse4_1", "sse4_2", "popcnt", "avx", "avx2", "avx_vnni", "avx_vnni_int8",
    "avx_vnni_int16", "avx_ne_convert", "avx_ifma", "fma", "f16c", "bmi1", "bmi2", "lzcnt",
    "movbe", "avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512_vnni",
    "avx512_bf16", "avx512_fp16", "avx512_vbmi", "avx512_ifma", "avx512_vbmi2",
    "avx512_bitalg", "avx512_vpopcntdq", "amx_tile", "amx_int8", "amx_bf16", "amx_fp16",
    "avx10",
})  # fmt: skip
_ARM = frozenset({
    "neon", "vfpv4", "asimd", "asimdhp", "asimddp", "asimdrdm", "asimdfhm", "fphp", "i8mm",
    "bf16", "sve", "sve2", "svei8mm", "svebf16", "svef32mm", "sme", "sme2", "smei8i32",
    "smeb16f32",
})  # fmt: skip
_SPELLINGS = {
    "pni": "sse3",
    "abm": "lzcnt",
    "sse4.1": "sse4_1",
    "sse4.2": "sse4_2",
    "avx1.0": "avx",
    "fma3": "fma",
    "avx512vnni": "avx512_vnni",
    "avx512bf16": "avx512_bf16",
    "avx512fp16": "avx512_fp16",
    "avx512vbmi": "avx512_vbmi",
    "avx512ifma": "avx512_ifma",
    "avx512vbmi2": "avx512_vbmi2",
    "avx512bitalg": "avx512_bitalg",
    "avx512vpopcntdq": "avx512_vpopcntdq",
    "avx-vnni": "avx_vnni",
    "avxvnni": "avx_vnni",
    "amx-tile": "amx_tile",
    "amx-int8": "amx_int8",
    "amx-bf16": "amx_bf16",
}
"""Other names of the same sets: of older kernels, macOS and CPUID readers."""


def probe(host: Host) -> Facts:
    """Return what is known of the processor."""
    machine = machine_of(host)
    block = _first_block(host)
    raw = _flags(host, machine, block)
    vocabulary = _vocabulary(machine)
    return {
        "cpu.architecture": _or_unknown(machine.architecture, machine),
        "cpu.byte_order": _or_unknown(machine.byte_order, machine),
        "cpu.pointer_bits": _or_unknown(machine.bits, machine),
        "cpu.features": _features(raw, vocabulary, machine),
        "cpu.level": _level(raw, machine),
        "cpu.model": _model(host, block),
        "cpu.logical_count": _logical(host),
        "cpu.affinity_count": _affinity(host),
    }


def _or_unknown(value: object, machine: Machine) -> Fact:
    if value is None:
        return unknown(machine.problem or "only the name of the architecture is known")
    return ok(value, machine.source)


def _first_block(host: Host) -> dict[str, str]:
    """Return the fields of the first processor in /proc/cpuinfo, empty when it is hidden."""
    out: dict[str, str] = {}
    for line in (host.read(CPUINFO, _FIRST_BLOCK) or "").splitlines():
        key, colon, value = line.partition(":")
        if colon:
            out.setdefault(key.strip(), value.strip())
        elif "flags" in out or "Features" in out:
            break
    return out


def _vocabulary(machine: Machine) -> frozenset[str]:
    if machine.architecture in ("x86_64", "x86"):
        return _X86
    return _ARM if (machine.architecture or "").startswith(("aarch64", "armv")) else frozenset()


def _flags(host: Host, machine: Machine, block: dict[str, str]) -> Fact:
    """Return all instruction sets under their one spelling, or why they are not known.

    The field is `flags` on x86 and `Features` on Arm. Emulators show the file of the machine
    below, so the other architecture's field says nothing.
    """
    x86 = machine.architecture in ("x86_64", "x86")
    text = block.get("flags" if x86 else "Features")
    if text is not None:
        return ok([_SPELLINGS.get(word, word) for word in text.lower().split()])
    if not host.live and not host.exists(CPUINFO):
        return unknown(IMAGE)
    if host.system != "linux":
        return _deep_flags(host)
    if block:
        return unknown(f"{CPUINFO} names no instruction sets of {machine.architecture}")
    return unknown(host.why_not(CPUINFO))


def _deep_flags(host: Host) -> Fact:
    if not host.deep:
        return unknown("read on this system with capture --deep only")
    from envcheck.probing.other_systems import cpu_flags

    found = cpu_flags()
    if not found:
        return unknown("py-cpuinfo is not installed or names no instruction sets")
    return ok([_SPELLINGS.get(word, word) for word in found])


def _features(raw: Fact, vocabulary: frozenset[str], machine: Machine) -> Fact:
    if not raw.is_ok:
        return raw
    if not vocabulary:
        return unknown(f"no list of instruction sets for {machine.architecture}")
    return ok(sorted(vocabulary.intersection(raw.value)), raw.source)


def _level(raw: Fact, machine: Machine) -> Fact:
    if machine.architecture is None:
        return unknown(machine.problem)
    if machine.architecture != "x86_64":
        return not_applicable("only x86_64 has levels")
    if not raw.is_ok:
        return raw
    have = set(raw.value)
    level = "x86-64-v1"
    for name, needs in _LEVELS:
        if not needs <= have:
            break
        level = name
    return ok(level)


def _model(host: Host, block: dict[str, str]) -> Fact:
    name = block.get("model name") or block.get("cpu model")
    if not name and "CPU implementer" in block:
        name = f"implementer {block['CPU implementer']} part {block.get('CPU part', '?')}"
    if name:
        return ok(" ".join(name.split()))
    if not host.live and not host.exists(CPUINFO):
        return unknown(IMAGE)
    if host.system != "linux":
        return unknown("not read on this system")
    return unknown(f"{CPUINFO} names no model" if block else host.why_not(CPUINFO))


def _logical(host: Host) -> Fact:
    """Return the processors that are switched on, whoever may use them."""
    if host.live and host.system != "linux":
        count = os.cpu_count()
        return ok(count) if count else unknown("the system does not say")
    listed = _count(host.read(ONLINE, 1 << 12))
    if listed:
        return ok(listed, ONLINE)
    text = host.read(CPUINFO)
    if text:
        count = sum(line.startswith("processor") for line in text.splitlines())
        if count:
            return ok(count, CPUINFO)
    return unknown(host.why_not(ONLINE) if host.live else IMAGE)


def _affinity(host: Host) -> Fact:
    """Return the processors that the scheduler lets this process use."""
    if host.live and hasattr(os, "sched_getaffinity"):
        try:
            return ok(len(os.sched_getaffinity(0)))
        except OSError as problem:
            return unknown(f"sched_getaffinity: {problem.strerror}")
    if host.live and host.system == "darwin":
        return not_applicable("macOS binds no process to processors")
    if host.live:
        return _deep_affinity(host)
    for line in (host.read(STATUS, 1 << 14) or "").splitlines():
        if line.startswith("Cpus_allowed_list:"):
            count = _count(line.partition(":")[2])
            if count:
                return ok(count, STATUS)
    return unknown(host.why_not(STATUS) if host.exists("/proc/cpuinfo") else IMAGE)


def _deep_affinity(host: Host) -> Fact:
    if not host.deep:
        return unknown("read on this system with capture --deep only")
    from envcheck.probing.other_systems import cpu_affinity

    found: list[int] | None = cpu_affinity()
    return ok(len(found)) if found else unknown("psutil is not installed or does not say")


def _count(text: str | None) -> int | None:
    return None if text is None else count_cpus(text)
