"""Write a model in one environment, load it and predict with it in another.

    python worker.py write KIND FILE
    python worker.py read KIND FILE

The interpreter is that of the environment under test (CPython 3.9 or newer, no envcheck). Standard
output gets a line `loaded` once the file is read, and a last line with all output numbers as JSON.
"""

from __future__ import annotations

import json
import pickle
import random
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

ROWS, COLUMNS = 200, 6


def say(line: str) -> None:
    """Print a line at once, since a crash may follow."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def rows() -> list[list[float]]:
    """Return the inputs: the same numbers everywhere."""
    source = random.Random(7)
    return [[source.gauss(0, 1) for _ in range(COLUMNS)] for _ in range(ROWS)]


def labels() -> list[int]:
    """Return a label for each row, noisy enough that no model is certain."""
    source = random.Random(8)
    return [int(row[0] - row[1] + source.gauss(0, 1) > 0) for row in rows()]


def estimator(kind: str) -> Any:
    """Return an unfitted estimator."""
    sk = "sklearn."
    ensemble = import_module(sk + "ensemble")
    linear = import_module(sk + "linear_model")
    if kind == "pipeline":
        scaler = import_module(sk + "preprocessing").StandardScaler()
        return import_module(sk + "pipeline").make_pipeline(scaler, linear.Ridge())
    if kind in ("columns", "passthrough"):
        scaler = import_module(sk + "preprocessing").StandardScaler()
        columns = import_module(sk + "compose").make_column_transformer(
            (scaler, [0, 1]), remainder="drop" if kind == "columns" else "passthrough"
        )
        return import_module(sk + "pipeline").make_pipeline(columns, linear.Ridge())
    if kind in ("lightgbm", "xgboost"):
        name = {"lightgbm": "LGBMClassifier", "xgboost": "XGBClassifier"}[kind]
        return getattr(import_module(kind), name)(n_estimators=10)
    makers = {
        "tree": import_module(sk + "tree").DecisionTreeClassifier,
        "forest": ensemble.RandomForestClassifier,
        "knn": import_module(sk + "neighbors").KNeighborsClassifier,
        "logistic": linear.LogisticRegression,
        "boosting": ensemble.GradientBoostingClassifier,
        "histogram": ensemble.HistGradientBoostingClassifier,
        "svm": import_module(sk + "svm").SVC,
    }
    seeded = {"tree", "forest", "boosting", "histogram"}
    options = {"max_depth": 4, "random_state": 0} if kind in seeded else {}
    return makers[kind](**options)


def judged(model: Any) -> Any:
    """Return the finest numbers that an estimator gives."""
    inputs = import_module("numpy").array(rows())
    for name in ("predict_proba", "decision_function", "predict"):
        if hasattr(model, name):
            return getattr(model, name)(inputs)
    raise TypeError(type(model))


def network(keras: Any) -> Any:
    """Return a small network with fixed weights."""
    model = keras.Sequential(
        [
            keras.Input(shape=(COLUMNS,)),
            keras.layers.Dense(8, activation="relu"),
            keras.layers.BatchNormalization(),
            keras.layers.Dense(2, activation="softmax"),
        ]
    )
    source = random.Random(9)
    numpy = import_module("numpy")
    fixed = []
    for array in model.get_weights():
        flat = [abs(source.gauss(0, 1)) for _ in range(array.size)]
        fixed.append(numpy.array(flat, "float32").reshape(array.shape))
    model.set_weights(fixed)
    return model


def floats() -> Any:
    """Return the inputs as an array of 32-bit numbers."""
    return import_module("numpy").array(rows(), "float32")


def write_graph(kind: str, path: str) -> Any:
    """Write an ONNX file: as the installed onnx does it, or at a low version of the format."""
    onnx = import_module("onnx")
    helper, float32 = onnx.helper, onnx.TensorProto.FLOAT
    source = random.Random(9)
    weights = [source.gauss(0, 1) for _ in range(COLUMNS * 2)]
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "w"], ["y"]),
            helper.make_node("Softmax", ["y"], ["z"]),
        ],
        "network",
        [helper.make_tensor_value_info("x", float32, [None, COLUMNS])],
        [helper.make_tensor_value_info("z", float32, [None, 2])],
        [helper.make_tensor("w", float32, [COLUMNS, 2], weights)],
    )
    low = {"opset_imports": [helper.make_opsetid("", 17)], "ir_version": 8}
    opset = {"opset_imports": [helper.make_opsetid("", onnx.defs.onnx_opset_version())]}
    options = {"onnx": {}, "onnx-low": low, "onnx-low-ir": {**opset, "ir_version": 8}}[kind]
    model = helper.make_model(graph, **options)
    onnx.save(model, path)
    return import_module("onnx.reference").ReferenceEvaluator(model).run(None, {"x": floats()})[0]


def write_converted(path: str) -> Any:
    """Write a scikit-learn model that was converted to ONNX."""
    skl2onnx = import_module("skl2onnx")
    model = estimator("logistic").fit(floats(), labels())
    made = skl2onnx.to_onnx(model, floats()[:1], options={"zipmap": False})
    Path(path).write_bytes(made.SerializeToString())
    return model.predict_proba(floats())


def write(kind: str, path: str) -> Any:
    """Write a model and return its outputs."""
    if kind == "array":
        array = import_module("numpy").array(rows())
        with open(path, "wb") as file:
            pickle.dump({"weights": array}, file)
        return array
    if kind == "onnx-sklearn":
        return write_converted(path)
    if kind.startswith("onnx"):
        return write_graph(kind, path)
    if kind in ("keras", "h5", "saved-model"):
        tensorflow = import_module("tensorflow")
        model = network(tensorflow.keras)
        if kind == "saved-model" and hasattr(model, "export"):
            model.export(path)
        else:
            model.save(path)
        return model.predict(floats(), verbose=0)
    fitted = estimator(kind).fit(import_module("numpy").array(rows()), labels())
    import_module("joblib").dump(fitted, path)
    return judged(fitted)


def read(kind: str, path: str) -> Any:
    """Load a model, say so, and return its outputs."""
    if kind == "array":
        with open(path, "rb") as file:
            array = pickle.load(file)["weights"]
        say("loaded")
        return array + 0
    if kind.startswith("onnx"):
        session = import_module("onnxruntime").InferenceSession(
            path, providers=["CPUExecutionProvider"]
        )
        say("loaded")
        return session.run(None, {session.get_inputs()[0].name: floats()})[-1]
    if kind == "saved-model":
        tensorflow = import_module("tensorflow")
        serve = tensorflow.saved_model.load(path).signatures["serving_default"]
        say("loaded")
        name = next(iter(serve.structured_input_signature[1]))
        return next(iter(serve(**{name: tensorflow.constant(floats())}).values())).numpy()
    if kind in ("keras", "h5"):
        model = import_module("tensorflow").keras.models.load_model(path)
        say("loaded")
        return model.predict(floats(), verbose=0)
    model = import_module("joblib").load(path)
    say("loaded")
    return judged(model)


def main() -> None:
    """Do what the arguments say."""
    action, kind, path = sys.argv[1:4]
    outputs = {"write": write, "read": read}[action](kind, path)
    say(json.dumps([float(number) for number in outputs.ravel()]))


if __name__ == "__main__":
    main()
