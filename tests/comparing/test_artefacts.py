"""Model files: what is compared, what reads them, and what they need."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from envcheck.comparing.artefacts import Artefact, shipped_artefacts
from envcheck.comparing.compare import compare_fingerprints
from envcheck.comparing.estimators import BREAK, estimator_checks
from envcheck.comparing.keras_files import keras_major
from envcheck.comparing.onnx_files import onnx_ir, onnx_opset, quantised_for_vnni
from envcheck.comparing.pickle_files import numpy_generator, pickle_protocol
from envcheck.comparing.readers import Reader
from envcheck.facts import error, ok, unknown
from envcheck.policy.model import Policy
from tests.comparing.making import inventory, made, package

DATA = Path(__file__).parent / "data"
MATRIX = json.loads((DATA / "estimators.json").read_text("utf-8"))
ONNX = {"format": "onnx", "ir_version": 8, "opsets": {"": 17}, "imports": [], "holds_code": False}
PICKLE = {"format": "joblib", "imports": ["joblib", "sklearn"], "holds_code": False}


def artefact(value: dict[str, Any], name: str = "m") -> Artefact:
    """Return a model file that the train side has recorded."""
    return Artefact(name=name, side="train", fact=ok(value))


def reader(**packages: str) -> Reader:
    """Return a deploy environment with some packages."""
    side = made({}, **packages)
    return Reader(inventory=inventory("deploy", side), writer=made({}))


@pytest.mark.parametrize(
    ("runtime", "version", "outcome"),
    [
        ("1.17.1", 10, "misfit"),
        ("1.17.1", 9, "fits"),
        ("1.17.0", 9, "fits"),
        ("1.22.0", 11, "misfit"),
        ("1.23.2", 11, "fits"),
        ("1.14.1", 8, "fits"),
        ("1.14.1", 9, "undetermined"),
        ("1.14.1", 10, "misfit"),
        ("1.33.0", 14, "fits"),
        ("1.33.0", 15, "undetermined"),
        ("0.5.0", 3, "undetermined"),
        ("1.20.0+cu12", 11, "misfit"),
    ],
)
def test_onnx_ir(runtime: str, version: int, outcome: str) -> None:
    """A release is judged by its minor release; one outside the table only where it is certain."""
    check = onnx_ir(artefact({**ONNX, "ir_version": version}), reader(onnxruntime=runtime))

    assert check is not None
    assert check.outcome == outcome


def test_the_first_release_that_reads_a_file_is_the_cure() -> None:
    """The command names the lowest release that reads the file."""
    check = onnx_ir(artefact({**ONNX, "ir_version": 11}), reader(onnxruntime="1.20.1"))

    assert check is not None
    assert check.wanted == "onnxruntime>=1.23"


def test_the_worst_operator_set_counts() -> None:
    """ai.onnx.ml has a limit of its own; a domain without a limit is not asked."""
    opsets = {"": 17, "ai.onnx.ml": 9, "com.microsoft": 99}
    check = onnx_opset(artefact({**ONNX, "opsets": opsets}), reader(onnxruntime="1.20.1"))

    assert check is not None
    assert (check.outcome, check.needs) == ("misfit", "ai.onnx.ml 9")


def test_without_onnx_runtime_nothing_is_asked_of_it() -> None:
    """That nothing can run the file is another rule's matter."""
    assert onnx_ir(artefact(ONNX), reader(numpy="2.0.0")) is None


@pytest.mark.parametrize(
    ("operators", "types", "asked"),
    [
        (["DynamicQuantizeLinear", "MatMulInteger"], ["int8"], True),
        (["QLinearConv"], ["int8", "uint8"], True),
        (["QuantizeLinear", "DequantizeLinear"], ["int8", "uint8"], True),
        (["QuantizeLinear", "DequantizeLinear"], ["int8"], False),
        (["DequantizeLinear"], ["int8"], False),
        (["MatMulNBits"], ["uint8"], False),
        (["DynamicQuantizeLinear", "MatMulInteger"], ["uint8"], False),
    ],
)
def test_only_unsigned_by_signed_bytes_saturate(
    operators: list[str], types: list[str], asked: bool
) -> None:
    """Graphs that multiply other types, or widen them first, are not asked about."""
    file = artefact({**ONNX, "quantised_ops": operators, "int8_weight_types": types})
    check = quantised_for_vnni(file, reader(onnxruntime="1.20.1"))

    assert (check is not None) == asked


