"""The frameworks probe: build facts from files, with nothing imported or written."""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from envcheck.catalogue import keys_of
from envcheck.probing.host import Host
from envcheck.probing.interpreter import Interpreter
from tests.wheels import install

if TYPE_CHECKING:
    from pathlib import Path

    from envcheck.facts import Facts

probe = import_module("envcheck.probes.frameworks").probe

# The forms that tensorflow/tools/build_info/gen_build_info.py writes.
BUILD_INFO = '''
# Copyright 2020 The TensorFlow Authors. All Rights Reserved.
"""Auto-generated module providing information about the build."""
import collections

build_info = collections.OrderedDict([
    ('cpu_compiler', '/usr/lib/llvm-18/bin/clang'),
    ('cuda_compute_capabilities', ['sm_60', 'sm_70', 'compute_90']),
    ('cuda_version', '12.5.1'), ('cudnn_version', '9'), ('is_cuda_build', True),
    ('is_rocm_build', False), ('is_tensorrt_build', True)])
'''
TORCH = """
from typing import Optional

__all__ = ['__version__', 'debug', 'cuda', 'git_version', 'hip', 'xpu']
__version__ = '2.4.0+cu121'
debug = False
cuda: Optional[str] = '12.1'
git_version = 'e4ee3be4063b7c430974252fdf7db42273388d86'
hip: Optional[str] = None
xpu: Optional[str] = None
"""


def look(folder: Path, **environ: str) -> Facts:
    """Run the probe on one package folder; the user's home is beside it."""
    interpreter = Interpreter("3.11.7", "cpython", "cpython-311", ".so", (str(folder),))
    facts: Facts = probe(
        Host(interpreter=interpreter, environ={"HOME": str(folder / "home"), **environ})
    )
    return facts


def write(place: Path, text: str) -> None:
    """Write a file with its folder."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def build_info(tmp_path: Path, text: str, name: str = "tensorflow") -> Any:
    """Return the fact for a TensorFlow with that build record."""
    install(tmp_path, name, "2.18.0")
    write(tmp_path / "tensorflow/python/platform/build_info.py", text)
    return look(tmp_path)["framework.tensorflow"]


def test_tensorflow(tmp_path: Path) -> None:
    """The build record is read as text, without a path of the build machine."""
    assert build_info(tmp_path, BUILD_INFO).value == {
        "version": "2.18.0",
        "cuda_version": "12.5.1",
        "cudnn_version": "9",
        "compute_capabilities": ["compute_90", "sm_60", "sm_70"],
        "is_cuda_build": True,
        "is_rocm_build": False,
    }


def test_tensorflow_for_cpus(tmp_path: Path) -> None:
    """A build without CUDA has no CUDA version."""
    text = (
        "build_info = collections.OrderedDict([('is_cuda_build', False), ('is_rocm_build', False)])"
    )

    assert build_info(tmp_path, text, "tensorflow-cpu").value == {
        "version": "2.18.0", "is_cuda_build": False, "is_rocm_build": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "", "build_info", "build_info = make()", "build_info = collections.OrderedDict(",
        "build_info = collections.OrderedDict(__import__('os').abort())",
        "build_info = collections.OrderedDict(" + "[" * 5000 + "])", "build_info = [1, 2]",
        "build_info = 5", "\x00",
    ],
)  # fmt: skip
def test_tensorflow_of_another_form(tmp_path: Path, text: str) -> None:
    """What is not a plain literal is not run, and gives an unknown."""
    assert build_info(tmp_path, text).state == "unknown"


def test_tensorflow_with_odd_values(tmp_path: Path) -> None:
    """Values of the wrong type are left out."""
    text = (
        "build_info = {'cuda_version': 12, 'is_cuda_build': 'yes', "
        "'cuda_compute_capabilities': [1]}"
    )

    assert build_info(tmp_path, text).value == {"version": "2.18.0"}


def test_tensorflow_without_the_file(tmp_path: Path) -> None:
    """A distribution without the record is unknown, one that only has a similar name is none."""
    install(tmp_path, "tensorflow-hub", "0.16")
    assert look(tmp_path)["framework.tensorflow"].state == "not_applicable"

    install(tmp_path, "tensorflow", "2.18.0")
    assert look(tmp_path)["framework.tensorflow"].state == "unknown"


def test_torch(tmp_path: Path) -> None:
    """The version file is read line by line; None means there is none."""
    install(tmp_path, "torch", "2.4.0+cu121")
    write(tmp_path / "torch/version.py", TORCH)

    assert look(tmp_path)["framework.torch"].value == {
        "version": "2.4.0+cu121",
        "cuda": "12.1",
        "git_version": "e4ee3be4063b7c430974252fdf7db42273388d86",
    }


@pytest.mark.parametrize("text", [None, "", "__version__ = compute()", "cuda = '12'"])
def test_torch_of_another_form(tmp_path: Path, text: str | None) -> None:
    """A version file that tells no version gives an unknown."""
    install(tmp_path, "torch", "2.4.0")
    if text is not None:
        write(tmp_path / "torch/version.py", text)

    assert look(tmp_path)["framework.torch"].state == "unknown"


@pytest.mark.parametrize(
    ("files", "providers"),
    [
        (["onnxruntime_pybind11_state.so", "libonnxruntime_providers_shared.so"],
         ["CPUExecutionProvider"]),
        (["libonnxruntime_providers_cuda.so", "libonnxruntime_providers_tensorrt.so"],
         ["CPUExecutionProvider", "CUDAExecutionProvider", "TensorrtExecutionProvider"]),
        (["DirectML.dll", "onnxruntime_providers_openvino.dll"],
         ["CPUExecutionProvider", "DmlExecutionProvider", "OpenVINOExecutionProvider"]),
        (["libonnxruntime_providers_new.so"], ["CPUExecutionProvider"]),
    ],
)  # fmt: skip
def test_onnxruntime(tmp_path: Path, files: list[str], providers: list[str]) -> None:
    """Execution providers by their libraries; the one for CPUs is built in."""
    install(tmp_path, "onnxruntime-gpu", "1.19.2")
    for file in files:
        write(tmp_path / "onnxruntime/capi" / file, "")

    assert look(tmp_path)["framework.onnxruntime"].value == {
        "version": "1.19.2", "package": "onnxruntime-gpu", "providers": providers,
    }  # fmt: skip


def test_onnxruntime_twice(tmp_path: Path) -> None:
    """Of two in one folder the one whose files are there is told; a tie is left open."""
    install(tmp_path, "onnxruntime", "1.18.1")
    install(tmp_path, "onnxruntime-gpu", "1.19.2")
    install(tmp_path, "onnxruntime-extensions", "0.12")
    write(tmp_path / "onnxruntime/capi/x.so", "")
    write(tmp_path / "onnxruntime/__init__.py", '__version__ = "1.18.1"\n')
    found = look(tmp_path)["framework.onnxruntime"].value
    assert (found["version"], found["package"]) == ("1.18.1", "onnxruntime")

    install(tmp_path, "onnxruntime-directml", "1.18.1")
    assert "package" not in look(tmp_path)["framework.onnxruntime"].value


def keras(folder: Path, **environ: str) -> tuple[Any, Any]:
    """Return the configuration and the backend."""
    facts = look(folder, **environ)
    return facts["framework.keras_config"], facts["framework.keras_backend"]


DEFAULTS = {
    "backend": "tensorflow", "epsilon": 1e-07, "floatx": "float32",
    "image_data_format": "channels_last",
}  # fmt: skip


def test_keras_without_a_file(tmp_path: Path) -> None:
    """No file means Keras's defaults; the probe does not write one, as Keras would."""
    install(tmp_path, "keras", "3.5.0")
    config, backend = keras(tmp_path)

    assert (config.value, backend.value) == (DEFAULTS, "tensorflow")
    assert not (tmp_path / "home").exists()


