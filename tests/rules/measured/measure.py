"""Measure anew what happens to real models between real environments.

    python -m tests.rules.measured.measure [--environments DIR] [--work DIR] [--only NAME…]
        [--kinds KIND…]

For each pair of `wanted` a model is written in the first environment, and loaded and asked in the
second, each in a process of its own; what happened is the truth, and envcheck has no part in it.
`environments/NAME.json` are the captures, `models.json` what `capture --model` adds to them, and
`pairs.json` what happened. An environment is rebuilt from its own fingerprint (every distribution
to the last version; see make_bases.py), unless DIR has it as `NAME/bin/python`. For a new one, make
it in DIR, and measure the pairs in which it is with --only. All of it takes a quarter of an hour
and some gigabytes, so no test runs it.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

from tests.rules.make_bases import build

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = HERE / "environments"
CLOSE = 1e-6
"""Largest difference of outputs that counts as none: the last bits of 32-bit arithmetic."""
SECONDS = 300
SUFFIXES = {"array": ".pkl", "keras": ".keras", "h5": ".h5", "saved-model": ""}
RELEASES = tuple(f"sklearn-1.{minor}" for minor in range(2, 8))
ESTIMATORS = (
    "tree", "forest", "knn", "logistic", "boosting", "histogram", "svm", "pipeline", "columns",
    "passthrough", "array",
)  # fmt: skip
GRAPHS = ("onnx", "onnx-low", "onnx-low-ir", "onnx-sklearn")
RUNTIMES = ("ort-1.17", "ort-1.19", "ort-1.32")
NETWORKS = ("keras", "h5", "saved-model")
CAUSES = {**dict.fromkeys(GRAPHS, "onnxruntime"), "saved-model": "tensorflow"}
CAUSES.update(keras="keras", h5="keras", array="numpy")


class Pair(NamedTuple):
    """A model of some kind on its way from one environment to another."""

    writer: str
    reader: str
    kind: str

    @property
    def model(self) -> str:
        """The key of the model in models.json."""
        return f"{self.writer}/{self.kind}"

    @property
    def file(self) -> str:
        """The name of the model file."""
        known = ".onnx" if self.kind in GRAPHS else ".joblib"
        return self.kind + SUFFIXES.get(self.kind, known)


def wanted() -> Iterator[Pair]:
    """Yield the pairs to measure."""
    for writer, reader in permutations(RELEASES, 2):
        yield from (Pair(writer, reader, kind) for kind in ESTIMATORS)
    same = (
        ("sklearn-1.5", "sklearn-1.5-patch"),
        ("sklearn-1.7", "sklearn-1.7-py313"),
        ("sklearn-1.7-py313", "sklearn-1.7"),
        ("sklearn-1.7-py313", "sklearn-1.2"),
    )
    for writer, reader in same:
        yield from (Pair(writer, reader, kind) for kind in ("forest", "logistic", "array"))
    for kind in ("lightgbm", "xgboost"):
        yield from (Pair("boosters", reader, kind) for reader in ("sklearn-1.5", "boosters-serve"))
    for reader in RUNTIMES:
        yield Pair("onnx-1.16", reader, "onnx-sklearn")
        yield from (Pair("onnx-1.23", reader, kind) for kind in GRAPHS)
        yield Pair("sklearn-1.7", reader, "array")
    for ends in (("keras-2", "keras-3"), ("keras-3", "keras-2"), ("keras-3", "keras-3-serve")):
        yield from (Pair(*ends, kind) for kind in NETWORKS)
    yield Pair("keras-3", "sklearn-1.3", "array")
    yield Pair("sklearn-1.5", "keras-3", "logistic")
    yield from (Pair("keras-3", "keras-3-lean", kind) for kind in NETWORKS)
    yield from (Pair("sklearn-1.7", "numpy-2.2", kind) for kind in ("array", "logistic"))
    yield Pair("sklearn-1.5", "ort-1.17", "logistic")


class Machine:
    """Where environments and models are kept while measuring."""

    def __init__(self, environments: Path | None, work: Path) -> None:
        self.environments = environments or work / "environments"
        self.work = work
        work.mkdir(parents=True, exist_ok=True)

    def python(self, name: str) -> str:
        """Return the interpreter of an environment, which is built if need be."""
        folder = self.environments / name
        if not (folder / "bin" / "python").exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            build(ENVIRONMENTS / f"{name}.json", folder)
        return str(folder / "bin" / "python")

    def path(self, pair: Pair) -> Path:
        """Return where the model of a pair lies."""
        path = self.work / "models" / pair.writer / pair.file
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def worked(self, name: str, action: str, pair: Pair) -> subprocess.CompletedProcess[str]:
        """Run the worker in an environment."""
        command = [self.python(name), "-I", str(HERE / "worker.py"), action, pair.kind]
        command.append(str(self.path(pair)))
        return subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, cwd=self.work, check=False
        )

    def captured(self, name: str, path: Path, *models: Path) -> dict[str, Any]:
        """Capture an environment into a file and return its facts."""
        command = [sys.executable, "-m", "envcheck", "capture", "--quiet", "-o", str(path)]
        command += ["--python", self.python(name), "--role", "train"]
        command += [part for model in models for part in ("--model", str(model))]
        subprocess.run(command, check=True, cwd=self.work)
        return dict(json.loads(path.read_text("utf-8"))["facts"])


def written(machine: Machine, pair: Pair) -> list[float] | None:
    """Write a model and return its outputs; None, with a message, where it cannot be written."""
    done = machine.worked(pair.writer, "write", pair)
    if done.returncode:
        sys.stderr.write(f"not written: {pair.model}: {done.stderr[-500:]}\n")
        return None
    return list(json.loads(done.stdout.splitlines()[-1]))


def happened(machine: Machine, pair: Pair, expected: list[float]) -> dict[str, Any]:
    """Load a model elsewhere and return what happened."""
    done = machine.worked(pair.reader, "read", pair)
    is_loaded = "loaded" in done.stdout.splitlines()
    if done.returncode:
        return {"happened": "crash at prediction" if is_loaded else "crash at load",
                "seen": seen(done, machine)}  # fmt: skip
    outputs = json.loads(done.stdout.splitlines()[-1])
    if len(outputs) != len(expected):
        return {"happened": "moved", "seen": "another number of outputs"}
    gap = max(abs(one - other) for one, other in zip(outputs, expected, strict=True))
    if not gap:
        return {"happened": "exact"}
    return {"happened": "close" if gap <= CLOSE else "moved", "difference": float(f"{gap:.3g}")}


def seen(done: subprocess.CompletedProcess[str], machine: Machine) -> str:
    """Return the last message of a process, without the places of this machine."""
    if done.returncode < 0:
        return f"killed by signal {-done.returncode}"
    said = [line for line in done.stderr.splitlines() if re.match(r"[\w.]+(Error|Exception|Fail|"
            r"InvalidGraph|NotImplemented|InvalidArgument)\w*: ", line)]  # fmt: skip
    text = (said or done.stderr.strip().splitlines() or ["no message"])[-1]
    for place in (machine.work, machine.environments):
        text = text.replace(str(place), "…")
    return re.sub(r"(?<!\w)/(?:[\w.-]+/)+", "…/", text)[:200]


def cause(pair: Pair, seen_text: str) -> str:
    """Return the distribution to which what was seen points."""
    if "numpy._core" in seen_text or "BitGenerator" in seen_text:
        return "numpy"
    absent = re.search(r"No module named '(joblib|lightgbm|xgboost)'", seen_text)
    if absent:
        return absent[1]
    return CAUSES.get(pair.kind, "scikit-learn")


def measured(machine: Machine, pair: Pair, expected: dict[str, Any]) -> dict[str, Any] | None:
    """Return the entry of a pair; None where there is no model."""
    if expected[pair.model] is None:
        return None
    entry = {**pair._asdict(), **happened(machine, pair, expected[pair.model])}
    if entry["happened"] not in ("exact", "close"):
        entry["cause"] = cause(pair, entry.get("seen", ""))
    return entry


def facts_of_models(machine: Machine, pairs: list[Pair], captures: dict[str, Any]) -> Any:
    """Return what `capture --model` adds to the capture of each writer; readers see the same."""
    found: dict[str, Any] = {}
    for pair in pairs:
        for name in (pair.writer, pair.reader):
            facts = machine.captured(name, machine.work / "c.json", machine.path(pair))
            added = {key: facts[key] for key in sorted(facts.keys() - captures[name].keys())}
            if found.setdefault(pair.model, added) != added:
                raise SystemExit(f"{pair}: the sides see the file differently")
    return found


def saved(name: str, default: Any) -> Any:
    """Return what a file of an earlier run holds."""
    path = HERE / name
    return json.loads(path.read_text("utf-8")) if path.exists() else default


def lines(entries: list[str], ends: str) -> str:
    """Return JSON with one entry a line."""
    return ends[0] + "\n" + ",\n".join(" " + entry for entry in entries) + "\n" + ends[1] + "\n"


def save(entries: list[dict[str, Any]], facts: dict[str, Any]) -> None:
    """Write what was measured over what an earlier run measured of the same pairs."""
    found = {
        Pair(one["writer"], one["reader"], one["kind"]): one for one in saved("pairs.json", [])
    }
    found.update({Pair(one["writer"], one["reader"], one["kind"]): one for one in entries})
    kept = [pair for pair in wanted() if pair in found]
    dumped = [json.dumps(found[pair], ensure_ascii=False) for pair in kept]
    (HERE / "pairs.json").write_text(lines(dumped, "[]"), "utf-8")
    facts = {**saved("models.json", {}), **facts}
    models = dict.fromkeys(pair.model for pair in kept)
    dumped = [f"{json.dumps(key)}: {json.dumps(facts[key], sort_keys=True)}" for key in models]
    (HERE / "models.json").write_text(lines(dumped, "{}"), "utf-8")


def main() -> None:
    """Measure the pairs and write them down."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--environments", type=Path, help="take environments from here")
    parser.add_argument("--work", type=Path, help="keep models here")
    parser.add_argument("--only", nargs="+", help="measure pairs with these environments only")
    parser.add_argument("--kinds", nargs="+", help="measure these kinds of models only")
    options = parser.parse_args()
    pairs = [
        pair
        for pair in wanted()
        if not options.only or {pair.writer, pair.reader} & set(options.only)
        if not options.kinds or pair.kind in options.kinds
    ]
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(options.environments, options.work or Path(folder))
        models = {pair.model: pair for pair in pairs}
        names = dict.fromkeys(name for pair in pairs for name in (pair.writer, pair.reader))
        captures = {name: machine.captured(name, ENVIRONMENTS / f"{name}.json") for name in names}
        with ThreadPoolExecutor(2) as pool:
            outputs = pool.map(partial(written, machine), models.values())
            expected = dict(zip(models, outputs, strict=True))
            found = pool.map(lambda pair: measured(machine, pair, expected), pairs)
            entries = [entry for entry in found if entry]
        kept = {pair.model: pair for pair in pairs if expected[pair.model] is not None}
        save(entries, facts_of_models(machine, list(kept.values()), captures))


if __name__ == "__main__":
    main()
