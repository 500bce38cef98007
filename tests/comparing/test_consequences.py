"""What the rules say happens, provoked in real environments (slow; needs a package index)."""

from __future__ import annotations

import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from envcheck.artefacts.describing import describe
from envcheck.artefacts.files import Place
from envcheck.comparing.compare import compare_fingerprints
from envcheck.facts import ok
from envcheck.findings import Finding
from tests.comparing.making import made

pytestmark = pytest.mark.slow

NUMPY_1 = ("numpy==1.26.4", "scipy==1.13.1", "joblib==1.4.2")
FIT = """
import sys, joblib
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
x, y = make_classification(200, 5, random_state=0)
kinds = {"linear": LogisticRegression(), "forest": RandomForestClassifier(10, random_state=0)}
model = kinds[sys.argv[1]].fit(x, y)
joblib.dump(model, sys.argv[2])
joblib.dump(model.predict_proba(x), sys.argv[3])
"""
PREDICT = """
import sys, warnings, joblib
warnings.simplefilter("ignore")
from sklearn.datasets import make_classification
x, _ = make_classification(200, 5, random_state=0)
model, before = joblib.load(sys.argv[1]), joblib.load(sys.argv[2])
after = model.predict_proba(x)
print(abs(after - before).max(), (after.argmax(1) != before.argmax(1)).sum(),
      ((after[:, 1] > 0.3) != (before[:, 1] > 0.3)).sum())
"""
MARSHAL = """
import marshal, sys
with open(sys.argv[1], "wb") as file:
    marshal.dump((lambda x: [y * 2.0 for y in x if y]).__code__, file)
"""
UNMARSHAL = """
import marshal, sys, types
with open(sys.argv[1], "rb") as file:
    code = marshal.load(file)
print(types.FunctionType(code, {})([1.0, 2.0]))
"""
PROMOTION = """
import json, warnings, numpy as np
warnings.simplefilter("ignore")
print(json.dumps([int(np.uint8(200) + 100), str((np.float32(1) + 1.0).dtype)]))
"""
KERAS = """
import os, sys
os.environ.update(KERAS_BACKEND="jax", TF_CPP_MIN_LOG_LEVEL="3")
import keras
if sys.argv[1] == "read":
    keras.models.load_model(sys.argv[2])
else:
    layers = [keras.layers.InputLayer((3,)), keras.layers.Dense(2),
              keras.layers.BatchNormalization()]
    keras.Sequential(layers).save(sys.argv[2])
"""
KERAS_2 = ("tensorflow-cpu==2.15.1",)
KERAS_3 = ("keras==3.15.1", "jax", "jaxlib")


def interpreter(release: str) -> str:
    """Return a Python of a minor release; skip the test where there is none."""
    places = sorted(Path.home().glob(f".pyenv/versions/{release}.*/bin/python"))
    found = [str(places[-1])] if places else []
    on_path = shutil.which(f"python{release}")
    for python in [*found, *([on_path] if on_path else [])]:
        if run(python, "-c", "pass").returncode == 0:
            return python
    pytest.skip(f"there is no Python {release} here")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a program without the variables of this process's Python."""
    return subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)


