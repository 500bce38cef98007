"""Make the small models of `data/` and `expected.json`, what their own libraries say of them.

    python -m venv /somewhere/venv
    /somewhere/venv/bin/pip install tensorflow-cpu tf_keras tf2onnx onnx onnxruntime \
        scikit-learn h5py safetensors cloudpickle dill joblib
    /somewhere/venv/bin/python tests/artefacts/make_data.py

Run it only to change the data: other versions of the libraries give other bytes. Every expected
value comes from the library that wrote the file, from its own reader, or from a plain unpickler
that notes the names it resolves; none comes from envcheck.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
DATA = Path(__file__).parent / "data"
EXPECTED: dict[str, dict[str, Any]] = {}
CUSTOM = """
import keras

@keras.saving.register_keras_serializable(package="Shop")
class Scale(keras.layers.Layer):
    def call(self, x):
        return x * 2.0

class Unregistered(keras.layers.Layer):
    def call(self, x):
        return x + 1.0

def twice(x):
    return x * 2.0
"""


LAMBDAS = "scale = 3\ndouble = lambda x: x * 2.0\nscaled = lambda value: value * scale\n"


def lambdas() -> dict[str, Any]:
    """Return functions whose code names `train.py` as its file, not this script's path."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(LAMBDAS, "train.py", "exec"), names)
    return names


def expect(name: str, **facts: Any) -> None:
    """Note what is known about a file."""
    EXPECTED[name] = facts


def make_onnx() -> None:
    """Make models of onnx.helper, ONNX Runtime's quantiser and tf2onnx."""
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime.quantization import QuantType, quantize_dynamic

    weight = numpy_helper.from_array(numpy.ones((4, 3), numpy.float32), "w")
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    graph = helper.make_graph(
        [node],
        "plain",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 3])],
        [weight],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    plain = helper.make_model(
        graph, producer_name="shop", producer_version="1.2", opset_imports=opsets, ir_version=8
    )
    onnx.checker.check_model(plain)
    onnx.save(plain, str(DATA / "plain.onnx"))
    _expect_onnx("plain.onnx", plain)

    helper.set_model_props(plain, {"envcheck": "x" * 500, "author": "someone"})
    onnx.save(plain, str(DATA / "plain_with_metadata.onnx"))

    quantize_dynamic(DATA / "plain.onnx", DATA / "dynamic_int8.onnx", weight_type=QuantType.QInt8)
    _expect_onnx("dynamic_int8.onnx", onnx.load(str(DATA / "dynamic_int8.onnx")))

    _make_onnx_functions(onnx)
    _make_onnx_external(onnx, numpy)
    _make_onnx_branches(onnx)


def _make_onnx_functions(onnx: Any) -> None:
    from onnx import TensorProto, helper

    double = helper.make_function(
        "shop.local",
        "Double",
        ["a"],
        ["b"],
        [helper.make_node("Add", ["a", "a"], ["b"])],
        [helper.make_opsetid("", 17)],
    )
    nodes = [
        helper.make_node("Double", ["x"], ["t"], domain="shop.local"),
        helper.make_node("Magic", ["t"], ["u"], domain="shop.ops"),
        helper.make_node("FusedGelu", ["u"], ["y"], domain="com.microsoft"),
    ]
    graph = helper.make_graph(
        nodes,
        "custom",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT16, [1])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT16, None)],
    )
    opsets = [
        helper.make_opsetid(name, 17 if not name else 1)
        for name in ("", "shop.local", "shop.ops", "com.microsoft")
    ]
    model = helper.make_model(graph, functions=[double], opset_imports=opsets, ir_version=9)
    onnx.save(model, str(DATA / "functions.onnx"))
    _expect_onnx("functions.onnx", model, custom_domains=["shop.ops"])


def _make_onnx_external(onnx: Any, numpy: Any) -> None:
    from onnx import TensorProto, helper, numpy_helper

    weight = numpy_helper.from_array(numpy.ones((16, 16), numpy.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "external",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 16])],
        [weight],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(
        model,
        str(DATA / "external.onnx"),
        save_as_external_data=True,
        location="external.weights",
        size_threshold=0,
    )
    expect(
        "external.onnx",
        format="onnx",
        external_data=["external.weights"],
        external_missing=[],
        external_short=[],
        external_outside=[],
        external_bytes=(DATA / "external.weights").stat().st_size,
    )


