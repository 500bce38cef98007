"""One check of the GitHub Action: inputs in, report, annotations, summary and outputs out.

Runs from the checkout of the action with the standard library alone; nothing is installed, and
nothing is written but to RUNNER_TEMP, to the files that GitHub names, and where an input says.

Every input comes in through a variable `INPUT_NAME` and is never part of a command line that a
shell reads. What fingerprints hold may have been written by anyone, so while such text goes to
the log, the runner is told to obey no command in it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import secrets
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OPTIONS = ("fail-on", "profile")
FILES = ("config", "baseline", "waivers")
REFUSED, CRASHED = 2, 4


class Refused(Exception):
    """An input does not make sense."""


@dataclass
class Inputs:
    """The inputs by name; an empty one counts as not given."""

    values: dict[str, str]
    workspace: str
    base: str = field(init=False)

    def __post_init__(self) -> None:
        self.base = os.path.join(self.workspace, self.text("working-directory") or ".")
        if not os.path.isdir(self.base):
            raise Refused(f"working-directory {self.base!r} is no folder")

    def text(self, name: str) -> str:
        """Return a value of one line."""
        value = self.values.get(name, "").strip()
        if any(ord(char) < 32 or ord(char) == 127 for char in value):
            raise Refused(f"the input {name} has a line break or control character in it")
        return value

    def lines(self, name: str) -> list[str]:
        """Return a value of several lines, each an item."""
        items = [line.strip() for line in self.values.get(name, "").splitlines()]
        if any(ord(char) < 32 or ord(char) == 127 for item in items for char in item):
            raise Refused(f"the input {name} has a control character in it")
        return [item for item in items if item]

    def flag(self, name: str) -> bool:
        """Return a value that is `true` or `false`."""
        value = self.text(name).lower() or "false"
        if value not in ("true", "false"):
            raise Refused(f"the input {name} is neither 'true' nor 'false'")
        return value == "true"

    def path(self, name: str) -> str:
        """Return a path as seen from the top of the workspace, or nothing."""
        value = self.text(name)
        return self.place(value) if value else ""

    def place(self, value: str) -> str:
        """Return where a path of an input leads; within the workspace it is relative to it.

        So an annotation names a file as the repository does.
        """
        whole = os.path.normpath(os.path.join(self.base, value))
        try:
            inside = os.path.commonpath([whole, self.workspace]) == self.workspace
        except ValueError:  # another drive
            inside = False
        told = os.path.relpath(whole, self.workspace) if inside else whole
        return os.path.join(".", told) if told in ("-", "live") else told


class Check:
    """One run: where its files are, and what it found out."""

    def __init__(self, inputs: Inputs, folder: str) -> None:
        self.inputs = inputs
        self.folder = folder
        self.told = io.StringIO()
        self.files = {
            name: os.path.join(folder, f"report.{name}")
            for name in ("json", "markdown", "github", "sarif")
        }
        self.files["sarif"] = inputs.path("sarif-file") or self.files["sarif"]
        self.fingerprint = ""
        self.copy: tuple[str, str] | None = None
        """A format that is made anyway, and where it goes as well."""

    def run(self) -> int:
        """Capture, where that is asked for, and compare; return the exit code."""
        train = self.inputs.path("train")
        if not train:
            raise Refused("the input train is missing: the fingerprint to judge by")
        deploy = self.inputs.path("deploy")
        if deploy and self.inputs.text("root"):
            raise Refused("the inputs deploy and root exclude each other")
        if not deploy:
            deploy = self.fingerprint = os.path.join(self.folder, "deploy.json")
            code = self.call(["capture", "--role=deploy", f"--output={deploy}", *self.target()])
            if code:
                return code
        return self.call(["compare", *self.options(), "--", train, deploy])

    def target(self) -> list[str]:
        """Return the options that say which environment is captured."""
        models = [f"--model={self.inputs.place(path)}" for path in self.inputs.lines("model")]
        root = self.inputs.path("root")
        if root:
            return [f"--root={root}", *models]
        python = self.inputs.text("python") or "python3"
        if os.path.dirname(python):
            python = self.inputs.place(python)
            python = python if os.path.dirname(python) else os.path.join(".", python)
        elif python == "python3" and not shutil.which(python):
            python = "python"  # its name on Windows
        return [f"--python={python}", *models]

    def options(self) -> list[str]:
        """Return the options of the comparison; what is not given is left to the configuration."""
        inputs = self.inputs
        made = ["--format=text"]
        made += [f"--format={name}={path}" for name, path in self.files.items()]
        report = inputs.path("report-file")
        if report:
            name = inputs.text("format") or "json"
            if name in self.files or name == "text":  # each format is written to one place
                self.copy = (name, report)
            else:
                made.append(f"--format={name}={report}")
        made += [f"--{name}={inputs.text(name)}" for name in OPTIONS if inputs.text(name)]
        made += [f"--{name}={inputs.path(name)}" for name in FILES if inputs.path(name)]
        made += [f"--rules={inputs.place(folder)}" for folder in inputs.lines("rules")]
        if inputs.flag("strict"):
            made.append("--strict")
        if not inputs.path("config"):
            made += self.nearest_configuration()
        return made

    def nearest_configuration(self) -> list[str]:
        """Return the option for the file that counts in the working directory.

        The command runs in the workspace and would find it itself only from there.
        """
        if os.path.samefile(self.inputs.base, self.inputs.workspace):
            return []
        from envcheck.configuration.documents import find_configuration

        found = find_configuration(self.inputs.base)
        return [f"--config={self.inputs.place(found)}"] if found else []

    def call(self, arguments: list[str]) -> int:
        """Run one command of envcheck in this process; return its exit code."""
        from envcheck.cli import main

        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(self.told):
            code = main(arguments)
        log(out.getvalue())
        if self.copy and os.path.exists(self.files["json"]):
            self.copy_report(out.getvalue())
        return code

    def copy_report(self, text: str) -> None:
        """Write the report file in a format that was made anyway."""
        assert self.copy
        name, path = self.copy
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text if name == "text" else read(self.files[name]))
        except OSError as problem:
            raise Refused(
                f"report-file {path!r} cannot be written: {problem.strerror}"
            ) from problem

    def report(self) -> dict[str, Any]:
        """Return the report, or nothing where there is none."""
        if not os.path.exists(self.files["json"]):
            return {}
        data: dict[str, Any] = json.loads(read(self.files["json"]))
        return data

    def outputs(self, code: int) -> dict[str, str]:
        """Return the outputs; `conforms` is empty unless that was decided."""
        report = self.report()
        counts = report.get("counts", {})
        verdict = str(report.get("verdict", ""))
        conforms = {"conforms": "true", "does_not_conform": "false"}.get(verdict, "")
        path = self.inputs.path("report-file")
        digest = report.get("inputs", {}).get("deploy", {}).get("digest")
        return {
            "conforms": "false" if conforms and code == 1 else conforms,
            "verdict": verdict,
            "exit-code": str(code),
            "errors": str(counts.get("error", "")),
            "warnings": str(counts.get("warning", "")),
            "unknown": str(counts.get("undetermined", "")),
            "report": (path or self.files["json"]) if report else "",
            "sarif": self.files["sarif"] if report else "",
            "fingerprint": self.fingerprint if os.path.exists(self.fingerprint) else "",
            "digest": str(digest or ""),
        }


def log(text: str) -> None:
    """Write to the log of the step, in order."""
    sys.stdout.write(text)
    sys.stdout.flush()


def read(path: str) -> str:
    """Return the content of a text file."""
    with open(path, encoding="utf-8") as file:
        return file.read()


def append(variable: str, text: str) -> None:
    """Append to the file that GitHub names in a variable, where it does."""
    path = os.environ.get(variable)
    if path:
        with open(path, "a", encoding="utf-8", newline="\n") as file:
            file.write(text)


@contextlib.contextmanager
def no_commands() -> Any:
    """Have the runner obey nothing that is written to the log meanwhile."""
    token = secrets.token_hex(16)
    log(f"::stop-commands::{token}\n")
    try:
        yield
    finally:
        log(f"\n::{token}::\n")


def tell(check: Check, code: int) -> None:
    """Write annotations and summary: those of the report, or why there is none."""
    from envcheck.reporting.as_github import command
    from envcheck.reporting.markdown_text import fenced

    found = os.path.exists(check.files["json"])
    message = check.told.getvalue().strip() or f"exit code {code}"
    if check.inputs.flag("annotations") or not found:
        title = "envcheck: nothing was checked"
        log(read(check.files["github"]) if found else f"{command('error', message, title=title)}\n")
    if check.inputs.flag("summary"):
        head = "## ❔ envcheck: nothing was checked\n\n"
        text = read(check.files["markdown"]) if found else f"{head}{fenced(message[:9000])}\n"
        append("GITHUB_STEP_SUMMARY", text)


def write_outputs(outputs: dict[str, str]) -> None:
    """Write the outputs, each on one line."""
    lines = []
    for name, value in outputs.items():
        assert "\n" not in value
        assert "\r" not in value
        lines.append(f"{name}={value}\n")
    append("GITHUB_OUTPUT", "".join(lines))


def check_environment() -> int:
    """Run the check; return the exit code, that of `envcheck compare`."""
    workspace = os.path.abspath(os.environ.get("GITHUB_WORKSPACE") or os.getcwd())
    values = {
        name[len("INPUT_") :].lower().replace("_", "-"): value
        for name, value in os.environ.items()
        if name.startswith("INPUT_")
    }
    inputs = Inputs(values, workspace)
    for name in ("summary", "annotations"):
        inputs.flag(name)
    folder = tempfile.mkdtemp(prefix="envcheck-", dir=os.environ.get("RUNNER_TEMP") or None)
    os.chdir(workspace)
    check = Check(inputs, folder)
    with no_commands():
        code = check.run()
        log(check.told.getvalue())
    tell(check, code)
    write_outputs(check.outputs(code))
    return code


def main() -> int:
    """Run the check; whatever goes wrong is told, and is no verdict."""
    os.dup2(1, 2)  # one stream, or the runner might read the second while it obeys the first
    sys.path.insert(0, ROOT)
    import envcheck

    envcheck.__path__.append(ROOT)
    from envcheck.reporting.as_github import command

    try:
        return check_environment()
    except Refused as problem:
        code, message = REFUSED, str(problem)
    except Exception as problem:  # noqa: BLE001 - Python's own exit code 1 would be a verdict
        code, message = CRASHED, f"{type(problem).__name__}: {problem}"
    log(f"{command('error', message, title='envcheck: nothing was checked')}\n")
    write_outputs({"conforms": "", "exit-code": str(code)})
    return code


if __name__ == "__main__":
    sys.exit(main())
