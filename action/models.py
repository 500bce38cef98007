"""The comparison of the models, where an input asks for it, in an environment of its own.

It needs TensorFlow and its kin, which nothing else here does. They come from the package index
into a virtual environment in RUNNER_TEMP, so the Python of the job stays what it is; or they are
there already, in a Python that an input names. What is installed and run gets none of the files
by which GitHub takes outputs, variables and paths.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from action.inputs import Inputs

__all__ = ["Compared", "NotInstalled", "asked_for", "compare_models"]

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PARTS = ("parity-candidate", "parity-inputs", "parity-import", "parity-python")
HIDDEN = ("ACTIONS_", "GITHUB_", "INPUT_", "PYTHON", "RUNNER_")
EXPECTED = (0, 2, 3)
"""Exit codes of the comparison when nothing makes it fail: done, wrong input, not decided."""
CRASHED = 4
_MOST_LINES = 15


class NotInstalled(Exception):
    """The environment of its own could not be made."""


@dataclass(frozen=True)
class Compared:
    """How the comparison ended; `report` is its file where there is one."""

    code: int
    report: str
    told: str


def asked_for(inputs: Inputs) -> bool:
    """Return whether the models are to be compared. Raises ValueError for half a request."""
    if inputs.text("parity"):
        return True
    left = [name for name in PARTS if inputs.lines(name)]
    if left:
        raise ValueError(f"the input {left[0]} says nothing without the input parity")
    return False


def compare_models(inputs: Inputs, folder: str) -> Compared:
    """Compare the models in an environment of their own. Raises NotInstalled and ValueError."""
    files = [inputs.path("parity"), inputs.path("parity-candidate")]
    samples = inputs.path("parity-inputs")
    imports = [inputs.place(path) for path in inputs.lines("parity-import")]
    for path in (*files, samples, *imports):
        if path and not os.path.exists(path):
            raise ValueError(f"{path!r}, which an input names for parity, does not exist")
    models = [path for path in files if path]
    python = inputs.interpreter("parity-python")
    if python and not shutil.which(python):
        raise ValueError(f"the input parity-python names {python!r}, which cannot be run")
    python = python or install(folder, extras_for(models))
    report = os.path.join(folder, "parity.json")
    options = [f"--format=json={report}", "--fail-on=never", "--no-cache", "--quiet"]
    options += [f"--inputs={samples}"] if samples else []
    options += [f"--import={path}" for path in imports]
    command = [python, "-E", "-P", "-B", os.path.join(ROOT, "action", "parity.py")]
    done = run([*command, *options, "--", *models])
    code = done.returncode if done.returncode in EXPECTED else CRASHED
    return Compared(code, report if os.path.exists(report) else "", done.stderr)


def extras_for(models: list[str]) -> list[str]:
    """Return the extras that the files need: two traces need no framework."""
    from envcheck.conversion.traces import is_trace

    if all(is_trace(path) for path in models):
        return ["onnx"]
    return ["keras", *(["litert"] if models[-1].endswith(".tflite") else [])]


def install(folder: str, extras: list[str]) -> str:
    """Make a virtual environment with what this checkout asks for; return its Python."""
    import tomllib

    place = os.path.join(folder, "python")
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        project = tomllib.load(file)["project"]
    wanted = list(project["dependencies"])
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    own = os.path.join(
        place, *(("Scripts", "python.exe") if os.name == "nt" else ("bin", "python"))
    )
    hint = "the input parity-python names a Python that has the packages already"
    steps = (
        ([sys.executable, "-I", "-m", "venv", place], "no virtual environment could be made"),
        ([own, "-I", "-m", "pip", "install", "--quiet", "--no-input",
          "--disable-pip-version-check", *sorted(set(wanted))],
         f"the packages that parity needs ({', '.join(extras)}) could not be installed"),
    )  # fmt: skip
    for command, problem in steps:
        done = run(command)
        if done.returncode:
            last = "\n".join(f"{done.stdout}\n{done.stderr}".strip().splitlines()[-_MOST_LINES:])
            raise NotInstalled(f"{problem}; {hint}:\n{last}")
    return own


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a program that cannot write outputs of the step, set variables or see the inputs."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith(HIDDEN)}
    kept["PYTHONDONTWRITEBYTECODE"] = "1"  # a converter of its own inherits it
    try:
        return subprocess.run(
            command, env=kept, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            encoding="utf-8", errors="backslashreplace", check=False,
        )  # fmt: skip
    except OSError as problem:
        raise NotInstalled(f"{command[0]!r} cannot be run: {problem.strerror}") from problem
