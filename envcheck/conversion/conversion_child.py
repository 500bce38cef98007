"""The converter's own process: `python -m envcheck.conversion.conversion_child JOB`.

Reads a job (JSON), writes an ONNX file and a result (JSON). It does not judge what it made.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
from typing import Any

from envcheck.conversion.child import end_with_parent

__all__ = ["main"]

_NOT_A_NAME = re.compile(r"[^A-Za-z0-9_]")


class _Lines(logging.Handler):
    """Keeps what the converter logs."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one line."""
        self.lines.append(record.getMessage())


def main(path: str) -> None:
    """Do the job in a file and write its result beside it."""
    end_with_parent()
    with open(path, encoding="utf-8") as file:
        job = json.load(file)
    result = _Job(job).run()
    with open(job["result"], "w", encoding="utf-8") as file:
        json.dump(result, file)


class _Job:
    """One conversion: the routes in order, until one gives a file that only needs the inputs."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.job = job
        self.handler = _Lines()
        self.errors: list[str] = []

    def run(self) -> dict[str, Any]:
        """Return the result: the route that worked, or the errors of all."""
        import tf2onnx

        for name in ("tf2onnx", ""):
            logger = logging.getLogger(name)
            logger.addHandler(self.handler)
        function, names = self._function()
        best: dict[str, Any] | None = None
        for route in (self._by_function, self._by_frozen_graph):
            self.handler.lines.clear()
            try:
                model = route(function)
            except Exception as problem:  # noqa: BLE001 - whatever the converter raises
                self.errors.append(f"{type(problem).__name__}: {problem}"[:2000])
                continue
            _hold_captured(model, function)
            extra = [i.name for i in model.graph.input if i.name.split(":")[0] not in names]
            found = {"route": route.__name__[4:], "extra": extra, "log": list(self.handler.lines),
                     "names": names, "version": tf2onnx.__version__}  # fmt: skip
            if best is None or not extra:
                best = found
                with open(self.job["output"], "wb") as file:
                    file.write(model.SerializeToString())
            if not extra:
                break
        return {"ok": best is not None, "errors": self.errors, "log": self.handler.lines,
                "names": names, **(best or {})}  # fmt: skip

    def _function(self) -> tuple[Any, list[str]]:
        """Return the model's inference as a concrete function, and its inputs' names."""
        import tensorflow as tf

        if self.job["kind"] == "savedmodel":
            loaded = tf.saved_model.load(self.job["source"])
            function = loaded.signatures[self.job.get("signature", "serving_default")]
            self._keep = loaded
            inputs = [t for t in function.inputs if t.dtype != tf.resource]
            return function, [tensor.name.split(":")[0] for tensor in inputs]
        from envcheck.conversion.models import import_modules, load_keras

        import_modules(self.job["imports"])
        model = load_keras(self.job["source"], allow_code=self.job["allow_code"])
        return trace(model, self.job["inputs"], self.job["form"])

    def _by_function(self, function: Any) -> Any:
        import tensorflow as tf
        from tf2onnx import tf_loader
        from tf2onnx.convert import _convert_common

        names = [t.name for t in function.inputs if t.dtype != tf.resource]
        outputs = [t.name for t in function.outputs]
        with tf.device("/cpu:0"):
            graph = tf_loader.from_function(function, names, outputs)
            model, _ = _convert_common(
                graph, name="model", opset=self.job["opset"], continue_on_error=True,
                input_names=names, output_names=outputs, target=None,
                tensors_to_rename={name: name.split(":")[0] for name in (*names,)},
            )  # fmt: skip
        return model

    def _by_frozen_graph(self, function: Any) -> Any:
        """Freeze first, which also turns captured constants into weights."""
        import tensorflow as tf
        from tensorflow.python.framework.convert_to_constants import (
            convert_variables_to_constants_v2,
        )
        from tf2onnx.convert import from_graph_def

        frozen = convert_variables_to_constants_v2(function, lower_control_flow=False)
        names = [t.name for t in frozen.inputs if t.dtype != tf.resource]
        model, _ = from_graph_def(
            frozen.graph.as_graph_def(), name="model", input_names=names,
            output_names=[t.name for t in frozen.outputs], opset=self.job["opset"],
            tensors_to_rename={name: name.split(":")[0] for name in names},
        )  # fmt: skip
        return model


def _hold_captured(model: Any, function: Any) -> None:
    """Turn constants that the function captured, which became inputs, into weights."""
    from onnx import numpy_helper

    captured = {inner.name: outer for outer, inner in function.graph.captures}
    for item in list(model.graph.input):
        for name in (item.name, f"{item.name}:0"):
            outer = captured.get(name)
            if outer is not None and hasattr(outer, "numpy") and outer.dtype.name != "resource":
                model.graph.initializer.append(numpy_helper.from_array(outer.numpy(), item.name))
                model.graph.input.remove(item)
                break


def trace(model: Any, inputs: list[dict[str, Any]], form: str) -> tuple[Any, list[str]]:
    """Return a Keras model's inference as a concrete function, and the names of its inputs.

    `inputs` are `{name, shape, dtype}` in the order of the model, null for any size.
    """
    import tensorflow as tf

    names = [_NOT_A_NAME.sub("_", item["name"]) or "input" for item in inputs]
    names = [f"in_{n}" if not n[0].isalpha() else n for n in names]
    specs = [
        tf.TensorSpec(item["shape"], item["dtype"], name=name)
        for item, name in zip(inputs, names, strict=True)
    ]

    def pack(values: Any) -> Any:
        if form == "single":
            return values[0]
        if form == "list":
            return list(values)
        return {item["name"]: value for item, value in zip(inputs, values, strict=True)}

    def infer(*values: Any) -> Any:
        return tf.nest.flatten(model(pack(values), training=False))

    function = tf.function(infer).get_concrete_function(*specs)
    return function, names


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    main(sys.argv[1])