@pytest.mark.parametrize(
    ("form", "wrote", "packages", "outcome"),
    [
        ("keras", "3.4.1", {"keras": "2.15.0"}, "misfit"),
        ("keras", "2.15.0", {"keras": "3.4.1"}, "misfit"),
        ("hdf5", "3.4.1", {"keras": "2.15.0"}, "misfit"),
        ("hdf5", "2.15.0", {"keras": "3.4.1"}, "fits"),
        ("keras", "2.15.0", {"keras": "3.4.1", "tf_keras": "2.17.0"}, "fits"),
        ("keras", "3.4.1", {"tensorflow": "2.4.1"}, "misfit"),
        ("keras", "1.2.2", {"keras": "3.4.1"}, "undetermined"),
    ],
)
def test_keras_major(form: str, wrote: str, packages: dict[str, str], outcome: str) -> None:
    """Both majors refuse each other's .keras files; only the old .h5 is read by the new one."""
    check = keras_major(artefact({"format": form, "keras_version": wrote}), reader(**packages))

    assert check is not None
    assert check.outcome == outcome


def test_a_protocol_that_every_python_3_knows_is_not_asked() -> None:
    """Only protocols 4 and 5 came after Python 3.0."""
    assert pickle_protocol(artefact({**PICKLE, "protocol": 3}), reader()) is None


def test_a_generator_that_numpy_1_stored_is_not_asked() -> None:
    """Numpy 1 stores the name of the bit generator, numpy 2 its class."""
    names = ["numpy.random._pickle.__generator_ctor", "numpy.random._pickle.__bit_generator_ctor"]
    file = artefact({**PICKLE, "globals": names})

    assert numpy_generator(file, reader(numpy="1.26.4")) is None


@pytest.mark.parametrize("row", MATRIX["models"], ids=lambda row: f"{row['model']} {row['writer']}")
def test_estimators_are_judged_as_they_were_measured(row: dict[str, Any]) -> None:
    """Every outcome of the measured matrix is told, but for logistic regressions of 3 classes.

    The file does not tell how many classes there are, and only binary models change.
    """
    file = artefact(
        {**PICKLE, "globals": row["names"], "sklearn_versions": [row["writer"]]}, row["model"]
    )
    told = {
        release
        for release in MATRIX["releases"]
        for check in estimator_checks(file, reader(scikit_learn=release))
        if check.kind == BREAK and check.outcome == "misfit"
    }
    if row["model"] == "LogisticRegression3":
        told = set()

    assert told == set(row["shows"])


def test_files_of_the_deploy_side_count() -> None:
    """What the deploy side has recorded is shipped; else what the train side has."""
    here = made({"model.a.onnx": ONNX, "model.b.onnx": ONNX})
    there = made({"model.b.onnx": ONNX})

    assert [one.side for one in shipped_artefacts(here, there)] == ["deploy"]
    assert [one.name for one in shipped_artefacts(here, made({}))] == ["a.onnx", "b.onnx"]


def findings(train: Any, deploy: Any, **more: Any) -> dict[str, str]:
    """Return the rules that fire with their severity."""
    report = compare_fingerprints(train, deploy, **more)
    return {f"{one.rule} {one.subject}": one.severity for one in report.findings}