def _make_onnx_branches(onnx: Any) -> None:
    from onnx import TensorProto, helper

    def branch(name: str, operator: str) -> Any:
        out = helper.make_tensor_value_info(name, TensorProto.FLOAT, [1])
        return helper.make_graph([helper.make_node(operator, ["x"], [name])], name, [], [out])

    node = helper.make_node(
        "If", ["c"], ["y"], then_branch=branch("a", "Sin"), else_branch=branch("b", "Cos")
    )
    graph = helper.make_graph(
        [node],
        "branches",
        [
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [1]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    onnx.save(model, str(DATA / "branches.onnx"))
    expect("branches.onnx", format="onnx", ir_version=10, ops=["Cos", "If", "Sin"], node_count=3)


def _expect_onnx(name: str, model: Any, **more: Any) -> None:
    """Note what onnx itself reads."""
    from onnx import TensorProto

    def value(info: Any) -> dict[str, Any]:
        tensor = info.type.tensor_type
        names = {TensorProto.FLOAT: "float32", TensorProto.FLOAT16: "float16"}
        out: dict[str, Any] = {"name": info.name, "dtype": names[tensor.elem_type]}
        if tensor.HasField("shape"):
            out["shape"] = [d.dim_param or d.dim_value for d in tensor.shape.dim]
        return out

    operators = {node.op_type for node in model.graph.node}
    types = {TensorProto.DataType.Name(item.data_type).lower() for item in model.graph.initializer}
    facts = {
        "format": "onnx",
        "ir_version": model.ir_version,
        "opsets": {item.domain: item.version for item in model.opset_import},
        "producer": model.producer_name,
        "producer_version": model.producer_version,
        "quantised": bool(operators & {"MatMulInteger", "DynamicQuantizeLinear"}),
        "int8_weight_types": sorted(types & {"int8", "uint8"}),
        "inputs": [value(item) for item in model.graph.input],
        "outputs": [value(item) for item in model.graph.output],
        "functions": len(model.functions),
        "custom_domains": [],
    }
    expect(name, **{**facts, **more})


def make_keras() -> None:
    """Make Keras 3 archives, legacy HDF5 files, a SavedModel, and TFLite and ONNX made of it."""
    import keras
    import tensorflow as tf

    sys.path.insert(0, str(DATA))
    (DATA / "shop_layers.py").write_text(CUSTOM, "utf-8")
    import shop_layers

    def dense(*extra: Any) -> Any:
        layers = [
            keras.layers.Input((4,), name="x"),
            keras.layers.Dense(3, activation="relu", name="hidden"),
            *extra,
            keras.layers.Dense(2, name="out"),
        ]
        return keras.Sequential(layers)

    def save(name: str, model: Any, **more: Any) -> None:
        model.save(DATA / name)
        counts: dict[str, int] = {}
        for layer in model._layers:
            counts[type(layer).__name__] = counts.get(type(layer).__name__, 0) + 1
        kind = "keras" if name.endswith(".keras") else "hdf5"
        expect(
            name,
            format=kind,
            keras_version=keras.__version__,
            layer_classes=counts,
            layers=len(model._layers),
            **more,
        )

    plain = {"holds_code": False, "custom_objects": [], "imports": ["keras"], "quantised": False}
    model = dense()
    save("plain.keras", model, compiled=False, dtype_policies=["float32"], **plain)
    save("plain_keras3.h5", model, backend="tensorflow", weights_only=False, **plain)
    _make_savedmodel(model, tf)
    _make_tflite(model, tf)
    _make_tf2onnx(model)
    model.save_weights(DATA / "only.weights.h5")
    expect("only.weights.h5", format="hdf5")
    model.compile("adam", "mse")
    save("compiled.keras", model, compiled=True, **plain)
    code = keras.layers.Lambda(lambdas()["double"], name="doubled")
    more = {"holds_code": True, "imports": ["keras"], "lambda_layers": ["doubled"]}
    save("lambda.keras", dense(code), **more)
    save("lambda_keras3.h5", dense(code), **more)
    save(
        "custom.keras",
        dense(
            shop_layers.Scale(), shop_layers.Unregistered(), keras.layers.Lambda(shop_layers.twice)
        ),
        custom_objects=["Shop>Scale", "shop_layers.Unregistered", "twice"],
        imports=["keras", "shop_layers"],
        holds_code=False,
        lambda_layers=[],
    )
    keras.config.set_dtype_policy("mixed_float16")
    save("mixed.keras", dense(), dtype_policies=["float32", "mixed_float16"], **plain)
    keras.config.set_dtype_policy("float32")
    (DATA / "shop_layers.py").unlink()
    shutil.rmtree(DATA / "__pycache__", ignore_errors=True)


def _make_savedmodel(model: Any, tf: Any) -> None:
    model.export(DATA / "exported", verbose=False)
    _expect_savedmodel("exported", tf, keras_metadata=False, holds_code=False)


def _expect_savedmodel(name: str, tf: Any, **more: Any) -> None:
    """Note what TensorFlow's own protobuf classes read."""
    from tensorflow.core.protobuf import saved_model_pb2

    parsed = saved_model_pb2.SavedModel()
    parsed.ParseFromString((DATA / name / "saved_model.pb").read_bytes())
    graph = parsed.meta_graphs[0]
    nodes = [*graph.graph_def.node]
    for function in graph.graph_def.library.function:
        nodes += function.node_def
    listed = {item.name for item in graph.meta_info_def.stripped_op_list.op}
    expect(
        name,
        format="savedmodel",
        tensorflow_version=tf.__version__,
        tensorflow_git_version=tf.version.GIT_VERSION,
        tags=["serve"],
        graph_producer=graph.graph_def.versions.producer,
        min_consumer=graph.graph_def.versions.min_consumer,
        ops=sorted(listed | {node.op for node in nodes}),
        signature_names=sorted(graph.signature_def),
        missing_files=[],
        **more,
    )


def _make_tflite(model: Any, tf: Any) -> None:
    def convert(name: str, *, optimise: bool, types: Any = None) -> None:
        converter = tf.lite.TFLiteConverter.from_keras_model(model)
        if optimise:
            converter.optimizations = [tf.lite.Optimize.DEFAULT]
        if types:
            converter.representative_dataset = lambda: ([tf.ones((1, 4))] for _ in range(4))
            converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
            converter.inference_input_type = converter.inference_output_type = types
        data = converter.convert()
        (DATA / name).write_bytes(data)
        reader = tf.lite.Interpreter(model_content=data)
        details = reader.get_tensor_details()
        expect(
            name,
            format="tflite",
            schema_version=3,
            custom_ops=[],
            quantised=any(
                len(item["quantization_parameters"]["scales"])
                and item["dtype"].__name__ in ("int8", "uint8")
                for item in details
            ),
            inputs=[
                {
                    "name": item["name"],
                    "dtype": item["dtype"].__name__,
                    "shape": [None if n < 0 else int(n) for n in item["shape_signature"]],
                }
                for item in reader.get_input_details()
            ],
        )

    convert("float.tflite", optimise=False)
    convert("int8.tflite", optimise=True, types=tf.int8)

    class Custom(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([4], tf.float32)])
        def run(self, x: Any) -> Any:
            return tf.raw_ops.Betainc(a=x, b=x, x=x)

    function = Custom().run.get_concrete_function()
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function])
    converter.allow_custom_ops = True
    (DATA / "custom.tflite").write_bytes(converter.convert())
    expect("custom.tflite", format="tflite", custom_ops=["Betainc"], flex_ops=[])


