"""`Recorder`, a Keras callback that writes a training log.

    from envcheck.keras import Recorder

    model.fit(x, y, epochs=5, callbacks=[Recorder("training.json")])

Import it before `fit` is called, as here: importing it puts the hooks on Keras.
`envcheck localise train.py` records the same without any change to the program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    Recorder: Any

__all__ = ["Recorder"]


def __getattr__(name: str) -> Any:
    if name != "Recorder":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from envcheck.localisation.recording.callback import recorder_class

    return globals().setdefault(name, recorder_class())
