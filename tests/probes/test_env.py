"""What the env probe records of environment variables, and what it keeps out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from envcheck.probes import env

from envcheck.facts import Fact, error, not_applicable, ok, unknown
from envcheck.probing.host import Host

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

UNSET = not_applicable("not set")
EMPTY = not_applicable("set to nothing")
STRANGE = error("its value is not of the form that this variable has")
UUID = "GPU-8d1e4c2a-1111-2222-3333-444455556666"
CANARY = "canary-7f3a"


@pytest.fixture
def value(empty: Host) -> Callable[..., Fact]:
    """Return a function that gives the fact of one variable under some variables."""

    def read(name: str, **environ: str) -> Fact:
        fact: Fact = env.probe(Host(empty.root, environ=environ))[f"env.{name}"]
        return fact

    return read


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("OMP_NUM_THREADS", " 04 ", ok("4")),
        ("OMP_NUM_THREADS", "4, 2", ok("4,2")),
        ("OMP_NUM_THREADS", "hunter2", STRANGE),
        ("OMP_NUM_THREADS", "", EMPTY),
        ("MKL_NUM_THREADS", "8", ok("8")),
        ("TF_DETERMINISTIC_OPS", "true", ok("1")),
        ("TF_DETERMINISTIC_OPS", "TRUE", ok("1")),
        ("TF_DETERMINISTIC_OPS", "0", ok("0")),
        ("TF_DETERMINISTIC_OPS", "maybe", STRANGE),
        ("TF_USE_LEGACY_KERAS", "True", ok("1")),
        ("TF_USE_LEGACY_KERAS", "TRUE", ok("0")),  # TensorFlow knows three spellings only
        ("KMP_DUPLICATE_LIB_OK", "TRUE", ok("1")),
        ("KMP_DUPLICATE_LIB_OK", "on", ok("1")),
        ("ONEDNN_MAX_CPU_ISA", "avx2", ok("AVX2")),
        ("OPENBLAS_CORETYPE", "Haswell", ok("haswell")),
        ("CUBLAS_WORKSPACE_CONFIG", ":4096:8", ok(":4096:8")),
        ("NPY_DISABLE_CPU_FEATURES", "X86_V4 AVX512_SPR,X86_V4", ok("AVX512_SPR,X86_V4")),
        ("NVIDIA_DRIVER_CAPABILITIES", "utility,compute", ok("compute,utility")),
        ("NVIDIA_REQUIRE_CUDA", "cuda>=12.2  brand=tesla,driver>=470,driver<471",
         ok("cuda>=12.2 brand=tesla,driver>=470,driver<471")),
        ("XLA_FLAGS", "--b=2 --a=1 --b=3", ok("--a=1 --b=3")),
        ("XLA_FLAGS", "--xla_dump_to=/home/alice/dump --x=1", ok("--x=1 --xla_dump_to=PATH")),
        ("XLA_FLAGS", "/home/alice/flags.txt", ok("from a file")),
        ("TF_XLA_FLAGS", "--tf_xla_auto_jit=2", ok("--tf_xla_auto_jit=2")),
        ("LANG", "en_US.utf8", ok("en_US.UTF-8")),
        ("LANG", "de_DE.ISO-8859-1@euro", ok("de_DE.ISO-8859-1@euro")),
        ("TZ", ":Europe/Berlin", ok("Europe/Berlin")),
        ("TZ", "/usr/share/zoneinfo/Asia/Tokyo", ok("Asia/Tokyo")),
        ("TZ", "/home/alice/zone", ok("from a file")),
        ("TZ", "", ok("UTC")),
        ("PYTHONPATH", "/home/alice/src:/srv", ok("set")),
        ("PYTHONOPTIMIZE", "2", ok("2")),
        ("PYTHONOPTIMIZE", "x", ok("1")),
        ("LD_PRELOAD", "/opt/secret-place/libgomp.so.1:libjemalloc.so.2",
         ok("libgomp.so.1 libjemalloc.so.2")),
        ("LD_LIBRARY_PATH", "/usr/local/cuda/lib64/:/opt/x:/usr/local/cuda/lib64:",
         ok("/usr/local/cuda/lib64:/opt/x:.")),
        ("CUDA_VISIBLE_DEVICES", "", ok("none")),
        ("CUDA_VISIBLE_DEVICES", "-1", ok("none")),
        ("CUDA_VISIBLE_DEVICES", "1,0", ok("2 by index")),
        ("CUDA_VISIBLE_DEVICES", UUID, ok("1 by UUID")),
        ("NVIDIA_VISIBLE_DEVICES", "void", ok("none")),
        ("NVIDIA_VISIBLE_DEVICES", "ALL", ok("all")),
        ("NVIDIA_VISIBLE_DEVICES", f"{UUID},{UUID}", ok("2 by UUID")),
        ("KERAS_BACKEND", "jax", ok("jax")),
        ("KERAS_BACKEND", "", EMPTY),
        ("KERAS_BACKEND", "two words", STRANGE),
        ("KERAS_BACKEND", "x" * 65, STRANGE),
        ("NVIDIA_TF32_OVERRIDE", "0", ok("0")),
    ],
)  # fmt: skip
def test_effective_value(value: Callable[..., Fact], name: str, text: str, expected: Fact) -> None:
    """Spaces, letter case, order and spelling that change nothing are the same value."""
    assert value(name, **{name: text}) == expected


def test_aliases_are_one_variable(value: Callable[..., Fact]) -> None:
    """Older spellings count where the newer one is not set."""
    assert value("ONEDNN_MAX_CPU_ISA", DNNL_MAX_CPU_ISA="AVX2") == ok("AVX2", "DNNL_MAX_CPU_ISA")
    both = {"ONEDNN_MAX_CPU_ISA": "SSE41", "DNNL_MAX_CPU_ISA": "AVX2"}
    assert value("ONEDNN_MAX_CPU_ISA", **both) == ok("SSE41")
    assert value("OPENBLAS_NUM_THREADS", GOTO_NUM_THREADS="3") == ok("3", "GOTO_NUM_THREADS")


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, ok("STRICT", "default")),
        ({"ONEDNN_DEFAULT_FPMATH_MODE": "bf16"}, ok("BF16")),
        ({"DNNL_DEFAULT_FPMATH_MODE": "BF16"}, ok("BF16", "DNNL_DEFAULT_FPMATH_MODE")),
        ({"TF_SET_ONEDNN_FPMATH_MODE": "BF16"}, ok("BF16", "TF_SET_ONEDNN_FPMATH_MODE")),
        (
            {"TF_SET_ONEDNN_FPMATH_MODE": "BF16", "ONEDNN_DEFAULT_FPMATH_MODE": "bf16"},
            ok("BF16", "TF_SET_ONEDNN_FPMATH_MODE"),
        ),
        (
            {"TF_SET_ONEDNN_FPMATH_MODE": "BF16", "ONEDNN_DEFAULT_FPMATH_MODE": "STRICT"},
            unknown(
                "ONEDNN_DEFAULT_FPMATH_MODE and TF_SET_ONEDNN_FPMATH_MODE differ: it depends on"
                " the program"
            ),
        ),
    ],
)
def test_two_variables_for_reduced_precision(
    value: Callable[..., Fact], environ: dict[str, str], expected: Fact
) -> None:
    """Both spellings give the same bits, so they are one fact; unset is strict."""
    assert value("ONEDNN_DEFAULT_FPMATH_MODE", **environ) == expected


@pytest.mark.parametrize(
    ("architecture", "package", "text", "expected"),
    [
        ("x86_64", "", None, ok("1", "default")),
        ("x86_64", "", "1", ok("1")),
        ("x86_64", "", "0", ok("0")),
        ("x86_64", "tensorflow-2.21.0", None, ok("1", "default")),
        ("x86_64", "tensorflow_cpu-2.9.0", None, ok("1", "default")),
        ("x86_64", "tensorflow-2.8.4", "", ok("0", "default")),
        ("aarch64", "tensorflow-2.21.0", None, UNSET),
    ],
)
def test_onednn_in_tensorflow(
    tmp_path: Path, architecture: str, package: str, text: str | None, expected: Fact
) -> None:
    """Unset equals 1 on x86_64 since TensorFlow 2.9, so that setting it to 1 is no difference."""
    kernel = tmp_path / "proc/sys/kernel/arch"
    kernel.parent.mkdir(parents=True)
    kernel.write_text(architecture, "utf-8")
    home = tmp_path / "usr/lib/python3.11"
    home.mkdir(parents=True)
    (home / "os.py").touch()
    if package:
        (home / f"site-packages/{package}.dist-info").mkdir(parents=True)
    environ = {} if text is None else {"TF_ENABLE_ONEDNN_OPTS": text}

    facts = env.probe(Host(str(tmp_path), environ=environ))

    assert facts["env.TF_ENABLE_ONEDNN_OPTS"] == expected


def test_every_name_is_there_once_and_sorted() -> None:
    """The list has no repeats, is in order, and no second spelling is a name of its own."""
    names = [name for name, _, _ in env.VARIABLES]
    spellings = [other for _, _, others in env.VARIABLES for other in others]

    assert names == sorted(set(names))
    assert not set(spellings) & set(names)


def test_unset_is_known(empty: Host) -> None:
    """Without any variable each is known to be unset, apart from documented defaults."""
    facts = env.probe(Host(empty.root, environ={}))
    defaults = {"env.ONEDNN_DEFAULT_FPMATH_MODE"}

    assert set(facts) == {f"env.{name}" for name, _, _ in env.VARIABLES}
    assert {key for key, fact in facts.items() if fact != UNSET} == defaults


def test_an_image_does_not_tell_its_variables(empty: Host) -> None:
    """The files of an image do not hold the variables that its processes get."""
    hidden = unknown("the variables of an image are not in its files")

    assert set(env.probe(empty).values()) == {hidden}


def test_no_other_variable_is_read(empty: Host) -> None:
    """Names and values of variables outside the list do not appear, however telling."""
    strangers = {
        "AWS_SECRET_ACCESS_KEY": CANARY, "HF_TOKEN": CANARY, "TF_CPP_MIN_LOG_LEVEL": "3",
        "CUDA_API_KEY": CANARY, "OMP_CANARY": CANARY, "PIP_INDEX_URL": f"https://u:{CANARY}@h/",
        "omp_num_threads": "3",
    }  # fmt: skip
    quiet = env.probe(Host(empty.root, environ={}))

    assert env.probe(Host(empty.root, environ=strangers)) == quiet


@pytest.mark.parametrize("name", [name for name, _, _ in env.VARIABLES])
@pytest.mark.parametrize(
    "text",
    [f"{CANARY} {CANARY}\n!", f"$({CANARY})", f"\x00{CANARY}\x1b[31m", f"“{CANARY}”", "\udcff!"],
)
def test_a_value_of_another_form_is_not_copied(empty: Host, name: str, text: str) -> None:
    """What cannot be a value of the variable is refused without being shown."""
    fact = env.probe(Host(empty.root, environ={name: text}))[f"env.{name}"]
    free_text = {"LD_LIBRARY_PATH"}  # any folder name is a folder name

    if name not in free_text:
        assert CANARY not in str(fact)
    assert "\x1b" not in str(fact.value)
    assert "\udcff" not in str(fact.value)
