"""Run programs in a process of their own and describe the models and the settings they make."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["run_described"]

_ROOT = Path(__file__).parents[3]
_HARNESS = """\
import json, sys
sys.path.insert(0, sys.argv[1])
import keras
from envcheck.localisation.recording.models import describe_model
from envcheck.localisation.recording.settings import describe_settings
from envcheck.localisation.recording.sites import Sites
sites = Sites()
sites.install()
found = {"models": [], "fits": []}
from keras.src.callbacks.callback_list import CallbackList
began = CallbackList.on_train_begin
def on_train_begin(self, logs=None):
    number = f"m{len(found['models'])}"
    found["models"].append(describe_model(self.model, sites, number))
    found["fits"].append(describe_settings(self.model, {"epochs": 1}, sites))
    began(self, logs)
CallbackList.on_train_begin = on_train_begin
space = {"__name__": "program"}
with open("train.py") as stream:
    text = stream.read()
exec(compile(text, __import__("os").path.abspath("train.py"), "exec"), space)
for model in space.get("described", ()):
    found["models"].append(describe_model(model, sites, f"m{len(found['models'])}"))
sites.remove()
with open("found.json", "w") as stream:
    json.dump(found, stream)
"""


def run_described(folder: Path, text: str) -> dict[str, Any]:
    """Return what was found about the models that a program fits or lists as `described`.

    The harness is kept out of the program's frames by its name, which is that of no file.
    """
    (folder / "train.py").write_text(text, encoding="utf-8")
    environment = {
        **os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3",
        "TF_NUM_INTRAOP_THREADS": "1", "TF_NUM_INTEROP_THREADS": "1",
    }  # fmt: skip
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _HARNESS, str(_ROOT)],
        cwd=folder, env=environment, check=True, timeout=300,
    )  # fmt: skip
    found: dict[str, Any] = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    return found
