"""Environment variables that change what a model computes, by exact name only.

The value recorded is the *effective* one: spellings of one setting are merged, letter case and
spaces are made the same, and a default that the program documents is filled in. A value that is
not of its variable's form is never copied, since it may be anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable, Optional

from envcheck.facts import Fact, Facts, error, not_applicable, ok, unknown
from envcheck.probing.machine import machine_of
from envcheck.probing.visibility import ALL, NONE, cuda_visible, kind_of_list, nvidia_visible

if TYPE_CHECKING:
    from envcheck.probing.host import Host

Reader = Callable[[str], Optional[str]]
"""Turns the text of a variable into its normal form, None when it is not of the known form."""

UNSET = not_applicable("not set")
EMPTY = not_applicable("set to nothing")
_LONGEST_WORD = 64
_LONGEST = 512
_WORD_SIGNS = frozenset("_-+.,:@/*=<>")


def _flag(text: str) -> str | None:
    """Read a switch as TensorFlow, CUDA and Python do."""
    return {"1": "1", "true": "1", "0": "0", "false": "0"}.get(text.lower())


def _loose_flag(text: str) -> str | None:
    """Read a switch as Intel's OpenMP and JAX do, which take more words."""
    word = text.lower()
    if word in ("1", "true", "t", "yes", "y", "on", ".true.", "enabled"):
        return "1"
    return "0" if word in ("0", "false", "f", "no", "n", "off", ".false.", "disabled") else None


def _legacy_keras(text: str) -> str | None:
    """Read the switch that TensorFlow compares with three spellings and nothing else."""
    return "1" if text in ("1", "true", "True") else "0"


def _optimize(text: str) -> str | None:
    """Read PYTHONOPTIMIZE: a level, and any other text is level 1."""
    return str(int(text)) if text.isdigit() and len(text) < 4 else "1"


def _number(text: str) -> str | None:
    digits = text.lstrip("+-")
    return str(int(text)) if digits.isdigit() and len(digits) < 12 else None


def _numbers(text: str) -> str | None:
    """Read numbers of threads per nesting level, `4,2`."""
    found = [_number(part.strip()) for part in text.split(",")]
    return ",".join(part for part in found if part) if all(found) else None


def _word(text: str, longest: int = _LONGEST_WORD) -> str | None:
    fits = len(text) <= longest and all(
        char.isascii() and (char.isalnum() or char in _WORD_SIGNS) for char in text
    )
    return text if fits else None


def _upper(text: str) -> str | None:
    return _word(text.upper())


def _lower(text: str) -> str | None:
    return _word(text.lower())


def _comma_set(text: str) -> str | None:
    parts = {part.strip() for part in text.replace(" ", ",").replace("\t", ",").split(",")}
    return _word(",".join(sorted(part for part in parts if part)), _LONGEST)


def _lower_set(text: str) -> str | None:
    return _comma_set(text.lower())


def _words(text: str) -> str | None:
    """Read words between spaces, each of the plain form."""
    parts = text.split()
    return " ".join(parts) if all(_word(part, _LONGEST) for part in parts) else None


def _compiler_flags(text: str) -> str | None:
    """Read the `--name=value` flags of XLA, of which the last of a name counts.

    The value of a flag may be a folder, which says where files go and not what is computed.
    """
    flags: dict[str, str] = {}
    for word in text.split():
        name, sep, value = word.partition("=")
        if not name.startswith("-"):
            return "from a file" if len(text.split()) == 1 else None
        if _word(word, _LONGEST) is None:
            return None
        flags[name] = f"{name}{sep}{'PATH' if '/' in value else value}"
    return " ".join(flags[name] for name in sorted(flags))[:_LONGEST]


def _locale(text: str) -> str | None:
    """Read a locale such as `en_US.UTF-8`, its encoding in one spelling."""
    name, dot, encoding = text.partition(".")
    encoding, at, modifier = encoding.partition("@")
    if encoding.lower().replace("-", "") == "utf8":
        encoding = "UTF-8"
    return _word(f"{name}{dot}{encoding}{at}{modifier}")