@pytest.fixture(scope="session")
def environments(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a function that makes a virtual environment with some packages, each once."""

    @cache
    def make(release: str, *requirements: str) -> str:
        folder = tmp_path_factory.mktemp("venv")
        assert run(interpreter(release), "-m", "venv", str(folder)).returncode == 0
        python = str(folder / "bin" / "python")
        done = run(python, "-m", "pip", "install", "--quiet", *requirements)
        assert done.returncode == 0, done.stderr[-2000:]
        return python

    return make


def described(path: Path) -> Any:
    """Return the fact that a capture would record of a model file."""
    return ok(describe(Place(str(path), lambda name: name)))


def cause(path: Path, train: dict[str, str], deploy: dict[str, str], **facts: str) -> Finding:
    """Return the first finding about a file that is written on one side and read on the other."""
    here = made({f"model.{path.name}": described(path)}, **train)
    report = compare_fingerprints(here, made(dict(facts), **deploy))
    return report.findings[0]


@pytest.mark.parametrize(
    ("kind", "wrote", "reads", "shows"),
    [
        ("linear", "1.5.2", "1.3.2", "probabilities move by up to 0.15"),
        ("forest", "1.5.2", "1.3.2", None),
        ("forest", "1.3.2", "1.5.2", "fail at the first prediction"),
        ("forest", "1.2.2", "1.3.2", "do not load"),
    ],
)
def test_scikit_learn(
    environments: Any, tmp_path: Path, kind: str, wrote: str, reads: str, shows: str | None
) -> None:
    """The rule tells what really happens to the file, and is silent where nothing does."""
    model, outputs = tmp_path / "model.joblib", tmp_path / "outputs.joblib"
    writer = environments("3.11", f"scikit-learn=={wrote}", *NUMPY_1)
    reader = environments("3.11", f"scikit-learn=={reads}", *NUMPY_1)
    assert run(writer, "-c", FIT, kind, str(model), str(outputs)).returncode == 0

    seen = run(reader, "-c", PREDICT, str(model), str(outputs))
    found = cause(model, {"scikit_learn": wrote}, {"scikit_learn": reads})

    if shows is None:
        assert seen.returncode == 0
        assert float(seen.stdout.split()[0]) < 1e-9
        assert found.rule == "ENV114"
        return
    assert (found.rule, found.severity) == ("ENV111", "error")
    assert shows in found.detail
    if kind == "linear":
        moved, flipped, crossed = seen.stdout.split()
        assert round(float(moved), 2) == 0.15
        assert flipped == "0"
        assert int(crossed) > 0
    else:
        assert seen.returncode != 0
        assert ("monotonic_cst" if wrote == "1.3.2" else "incompatible dtype") in seen.stderr


def test_onnx_ir_above_the_limit(environments: Any, tmp_path: Path) -> None:
    """A file of IR 10 is refused by ONNX Runtime 1.17, and read by 1.18."""
    model = tmp_path / "model.onnx"
    writer = environments("3.11", "onnx==1.16.0", "numpy==1.26.4")
    write = f"""
import onnx
from onnx import TensorProto, helper
value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1])
graph = helper.make_graph([helper.make_node("Abs", ["x"], ["y"])], "g", [value("x")], [value("y")])
made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
onnx.save(made, {str(model)!r})
"""
    assert run(writer, "-c", write).returncode == 0
    load = f"import onnxruntime; onnxruntime.InferenceSession({str(model)!r})"
    outcomes = {}
    for release in ("1.17.3", "1.18.1"):
        reader = environments("3.11", f"onnxruntime=={release}", "numpy==1.26.4")
        outcomes[release] = run(reader, "-c", load)

    assert "Unsupported model IR version: 10" in outcomes["1.17.3"].stderr
    assert outcomes["1.18.1"].returncode == 0, outcomes["1.18.1"].stderr
    assert cause(model, {}, {"onnxruntime": "1.17.3"}).rule == "ENV102"
    found = compare_fingerprints(
        made({"model.m.onnx": described(model)}), made({}, onnxruntime="1.18.1")
    )
    assert not any(one.rule == "ENV102" for one in found.findings)


@pytest.mark.parametrize(
    ("release", "seen"), [("3.10", "refused"), ("3.12", "fails"), ("3.13", "fails")]
)
def test_byte_code_of_another_python(tmp_path: Path, release: str, seen: str) -> None:
    """Code of 3.11 is refused by an older Python; a newer one fails when it is called.

    How it fails is not defined: some code ends the process, some raises what makes no sense.
    """
    code = tmp_path / "code.bin"
    assert run(interpreter("3.11"), "-c", MARSHAL, str(code)).returncode == 0
    same = run(interpreter("3.11"), "-c", UNMARSHAL, str(code))
    other = run(interpreter(release), "-c", UNMARSHAL, str(code))

    assert same.stdout == "[2.0, 4.0]\n"
    if seen == "refused":
        assert "bad marshal data" in other.stderr
    else:
        assert other.returncode != 0
        assert "bad marshal data" not in other.stderr


@pytest.mark.parametrize(
    ("wrote", "reads"), [(KERAS_3, KERAS_2), (KERAS_2, KERAS_3)], ids=["3 to 2", "2 to 3"]
)
def test_keras_formats(
    environments: Any, tmp_path: Path, wrote: tuple[str, ...], reads: tuple[str, ...]
) -> None:
    """A .keras file of one major version does not load under the other, and the rule says so."""
    model = tmp_path / "model.keras"
    done = run(environments("3.11", *wrote), "-c", KERAS, "write", str(model))
    assert done.returncode == 0, done.stderr[-2000:]

    own = run(environments("3.11", *wrote), "-c", KERAS, "read", str(model))
    other = run(environments("3.11", *reads), "-c", KERAS, "read", str(model))

    assert own.returncode == 0, own.stderr[-2000:]
    assert other.returncode != 0
    assert "Error" in other.stderr
    versions = {KERAS_2: "2.15.0", KERAS_3: "3.15.1"}
    found = cause(model, {"keras": versions[wrote]}, {"keras": versions[reads]})
    assert (found.rule, found.severity) == ("ENV108", "error")


def test_promotion_of_numpy_2(environments: Any) -> None:
    """uint8(200) + 100 is 300 under numpy 1 and 44 under numpy 2."""
    results = {}
    for release in ("1.26.4", "2.1.3"):
        done = run(environments("3.11", f"numpy=={release}"), "-c", PROMOTION)
        results[release] = json.loads(done.stdout)

    assert results == {"1.26.4": [300, "float64"], "2.1.3": [44, "float32"]}
    found = compare_fingerprints(made({}, numpy="1.26.4"), made({}, numpy="2.1.3")).findings
    assert [(one.rule, one.severity) for one in found][:1] == [("ENV042", "warning")]
