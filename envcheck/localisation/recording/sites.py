"""Where the program makes its layers, losses, optimisers and metrics.

Each object that Keras makes is noted with the frames of the program that were on the stack. A
frame is kept as a code object and the place in it, which costs little; lines and columns are
worked out when they are asked for.
"""

from __future__ import annotations

import functools
import os
import sys
import weakref
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from envcheck.localisation.recording.stack import Origin, is_user_file, look
from envcheck.localisation.source_lines import UNKNOWN, Frame, Hints, Site, SourceLines

__all__ = ["Sites", "is_user_file", "site_of_line", "starting_folder", "user_frames"]

_LOGGED = 5


@cache
def starting_folder() -> str:
    """Return the working folder at the first call; a launcher asks before the program runs."""
    return os.getcwd()


def user_frames(limit: int = _LOGGED) -> list[Frame]:
    """Return the frames of the program that are on the stack now, the innermost first."""
    return look(sys._getframe(1), None, limit).frames


def site_of_line(file: str, line: int) -> Site:
    """Return a line of the program as the log has it."""
    return _source_lines().line(file, line)


def _source_lines() -> SourceLines:
    """Return a finder of lines that shows no path of the user's own folder."""
    from envcheck.probing.redaction import Redactor

    return SourceLines(starting_folder(), Redactor(os.environ).text)


class Sites:
    """The places where the objects of Keras that are alive were made."""

    def __init__(self) -> None:
        self.lines = _source_lines()
        self._origins: dict[int, tuple[weakref.ref[Any], Origin]] = {}
        self._marked: dict[int, weakref.ref[Any]] = {}
        self._unbuilt: dict[int, tuple[weakref.ref[Any], str]] = {}
        self._trained: dict[int, tuple[weakref.ref[Any], str]] = {}
        self._undo: list[Callable[[], None]] = []

    def install(self) -> None:
        """Note the place of every layer, operation, optimiser, loss and metric from now on."""
        import keras
        from keras.src.optimizers.base_optimizer import BaseOptimizer

        self._hook_new(keras.Operation)
        for kind in (BaseOptimizer, keras.losses.Loss, keras.metrics.Metric):
            self._hook_init(kind)
        self._hook_weights()

    def remove(self) -> None:
        """Take the hooks away."""
        while self._undo:
            self._undo.pop()()

    def chain(self, made: Any) -> list[Frame]:
        """Return the frames of the program in which an object was made, innermost first.

        A clone has those of what it was cloned from. Nothing for an object that was made before
        the hooks stood.
        """
        origin = self._origin(made)
        return [] if origin is None else origin.frames

    def made(self) -> list[Any]:
        """Return the objects that are alive."""
        found = (reference() for reference, _ in list(self._origins.values()))
        return [item for item in found if item is not None]

    def is_direct(self, made: Any) -> bool:
        """Return whether the program itself called the class, not a function of a library."""
        origin = self._origin(made)
        return origin is not None and origin.direct

    def is_loaded(self, made: Any) -> bool:
        """Return whether an object came out of a file, or had its weights set by the program."""
        origin = self._origin(made)
        marked = self._marked.get(id(made))
        return (origin is not None and origin.loaded) or (marked is not None and marked() is made)

    def was_trained_before(self, layer: Any, model: str) -> bool:
        """Return whether a layer was part of another model, by its id, that was trained before.

        From now on it is part of this one, if it was of none.
        """
        known = self._trained.get(id(layer))
        if known is None or known[0]() is not layer:
            self._trained[id(layer)] = (weakref.ref(layer), model)
            return False
        return known[1] != model

    def is_before_first_step(self, layer: Any, model: str) -> bool:
        """Return whether a layer's weights can be those from before the first step of a model.

        They cannot when it had none as the model, by its id, was described for the first time.
        """
        known = self._unbuilt.get(id(layer))
        if known is not None and known[0]() is layer and known[1] == model:
            return False
        if not getattr(layer, "built", True):
            self._unbuilt[id(layer)] = (weakref.ref(layer), model)
        return True

    def mark_loaded(self, layer: Any) -> None:
        """Note that a layer has got weights from elsewhere."""
        self._marked[id(layer)] = weakref.ref(layer)

    def site(self, made: Any) -> Site | None:
        """Return the line on which an object was made."""
        chain = self.chain(made)
        return self.lines.call(chain, type(made).__name__) if chain else None

    def logged_chain(self, made: Any) -> list[Site]:
        """Return the lines of the frames in which an object was made, outermost last."""
        return [self.lines.frame(frame) for frame in self.chain(made)[:_LOGGED]]

    def argument(
        self,
        made: Any,
        keyword: str,
        positional: Sequence[str] | None = None,
        value: Any = UNKNOWN,
        through: str | None = None,
    ) -> Site | None:
        """Return where an argument of an object's own constructor call is written.

        `through` names the argument of a wrapper that holds the constructor call to look at.
        """
        if not self.is_direct(made):
            return None
        hints = Hints(
            positional=positional or (),
            callee=type(made).__name__,
            value=value,
            through=through,
        )
        return self.lines.argument(self.chain(made), keyword, hints)

    def _origin(self, made: Any) -> Origin | None:
        kept = self._origins.get(id(made))
        return kept[1] if kept is not None and kept[0]() is made else None

    def note(self, made: Any, frame: Any) -> None:
        """Note where an object is made; `frame` is that of what makes it."""
        try:
            origin = look(frame, made)
            if origin.original is not None:
                origin = self._origin(origin.original) or origin.without_original()
            key = id(made)
            forget = functools.partial(_forget, self._origins, key)
            self._origins[key] = (weakref.ref(made, forget), origin)
        except Exception:  # noqa: BLE001, S110 - what cannot be noted has no line
            pass

    def _hook_new(self, kind: Any) -> None:
        original = kind.__dict__["__new__"]
        make = original.__func__

        @functools.wraps(make)
        def __new__(cls: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N807
            made = make(cls, *args, **kwargs)
            self.note(made, sys._getframe(1))
            return made

        kind.__new__ = staticmethod(__new__)
        self._undo.append(lambda: setattr(kind, "__new__", original))

    def _hook_init(self, kind: Any) -> None:
        original = kind.__init__

        @functools.wraps(original)
        def __init__(made: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807
            self.note(made, sys._getframe(1))
            original(made, *args, **kwargs)

        kind.__init__ = __init__
        self._undo.append(lambda: setattr(kind, "__init__", original))

    def _hook_weights(self) -> None:
        """Note which layers get weights from a file or from the program."""
        import keras
        from keras.src.saving import saving_api

        load, assign = saving_api.load_weights, keras.layers.Layer.set_weights

        @functools.wraps(load)
        def load_weights(model: Any, *args: Any, **kwargs: Any) -> Any:
            result = load(model, *args, **kwargs)
            self._mark_all(model)
            return result

        @functools.wraps(assign)
        def set_weights(layer: Any, *args: Any, **kwargs: Any) -> Any:
            result = assign(layer, *args, **kwargs)
            self._mark_all(layer)
            return result

        saving_api.load_weights = load_weights
        keras.layers.Layer.set_weights = set_weights
        self._undo.append(lambda: setattr(saving_api, "load_weights", load))
        self._undo.append(lambda: setattr(keras.layers.Layer, "set_weights", assign))

    def _mark_all(self, layer: Any) -> None:
        for part in layer._flatten_layers():
            self.mark_loaded(part)


def _forget(origins: dict[int, Any], key: int, _: Any) -> None:
    origins.pop(key, None)