def _time_zone(text: str) -> str | None:
    """Read a zone name, with or without the colon of POSIX; a file outside them is no name."""
    name = text.lstrip(":")
    for folder in ("/usr/share/zoneinfo/", "/usr/lib/zoneinfo/"):
        name = name.removeprefix(folder)
    return "from a file" if name.startswith("/") else _word(name)


def _presence(_text: str) -> str | None:
    return "set"


def _preload(text: str) -> str | None:
    """Read the libraries to be loaded first: base names, in order."""
    names = [part.rpartition("/")[2] for part in text.replace(":", " ").split()]
    return " ".join(names) if all(map(_word, names)) else None


def _folders(text: str) -> str | None:
    """Read a search path: folders in order, each once; an empty one is the current folder."""
    parts = text.replace(";", ":").split(":")
    clean = [part.rstrip("/") or ("/" if part else ".") for part in parts]
    return ":".join(dict.fromkeys(clean)) if all(part.isprintable() for part in clean) else None


def _cuda_devices(text: str) -> str | None:
    return NONE if cuda_visible(text) == NONE else kind_of_list(text)


def _container_devices(text: str) -> str | None:
    kind = nvidia_visible(text)
    return kind if kind in (ALL, NONE) else kind_of_list(text)


VARIABLES: tuple[tuple[str, Reader, tuple[str, ...]], ...] = (
    # canonical name, form, other spellings from the strongest to the weakest
    ("ALLOW_RELEASED_ONNX_OPSET_ONLY", _flag, ()),
    ("CUBLAS_WORKSPACE_CONFIG", _word, ()),
    ("CUDA_DEVICE_ORDER", _upper, ()),
    ("CUDA_FORCE_PTX_JIT", _flag, ()),
    ("CUDA_LAUNCH_BLOCKING", _flag, ()),
    ("CUDA_VISIBLE_DEVICES", _cuda_devices, ()),
    ("JAX_DEFAULT_MATMUL_PRECISION", _lower, ()),
    ("JAX_ENABLE_X64", _loose_flag, ()),
    ("KERAS_BACKEND", _word, ()),
    ("KMP_DUPLICATE_LIB_OK", _loose_flag, ()),
    ("LANG", _locale, ()),
    ("LC_ALL", _locale, ()),
    ("LC_NUMERIC", _locale, ()),
    ("LD_LIBRARY_PATH", _folders, ()),
    ("LD_PRELOAD", _preload, ()),
    ("MKL_CBWR", _upper, ()),
    ("MKL_ENABLE_INSTRUCTIONS", _upper, ()),
    ("MKL_NUM_THREADS", _number, ()),
    ("NPY_DISABLE_CPU_FEATURES", _comma_set, ()),
    ("NPY_PROMOTION_STATE", _lower, ()),
    ("NUMEXPR_NUM_THREADS", _number, ()),
    ("NVIDIA_DRIVER_CAPABILITIES", _lower_set, ()),
    ("NVIDIA_REQUIRE_CUDA", _words, ()),
    ("NVIDIA_TF32_OVERRIDE", _number, ()),
    ("NVIDIA_VISIBLE_DEVICES", _container_devices, ()),
    ("OMP_NUM_THREADS", _numbers, ()),
    ("OMP_THREAD_LIMIT", _number, ()),
    ("ONEDNN_DEFAULT_FPMATH_MODE", _upper, ("DNNL_DEFAULT_FPMATH_MODE",)),
    ("ONEDNN_MAX_CPU_ISA", _upper, ("DNNL_MAX_CPU_ISA",)),
    ("OPENBLAS_CORETYPE", _lower, ()),
    ("OPENBLAS_NUM_THREADS", _number, ("GOTO_NUM_THREADS",)),
    ("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", _lower, ()),
    ("PYTHONOPTIMIZE", _optimize, ()),
    ("PYTHONPATH", _presence, ()),
    ("PYTHONUTF8", _flag, ()),
    ("TF_CUDNN_DETERMINISTIC", _flag, ()),
    ("TF_CUDNN_USE_AUTOTUNE", _flag, ()),
    ("TF_DETERMINISTIC_OPS", _flag, ()),
    ("TF_ENABLE_ONEDNN_OPTS", _flag, ()),
    ("TF_FORCE_GPU_ALLOW_GROWTH", _flag, ()),
    ("TF_GPU_ALLOCATOR", _lower, ()),
    ("TF_NUM_INTEROP_THREADS", _number, ()),
    ("TF_NUM_INTRAOP_THREADS", _number, ()),
    ("TF_USE_LEGACY_KERAS", _legacy_keras, ()),
    ("TF_XLA_FLAGS", _compiler_flags, ()),
    ("TZ", _time_zone, ()),
    ("XLA_FLAGS", _compiler_flags, ()),
)
"""The variables that are read. Knobs of logging are not among them: they change no result."""

