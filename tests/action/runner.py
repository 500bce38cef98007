"""A small runner of composite actions: what GitHub's does with `action.yml`, offline.

It applies defaults, evaluates the expressions that an action of ours may use, writes each `run`
to a file, gives it the runner's files and variables, and reads log, outputs and summary the way
the runner does: it obeys workflow commands, and stops obeying between `stop-commands` marks.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SHELLS = {
    "sh": ["sh", "-e"],
    "bash": ["bash", "--noprofile", "--norc", "-eo", "pipefail"],
}
_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")
_V2 = re.compile(r"^\s*::([\w-]+)(?: ([^:]*))?::(.*)$")
_V1 = re.compile(r"##\[([\w-]+)([^\]]*)\](.*)$")


@dataclass
class Ran:
    """What the runner saw of one step that uses the action."""

    code: int = 0
    log: str = ""
    commands: list[tuple[str, dict[str, str], str]] = field(default_factory=list)
    outputs: dict[str, str] = field(default_factory=dict)
    summary: str = ""
    leaked: str = ""
    """What was written to the environment and path files."""


def use(action: Path, inputs: Mapping[str, str], workspace: Path, temp: Path,
        **environment: str) -> Ran:  # fmt: skip
    """Run the action of a checkout as one step of a job."""
    spec = yaml.safe_load((action / "action.yml").read_text("utf-8"))
    unknown = inputs.keys() - spec["inputs"].keys()
    assert not unknown, f"unexpected inputs: {unknown}"
    context = {f"inputs.{name}": str(inputs.get(name, about.get("default", "")))
               for name, about in spec["inputs"].items()}  # fmt: skip
    temp.mkdir(parents=True, exist_ok=True)
    ran = Ran()
    for number, step in enumerate(spec["runs"]["steps"]):
        assert "uses" not in step, "the action uses another action"
        _run_step(step, number, context, ran, action=action, workspace=workspace, temp=temp,
                  environment=environment)  # fmt: skip
        if ran.code:
            break
    ran.outputs = {
        name: _evaluate(about["value"], context) for name, about in spec["outputs"].items()
    }
    return ran


def _evaluate(text: Any, context: Mapping[str, str]) -> str:
    """Replace each expression by its value, as text and once."""
    return _EXPRESSION.sub(lambda found: context.get(found[1], ""), str(text))


def _run_step(step: dict[str, Any], number: int, context: dict[str, str], ran: Ran, *,
              action: Path, workspace: Path, temp: Path,
              environment: Mapping[str, str]) -> None:  # fmt: skip
    files = {name: temp / f"{name.lower()}-{number}"
             for name in ("OUTPUT", "ENV", "PATH", "STATE", "STEP_SUMMARY")}  # fmt: skip
    for path in files.values():
        path.touch()
    script = temp / f"step-{number}.sh"
    script.write_text(_evaluate(step["run"], context), "utf-8")
    variables = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
        **{f"GITHUB_{name}": str(path) for name, path in files.items()},
        "GITHUB_ACTIONS": "true", "CI": "true", "GITHUB_WORKSPACE": str(workspace),
        "GITHUB_ACTION_PATH": str(action), "RUNNER_TEMP": str(temp),
        **environment,
        **{name: _evaluate(value, context) for name, value in step.get("env", {}).items()},
    }  # fmt: skip
    done = subprocess.run(
        [*SHELLS[step["shell"]], str(script)],
        cwd=workspace, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=120,
    )  # fmt: skip
    ran.code = done.returncode
    ran.log += done.stdout.decode("utf-8")
    ran.commands += obeyed(ran.log)
    ran.summary += files["STEP_SUMMARY"].read_text("utf-8")
    ran.leaked += files["ENV"].read_text("utf-8") + files["PATH"].read_text("utf-8")
    for name, value in read_outputs(files["OUTPUT"].read_text("utf-8")).items():
        context[f"steps.{step.get('id')}.outputs.{name}"] = value


def read_outputs(text: str) -> dict[str, str]:
    """Return outputs from a file of `name=value` and `name<<MARK` entries; bad lines raise."""
    found: dict[str, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        name, equals, value = line.partition("=")
        heredoc = re.match(r"([\w-]+)<<(\S+)$", line)
        if heredoc:
            inside = []
            while (inner := next(lines)) != heredoc[2]:
                inside.append(inner)
            name, value = heredoc[1], "\n".join(inside)
        else:
            assert equals, f"the runner refuses this line of outputs: {line!r}"
        assert name not in found, f"{name} is written twice"
        found[name] = value
    return found


def obeyed(log: str) -> list[tuple[str, dict[str, str], str]]:
    """Return the workflow commands that the runner would obey: name, properties, data."""
    found = []
    resume = None
    for line in re.split(r"\r\n|\n|\r", log):
        command = _V2.match(line) or _V1.search(line)
        if resume is not None:
            if command and command[1] == resume:
                resume = None
        elif command and command[1] == "stop-commands":
            resume = command[3]
        elif command:
            told = (command[2] or "").strip()
            pairs = dict(part.partition("=")[::2] for part in re.split("[,;]", told) if part)
            found.append((command[1], {k: unescape(v) for k, v in pairs.items()},
                          unescape(command[3])))  # fmt: skip
    return found


def unescape(text: str) -> str:
    """Undo the escaping of properties and data."""
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text


def everything(folder: Path) -> list[str]:
    """Return all files below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
