"""Recording leaves no trace in the training that it watches, and sees what happened in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.localisation.recording.programs import TRAININGS, write_programs

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow
pytest.importorskip("keras")
pytest.importorskip("tensorflow")

ENVIRONMENT = {
    **os.environ,
    "CUDA_VISIBLE_DEVICES": "-1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_NUM_INTEROP_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
}
CRASHES = {
    "shape": """\
import keras
from rows import rows
x, y = rows()
model = keras.Sequential([keras.Input((11,)), keras.layers.Dense(3)])
model.compile("adam", "mse")
model.fit(x, y, verbose=0)
""",
    "cardinality": """\
import keras
from rows import rows
x, y = rows()
model = keras.Sequential([keras.layers.Dense(3)])
model.compile("adam", "mse")
try:
    model.fit(x, y[1:], verbose=0)
except ValueError:
    import traceback
    traceback.print_exc()
    raise
""",
    "callback": """\
import keras
from rows import rows
x, y = rows()
class Stop(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        raise RuntimeError("enough")
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(x, y, verbose=0, epochs=2, callbacks=[Stop()])
""",
    "layer": """\
import keras
keras.Sequential([keras.Input((4, 4, 1)), keras.layers.Conv2D(2, 3), keras.layers.Conv2D(2, 3)])
""",
}
NAN = """\
import keras
import numpy as np
from rows import rows
keras.utils.set_random_seed(1)
x, y = rows(320)
x[200, 3] = np.nan
model = keras.Sequential([keras.Input((12,)), keras.layers.Dense(3, activation="softmax")])
model.compile("sgd", "sparse_categorical_crossentropy", metrics=["accuracy"])
"""


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def _recorded(folder: Path, name: str) -> tuple[subprocess.CompletedProcess[str], Any]:
    options = ["--record", "log.json", "-o", os.devnull, "-q", "--script-exit"]
    done = _run(folder, "-m", "envcheck", "localise", *options, f"{name}.py")
    return done, json.loads((folder / "log.json").read_text())


@pytest.mark.parametrize("name", sorted(TRAININGS))
def test_the_same_bits(name: str, tmp_path: Path) -> None:
    """Output, weights, optimiser state, random draws and automatic names are exactly the same."""
    write_programs(tmp_path)

    plain = _run(tmp_path, f"{name}.py")
    recorded, log = _recorded(tmp_path, name)

    assert plain.returncode == 0, plain.stderr
    assert "weights" in plain.stdout
    assert recorded.stdout == plain.stdout
    assert log["problems"] == []
    assert log["recorded"] is (name != "own_loop")
    assert len(log["models"]) == (2 if name == "two_outputs" else 1)


def test_the_recorder_callback(tmp_path: Path) -> None:
    """The callback changes nothing either, writes the log, and embeds the fingerprint."""
    write_programs(tmp_path)

    plain = _run(tmp_path, "with_recorder.py")
    watched = _run(tmp_path, "with_recorder.py", "log.json", "model.keras")

    assert watched.stdout == plain.stdout, watched.stderr
    log = json.loads((tmp_path / "log.json").read_text())
    assert log["envelope"]["origin"] == "recorder"
    assert log["problems"] == []
    fit = log["fits"][0]
    assert (fit["steps"], fit["epochs_run"], fit["completed"]) == (32, 4, True)
    assert fit["data"]["test"]["rows"] == 50
    extracted = _run(tmp_path, "-m", "envcheck", "extract", "model.keras")
    assert json.loads(extracted.stdout)["facts"] == log["fingerprint"]["facts"]


CHECKPOINTS = """\
import keras
from envcheck.keras import Recorder
from rows import rows
x, y = rows()
model = keras.Sequential([keras.Input((12,)), keras.layers.Dense(3, activation="softmax")])
model.compile("sgd", "sparse_categorical_crossentropy")
saving = [keras.callbacks.ModelCheckpoint("each-{epoch}.keras"),
          keras.callbacks.ModelCheckpoint("last.keras")]
model.fit(x, y, epochs=2, verbose=0, callbacks=[Recorder("log.json", embed=True), *saving])
keras.saving.save_model(model, "function.keras")
model.save("method.keras")
model.save("method.keras", overwrite=True)
keras.models.load_model("last.keras")
"""


def test_every_saved_model_holds_the_fingerprint(tmp_path: Path) -> None:
    """With `embed`, checkpoints and later saves carry the environment, and load as before."""
    write_programs(tmp_path)
    (tmp_path / "saving.py").write_text(CHECKPOINTS)

    done = _run(tmp_path, "saving.py")

    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    log = json.loads((tmp_path / "log.json").read_text())
    assert log["problems"] == []
    names = [path.name for path in sorted(tmp_path.glob("*.keras"))]
    assert names == [f"{n}.keras" for n in ("each-1", "each-2", "function", "last", "method")]
    for name in names:
        extracted = _run(tmp_path, "-m", "envcheck", "extract", name)
        assert json.loads(extracted.stdout)["facts"] == log["fingerprint"]["facts"]


@pytest.mark.parametrize(("together", "known"), [(1, True), (3, False)])
def test_updates_are_those_of_one_step(together: int, known: bool, tmp_path: Path) -> None:
    """Where several steps are executed as one, the update of a single step is not known."""
    write_programs(tmp_path)
    text = NAN.replace("np.nan", "0.5").replace(
        'metrics=["accuracy"]', f"steps_per_execution={together}"
    )
    fit = "model.fit(x, y, batch_size=20, shuffle=False, epochs=3, verbose=0)\n"
    (tmp_path / "steps.py").write_text(text + fit)

    _, log = _recorded(tmp_path, "steps")

    found = log["fits"][0]
    assert log["problems"] == []
    first = [weight["update_ratio"] for weight in found["probes"][0]["weights"]]
    assert (first[0] is not None) is known
    assert set(found["statistics"]["loss"]) >= {"min", "median", "skew"}
    losses = found["curves"]["epoch"]["loss"]
    assert found["statistics"]["loss"]["median"] == pytest.approx(sorted(losses)[1])
    assert found["statistics"]["batch_loss"]["max"] == max(found["curves"]["batch"]["loss"])


def test_the_recorder_under_localise(tmp_path: Path) -> None:
    """Under `envcheck localise` a `Recorder` writes the same fit to its own file."""
    write_programs(tmp_path)
    options = ["--record", "all.json", "-o", os.devnull, "-q", "--script-exit"]

    _run(tmp_path, "-m", "envcheck", "localise", *options, "with_recorder.py", "own.json")

    everything, own = (json.loads((tmp_path / f"{n}.json").read_text()) for n in ("all", "own"))
    assert everything["fits"][0]["curves"] == own["fits"][0]["curves"]
    assert (everything["envelope"]["origin"], own["envelope"]["origin"]) == ("localise", "recorder")


def test_single_batches_average_to_the_epoch(tmp_path: Path) -> None:
    """The values of the batches, weighted by their rows, give the mean that Keras logs."""
    write_programs(tmp_path)

    for name, rows in (("arrays", [50] * 7 + [34]), ("dataset", [50] * 9 + [30])):
        _, log = _recorded(tmp_path, name)
        curves = log["fits"][0]["curves"]
        for epoch in range(4):
            part = slice(epoch * len(rows), (epoch + 1) * len(rows))
            assert set(curves["batch"]["epoch"][part]) == {epoch}
            losses = curves["batch"]["loss"][part]
            mean = sum(n * value for n, value in zip(rows, losses, strict=True)) / sum(rows)
            assert mean == pytest.approx(curves["epoch"]["loss"][epoch], rel=1e-4)
            hits = curves["batch"]["metrics"]["accuracy"][part]
            for n, share in zip(rows, hits, strict=True):
                assert share * n == pytest.approx(round(share * n), abs=1e-2)


@pytest.mark.parametrize("name", sorted(CRASHES))
def test_crashes_look_the_same(name: str, tmp_path: Path) -> None:
    """An exception out of Keras is printed as it always is, and stands in the log."""
    write_programs(tmp_path)
    (tmp_path / f"{name}.py").write_text(CRASHES[name])

    plain = _run(tmp_path, f"{name}.py")
    recorded, log = _recorded(tmp_path, name)

    tracebacks = [text[text.index("Traceback") :] for text in (plain.stderr, recorded.stderr)]
    assert tracebacks[1] == tracebacks[0]
    assert recorded.returncode == plain.returncode == 1
    exception = log["program"]["exception"]
    assert exception["type"] == ("RuntimeError" if name == "callback" else "ValueError")
    text = CRASHES[name].splitlines()
    assert exception["site"]["text"] == text[exception["site"]["line"] - 1].strip()
    assert [fit["completed"] for fit in log["fits"]] == [False] * len(log["fits"])


def test_nan_is_found_where_it_starts(tmp_path: Path) -> None:
    """The first loss that is not finite is noted with its step, and probed at once."""
    write_programs(tmp_path)
    fit = "model.fit(x, y, batch_size=40, shuffle=False, epochs=2, verbose=0)\n"
    (tmp_path / "broken.py").write_text(NAN + fit)

    _, log = _recorded(tmp_path, "broken")

    found = log["fits"][0]
    assert found["curves"]["first_nonfinite_loss"] == {"step": 5, "epoch": 0, "batch": 5}
    assert found["curves"]["batch"]["loss"][5:8] == ["NaN"] * 3
    assert 6 in [probe["step"] for probe in found["probes"]]


def test_a_stream_of_unknown_length(tmp_path: Path) -> None:
    """The rows of an epoch are counted where Keras counts them to its end."""
    write_programs(tmp_path)

    _, log = _recorded(tmp_path, "dataset")
    assert (log["fits"][0]["data"]["kind"], log["fits"][0]["data"]["rows"]) == ("dataset", 480)

    _, log = _recorded(tmp_path, "generator")
    assert log["fits"][0]["data"]["kind"] == "generator"
    assert 30 * 20 <= log["fits"][0]["data"]["rows"] < 30 * 40