_FPMATH = "ONEDNN_DEFAULT_FPMATH_MODE"
_FPMATH_OF_TENSORFLOW = "TF_SET_ONEDNN_FPMATH_MODE"
_ONEDNN = "TF_ENABLE_ONEDNN_OPTS"
_MEANS_SOMETHING_EMPTY = {"TZ": "UTC", "CUDA_VISIBLE_DEVICES": NONE, "NVIDIA_VISIBLE_DEVICES": NONE}


def probe(host: Host) -> Facts:
    """Return the effective value of each variable of the list."""
    if not host.knows_environ:
        hidden = unknown("the variables of an image are not in its files")
        return {f"env.{name}": hidden for name, _, _ in VARIABLES}
    facts = {f"env.{name}": _read(host, name, form, more) for name, form, more in VARIABLES}
    facts[f"env.{_FPMATH}"] = _fpmath(host, facts[f"env.{_FPMATH}"])
    if facts[f"env.{_ONEDNN}"] in (UNSET, EMPTY):
        facts[f"env.{_ONEDNN}"] = _onednn_default(host)
    return facts


def _read(host: Host, name: str, form: Reader, spellings: tuple[str, ...]) -> Fact:
    for spelling in (name, *spellings):
        raw = host.environ.get(spelling)
        if raw is None:
            continue
        text = raw.strip()
        if not text:
            meant = _MEANS_SOMETHING_EMPTY.get(name)
            return EMPTY if meant is None else ok(meant)
        value = form(text)
        if value is None:
            return error("its value is not of the form that this variable has")
        return ok(value, "" if spelling == name else spelling)
    return UNSET


def _fpmath(host: Host, own: Fact) -> Fact:
    """Merge the two variables that let oneDNN compute float32 in bfloat16.

    Unset is strict: https://oneapi-src.github.io/oneDNN/dev_guide_attributes_fpmath_mode.html
    """
    strict = ok("STRICT", "default")
    mine = strict if own in (UNSET, EMPTY) else own
    other = _read(host, _FPMATH_OF_TENSORFLOW, _upper, ())
    if other in (UNSET, EMPTY):
        return mine
    if own in (UNSET, EMPTY) or own.value == other.value:
        return Fact(other.state, other.value, other.reason, _FPMATH_OF_TENSORFLOW)
    return unknown(f"{_FPMATH} and {_FPMATH_OF_TENSORFLOW} differ: it depends on the program")


def _onednn_default(host: Host) -> Fact:
    """Return what TensorFlow does by itself: oneDNN since 2.9, on Linux and x86_64."""
    if host.system != "linux" or machine_of(host).architecture != "x86_64":
        return UNSET
    version = _tensorflow(host)
    return ok("1" if version is None or version >= (2, 9) else "0", "default")


def _tensorflow(host: Host) -> tuple[int, ...] | None:
    """Return major and minor of the installed TensorFlow, by the names of metadata folders."""
    for dist in host.distributions:
        name, _, rest = dist.entry.partition("-")
        if name in ("tensorflow", "tensorflow_cpu", "tensorflow_gpu"):
            parts: list[str] = rest.split(".")[:2]
            if len(parts) == 2 and all(part.isdigit() for part in parts):
                return int(parts[0]), int(parts[1])
    return None