def _make_tf2onnx(model: Any) -> None:
    import onnx
    import tensorflow as tf
    import tf2onnx

    function = tf.function(model, input_signature=[tf.TensorSpec([None, 4], tf.float32, name="x")])
    tf2onnx.convert.from_function(
        function,
        input_signature=function.input_signature,
        opset=15,
        output_path=str(DATA / "converted.onnx"),
    )
    written = onnx.load(str(DATA / "converted.onnx"))
    expect(
        "converted.onnx",
        format="onnx",
        producer="tf2onnx",
        ir_version=written.ir_version,
        producer_version=written.producer_version,
        opsets={item.domain: item.version for item in written.opset_import},
    )


def make_keras2() -> None:
    """Make files of Keras 2 (tf_keras): archive, HDF5 with a Lambda, SavedModel with a Lambda."""
    import tensorflow as tf
    import tf_keras

    def dense(*extra: Any) -> Any:
        return tf_keras.Sequential([tf_keras.layers.Input((4,)), tf_keras.layers.Dense(3), *extra])

    version = tf_keras.__version__
    dense().save(DATA / "keras2.keras", save_format="keras")
    expect(
        "keras2.keras",
        format="keras",
        keras_version=version,
        holds_code=False,
        custom_objects=[],
        layer_classes={"Dense": 1, "InputLayer": 1},
    )
    code = tf_keras.layers.Lambda(lambdas()["double"], name="doubled")
    dense().save(DATA / "keras2.h5")
    expect(
        "keras2.h5",
        format="hdf5",
        keras_version=version,
        backend="tensorflow",
        holds_code=False,
        weights_only=False,
        custom_objects=[],
    )
    dense(code).save(DATA / "keras2_lambda.h5")
    expect(
        "keras2_lambda.h5",
        format="hdf5",
        keras_version=version,
        holds_code=True,
        lambda_layers=["doubled"],
    )
    dense().save_weights(DATA / "keras2_weights.h5")
    expect("keras2_weights.h5", format="hdf5", keras_version=version, weights_only=True)
    dense(code).save(DATA / "keras2_saved", save_format="tf")
    _expect_savedmodel("keras2_saved", tf, keras_metadata=True, holds_code=True)


