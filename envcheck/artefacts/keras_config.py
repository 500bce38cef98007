"""The configuration of a Keras model, as `.keras`, `.h5` and SavedModel carry it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from envcheck.artefacts.reading import Unreadable, clip

__all__ = ["Model", "read_config"]

_OWN = ("keras", "tf_keras", "tensorflow", "builtins")
_MOST_VALUES = 2_000_000
_MOST_NAMES = 5_000


@dataclass
class Model:
    """What was gathered over a configuration."""

    layers: dict[str, int] = field(default_factory=dict)
    custom: set[str] = field(default_factory=set)
    modules: set[str] = field(default_factory=set)
    policies: set[str] = field(default_factory=set)
    lambdas: list[str] = field(default_factory=list)
    code: bool = False

    def facts(self) -> dict[str, Any]:
        """Return the facts."""
        if any(len(names) > _MOST_NAMES for names in (self.layers, self.custom, self.policies)):
            raise Unreadable(f"its configuration names more than {_MOST_NAMES} classes")
        policies = sorted(self.policies)
        return {
            "layers": sum(self.layers.values()),
            "layer_classes": dict(sorted(self.layers.items())),
            "custom_objects": sorted(self.custom),
            "dtype_policies": policies,
            "quantised": any("_from_" in name for name in policies),
            "lambda_layers": sorted(self.lambdas)[:_MOST_NAMES],
            "holds_code": self.code,
        }


def read_config(config: Any) -> Model:
    """Return what a configuration (parsed JSON) says about the model."""
    model = Model()
    for value in _objects(config):
        layers = value.get("layers")
        if isinstance(layers, list):
            for layer in layers:
                _count(layer, model)
        name = value.get("class_name")
        if isinstance(name, str):
            _read_class(name, value, model)
        if "dtype" in value or "dtype_policy" in value:
            _read_policy(value.get("dtype_policy", value.get("dtype")), model)
        _read_code(value, model)
    return model


def _objects(config: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every object in the configuration, outermost first, without recursion."""
    todo = [config]
    seen = 0
    while todo:
        value = todo.pop()
        seen += 1
        if seen > _MOST_VALUES:
            raise Unreadable(f"its configuration has more than {_MOST_VALUES} values")
        if isinstance(value, dict):
            yield value
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(item for item in value if isinstance(item, (dict, list)))


def _count(layer: Any, model: Model) -> None:
    if isinstance(layer, dict) and isinstance(layer.get("class_name"), str):
        name = clip(layer["class_name"])
        model.layers[name] = model.layers.get(name, 0) + 1


def _read_class(name: str, value: Mapping[str, Any], model: Model) -> None:
    """Take one serialised object in: whose is it, and which import brings it."""
    module, registered = value.get("module"), value.get("registered_name")
    if name == "__lambda__" or "config" not in value:
        return
    if name == "function":
        model.custom.add(_function_name(value))
    elif isinstance(registered, str) and ">" in registered:
        model.custom.add(clip(registered))
    elif ">" in name:
        model.custom.add(clip(name))
    elif isinstance(module, str) and module.partition(".")[0] not in _OWN:
        model.custom.add(clip(f"{module}.{name}"))
    else:
        return
    _add_module(module, model)


def _function_name(value: Mapping[str, Any]) -> str:
    config, module = value.get("config"), value.get("module")
    name = clip(config) if isinstance(config, str) else "function"
    own = not isinstance(module, str) or module.partition(".")[0] in _OWN
    return name if own else clip(f"{module}.{name}")


def _add_module(module: Any, model: Model) -> None:
    """Remember the import that brings a custom object, where the file names one."""
    top = module.partition(".")[0] if isinstance(module, str) else ""
    foreign = top not in _OWN and top.isidentifier() and top != "__main__"
    if foreign and len(model.modules) < _MOST_NAMES:
        model.modules.add(clip(top))


def _read_policy(policy: Any, model: Model) -> None:
    """Take a data type policy in: a name, or a serialised policy of any Keras."""
    if isinstance(policy, str):
        model.policies.add(clip(policy))
        return
    config = policy.get("config") if isinstance(policy, dict) else None
    if not isinstance(config, dict):
        return
    name = config.get("name")
    mode, source = config.get("mode"), config.get("source_name")
    if isinstance(mode, str) and isinstance(source, str):
        model.policies.add(clip(f"{mode}_from_{source}"))
    elif isinstance(name, str):
        model.policies.add(clip(name))


def _read_code(value: Mapping[str, Any], model: Model) -> None:
    """Take marshalled Python code in: what a Lambda layer stores of a lambda expression."""
    if value.get("class_name") == "__lambda__":
        model.code = True
    elif value.get("class_name") == "Lambda" and isinstance(value.get("config"), dict):
        config = value["config"]
        if _is_marshalled(config.get("function"), config.get("function_type")):
            model.code = True
            model.lambdas.append(clip(str(config.get("name", "lambda"))))


def _is_marshalled(function: Any, kind: Any) -> bool:
    """Return whether a Lambda holds code: `__lambda__`, or Keras 2's [code, defaults, closure]."""
    if isinstance(function, dict):
        return function.get("class_name") in ("__lambda__", "__tuple__")
    return kind == "lambda" or (isinstance(function, list) and len(function) == 3)