def test_a_model_decides_which_packages_count() -> None:
    """With an ONNX file alone, a missing framework is information and a runtime an error."""
    train = made(
        {"model.m.onnx": ONNX}, onnxruntime="1.20.1", tensorflow="2.17.0", scikit_learn="1.5.2"
    )
    found = findings(train, made({}, scikit_learn="1.2.2", numpy="1.26.4"))

    assert found["ENV119 package.onnxruntime"] == "error"
    assert found["ENV059 package.tensorflow"] == "info"
    assert found["ENV058 package.scikit-learn"] == "info"


@pytest.mark.parametrize(
    "fact",
    [unknown("it may not be read"), error("it is truncated"), ok({"format": "unknown"}),
     ok({**PICKLE, "unresolved_globals": 1}),
     ok({**PICKLE, "unread": [{"field": "imports", "reason": "too long"}]})],
)  # fmt: skip
def test_nothing_is_unused_where_a_file_does_not_tell_all(fact: Any) -> None:
    """A file that could not be read whole may import anything."""
    train = made({"model.m": fact}, scikit_learn="1.5.2", tensorflow="2.17.0")
    found = findings(train, made({}, scikit_learn="1.5.2"))

    assert found["ENV050 package.tensorflow"] == "error"


def test_what_a_needed_package_requires_is_needed() -> None:
    """The closure over Requires-Dist on the deploy side is not unused."""
    needs = package("1.20.1", requires=["protobuf>=3"])
    train = made({"model.m.onnx": ONNX}, onnxruntime=needs, protobuf="4.25.0")
    found = findings(train, made({}, onnxruntime=needs, protobuf="3.20.3"))

    assert found["ENV043 package.protobuf"] == "warning"


def test_declared_roots_make_preprocessing_superfluous() -> None:
    """Without them the code that serves the model may use it; with them it does not."""
    train = made({"model.m.onnx": ONNX}, onnxruntime="1.20.1", pandas="2.2.2")
    deploy = made({}, onnxruntime="1.20.1", pandas="1.5.3")

    assert findings(train, deploy)["ENV044 package.pandas"] == "warning"
    policy = Policy(roots=("onnxruntime",))
    assert findings(train, deploy, policy=policy)["ENV058 package.pandas"] == "info"


def test_a_requirement_of_an_unused_package_is_off_the_path() -> None:
    """What only an unused package asks for breaks nothing."""
    broken = package("2.17.0", requires=["h5py>=3.10"])
    side = made({"model.m.onnx": ONNX}, onnxruntime="1.20.1", tensorflow=broken)
    train = made({"model.m.onnx": ONNX}, onnxruntime="1.20.1")

    assert findings(train, side)["ENV054 package.h5py"] == "info"
    del side.facts["model.m.onnx"], train.facts["model.m.onnx"]
    assert findings(train, side)["ENV052 package.h5py"] == "error"


def test_the_report_says_what_it_took_as_needed() -> None:
    """With a file it names what is not needed, without one that everything counts."""
    packages = {"onnxruntime": "1.20.1", "scikit_learn": "1.5.2"}
    with_file = made({"model.m.onnx": ONNX}, **packages)
    report = compare_fingerprints(with_file, with_file)

    assert any("Not needed: scikit-learn" in note for note in report.notes)
    report = compare_fingerprints(made({}, **packages), made({}, **packages))
    assert any("no model file is recorded" in note for note in report.notes)


def test_code_of_the_project_is_said_not_reported() -> None:
    """An import that no distribution provides on either side stands in the notes."""
    value = {**PICKLE, "imports": ["shop_features"]}
    side = made({"model.m": value}, scikit_learn="1.5.2")
    report = compare_fingerprints(side, side)

    assert any("shop_features" in note for note in report.notes)
    assert not any(item.rule == "ENV119" for item in report.undetermined)


def test_a_name_with_any_characters_is_a_subject() -> None:
    """The subject of a finding is the key of the fact, whatever the file is called."""
    name = "model.a b/ü?.onnx"
    train, deploy = made({name: {**ONNX, "sha256": "a"}}), made({name: {**ONNX, "sha256": "b"}})

    assert findings(train, deploy)[f"ENV100 {name}"] == "error"