def make_hdf5() -> None:
    """Make an HDF5 file of the newest layout, with the attributes of Keras."""
    import h5py

    with h5py.File(DATA / "latest.h5", "w", libver="latest") as file:
        file.attrs["keras_version"] = "2.15.0"
        file.attrs["backend"] = b"tensorflow"
        file.attrs["model_config"] = json.dumps(
            {
                "class_name": "Sequential",
                "config": {"layers": [{"class_name": "Dense", "config": {"dtype": "float32"}}]},
            }
        )
    expect("latest.h5", format="hdf5", keras_version="2.15.0", backend="tensorflow", layers=1)
    with h5py.File(DATA / "other.h5", "w") as file:
        file["numbers"] = [1.0, 2.0]
    expect("other.h5", format="hdf5", imports=[])


def make_pickles() -> None:
    """Make pickles of scikit-learn by pickle and joblib, and code by cloudpickle and dill."""
    import cloudpickle
    import dill
    import joblib
    import numpy
    import sklearn
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x, y = numpy.random.default_rng(0).normal(size=(20, 4)), numpy.arange(20) % 2
    forest = RandomForestClassifier(2, max_depth=2, random_state=0).fit(x, y)
    line = make_pipeline(StandardScaler(), LogisticRegression()).fit(x, y)
    fields = {"sklearn_versions": [sklearn.__version__], "holds_code": False, "dangerous": []}
    for protocol in range(6):
        name = f"pipeline_p{protocol}.pkl"
        (DATA / name).write_bytes(pickle.dumps(line, protocol))
        _expect_pickle(name, format="pickle", protocol=protocol, **fields)
    for suffix, how in {
        "": 0,
        "_zlib": ("zlib", 3),
        "_gzip": ("gzip", 3),
        "_bz2": ("bz2", 3),
        "_xz": ("xz", 3),
        "_lzma": ("lzma", 3),
    }.items():
        name = f"forest{suffix}.joblib"
        joblib.dump(forest, DATA / name, compress=how)
        _expect_joblib(name, format="joblib", **fields)
    labels = LogisticRegression().fit(x, numpy.array(["no", "yes"], dtype=object)[y])
    joblib.dump({"model": labels, "after": numpy.ones(3)}, DATA / "objects.joblib")
    _expect_joblib("objects.joblib", format="joblib", **fields)
    joblib.dump(forest, DATA / "forest_p2.joblib", protocol=2)
    _expect_joblib("forest_p2.joblib", format="joblib", **fields)

    (DATA / "generator.pkl").write_bytes(pickle.dumps(numpy.random.default_rng(1)))
    _expect_pickle("generator.pkl", format="pickle", numpy_generator=True, holds_code=False)
    (DATA / "code.cloudpickle").write_bytes(cloudpickle.dumps(lambdas()["scaled"]))
    _expect_pickle("code.cloudpickle", format="pickle", holds_code=True)
    (DATA / "code.dill").write_bytes(dill.dumps(lambdas()["scaled"], recurse=True))
    _expect_pickle("code.dill", format="pickle", holds_code=True)