def test_keras_where_its_file_is(tmp_path: Path) -> None:
    """keras.json in ~/.keras, or in KERAS_HOME; KERAS_BACKEND wins over both."""
    install(tmp_path, "keras", "3.5.0")
    write(
        tmp_path / "home/.keras/keras.json", json.dumps({"backend": "torch", "floatx": "float16"})
    )
    write(tmp_path / "home/other/keras.json", json.dumps({"backend": "jax"}))

    config, backend = keras(tmp_path)
    assert config.value == {**DEFAULTS, "backend": "torch", "floatx": "float16"}
    assert backend.value == "torch"
    assert keras(tmp_path, KERAS_HOME="~/other")[1].value == "jax"
    assert keras(tmp_path, KERAS_HOME=str(tmp_path / "home/other"))[1].value == "jax"
    assert keras(tmp_path, KERAS_BACKEND="")[1].value == "torch"
    config, backend = keras(tmp_path, KERAS_BACKEND="jax")
    assert (config.value["backend"], backend.value) == ("torch", "jax")


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "\x00"])
def test_keras_with_a_broken_file(tmp_path: Path, text: str) -> None:
    """Keras takes its defaults where keras.json is not JSON, and so do we."""
    install(tmp_path, "keras", "3.5.0")
    write(tmp_path / "home/.keras/keras.json", text)

    assert keras(tmp_path)[0].value == DEFAULTS


def test_keras_with_odd_values(tmp_path: Path) -> None:
    """Values of the wrong type are not told; a file that is no object is unknown."""
    install(tmp_path, "keras", "3.5.0")
    place = tmp_path / "home/.keras/keras.json"
    write(place, json.dumps({"backend": 5, "epsilon": "x", "secret": "hunter2"}))
    assert keras(tmp_path)[0].value == DEFAULTS

    place.write_text("[]")
    assert [fact.state for fact in keras(tmp_path)] == ["unknown", "unknown"]


def test_keras_2_has_one_backend(tmp_path: Path) -> None:
    """Keras 2 runs on TensorFlow whatever the variable says."""
    install(tmp_path, "keras", "2.15.0")

    assert keras(tmp_path, KERAS_BACKEND="jax")[1].value == "tensorflow"


def test_keras_of_an_image(tmp_path: Path) -> None:
    """Whose home folder an image will use is not known from its files."""
    install(tmp_path / "site", "keras", "3.5.0")
    host = Host(
        str(tmp_path), live=False, interpreter=Interpreter("3", "cpython", "", "", ("/site",))
    )
    facts = probe(host)

    assert facts["framework.keras_config"].state == "unknown"
    assert facts["framework.keras_backend"].state == "unknown"


@pytest.mark.parametrize("python", [True, False])
def test_every_key_in_every_case(tmp_path: Path, python: bool) -> None:
    """All keys are there, sorted: not applicable without frameworks, unknown without Python."""
    facts = look(tmp_path) if python else probe(Host(str(tmp_path)))

    assert list(facts) == sorted(keys_of("frameworks"))
    assert {fact.state for fact in facts.values()} == {"not_applicable" if python else "unknown"}