class _Noting(pickle.Unpickler):
    """An unpickler that notes the names it resolves."""

    def __init__(self, file: Any) -> None:
        super().__init__(file)
        self.seen: set[str] = set()

    def find_class(self, module: str, name: str) -> Any:
        self.seen.add(f"{module}.{name}")
        return super().find_class(module, name)


def _expect_pickle(name: str, **facts: Any) -> None:
    with (DATA / name).open("rb") as file:
        reader = _Noting(file)
        reader.load()
    names = {
        item.replace("__builtin__.", "builtins.").replace("copy_reg.", "copyreg.")
        for item in reader.seen
    }
    expect(name, globals=sorted(names), **facts)


def _expect_joblib(name: str, **facts: Any) -> None:
    """Note the names that joblib's own unpickler resolves, also inside arrays of objects."""
    import joblib
    from joblib import numpy_pickle

    seen: set[str] = set()
    old_joblib, old_pickle = numpy_pickle.NumpyUnpickler, numpy_pickle.pickle.load

    class Noting(old_joblib):  # type: ignore[misc, valid-type]
        def find_class(self, module: str, name: str) -> Any:
            seen.add(f"{module}.{name}")
            return super().find_class(module, name)

    def load(file: Any, **_: Any) -> Any:
        reader = pickle._Unpickler(file)  # type: ignore[attr-defined]
        find = reader.find_class
        reader.find_class = lambda m, n: (seen.add(f"{m}.{n}"), find(m, n))[1]
        return reader.load()

    numpy_pickle.NumpyUnpickler, numpy_pickle.pickle.load = Noting, load
    try:
        joblib.load(DATA / name)
    finally:
        numpy_pickle.NumpyUnpickler, numpy_pickle.pickle.load = old_joblib, old_pickle
    names = {
        item.replace("__builtin__.", "builtins.").replace("copy_reg.", "copyreg.") for item in seen
    }
    expect(name, globals=sorted(names), **facts)


def make_safetensors() -> None:
    """Make a safetensors file with metadata."""
    import numpy
    from safetensors.numpy import save_file

    save_file(
        {"a": numpy.ones((2, 3), numpy.float32), "b": numpy.ones(4, numpy.int8)},
        DATA / "weights.safetensors",
        metadata={"format": "np"},
    )
    expect(
        "weights.safetensors",
        format="safetensors",
        tensor_count=2,
        tensor_types=["F32", "I8"],
        metadata_format="np",
    )


def main() -> None:
    """Make everything anew; Keras 2 in a process of its own."""
    if sys.argv[1:] == ["keras2"]:
        make_keras2()
        json.dump(EXPECTED, sys.stdout)
        return
    for old in DATA.iterdir():
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = folder
        for make in (make_onnx, make_keras, make_hdf5, make_pickles, make_safetensors):
            make()
        done = subprocess.run(
            [sys.executable, __file__, "keras2"], stdout=subprocess.PIPE, check=True, text=True
        )
    EXPECTED.update(json.loads(done.stdout[done.stdout.index("{") :]))
    text = json.dumps(EXPECTED, indent=1, sort_keys=True)
    (DATA / "expected.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
