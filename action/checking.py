"""The check itself: capture, compare the models where that is asked for, judge."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import tempfile
from typing import TYPE_CHECKING, Any

from action.inputs import Refused, read_inputs
from action.models import NotInstalled, asked_for, compare_models
from action.telling import log, no_commands, read, tell, write_outputs

if TYPE_CHECKING:
    from action.inputs import Inputs

__all__ = ["CRASHED", "REFUSED", "Check", "check_environment"]

OPTIONS = ("fail-on", "profile")
FILES = ("config", "baseline", "waivers")
REFUSED, CRASHED = 2, 4


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
        self.models = ""
        """Why the models were not compared though that was asked for, or nothing."""
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
        code, report = self.compare_models()
        models = [f"--parity={report}"] if report else []
        judged = self.call(["compare", *self.options(), *models, "--", train, deploy])
        return judged if judged in (REFUSED, CRASHED) else code or judged

    def compare_models(self) -> tuple[int, str]:
        """Compare the models where that is asked for; return the exit code and the report.

        The code is 0 where there is a report, whatever it says.
        """
        try:
            if not asked_for(self.inputs):
                return 0, ""
            done = compare_models(self.inputs, self.folder)
        except NotInstalled as problem:
            code, self.models = CRASHED, str(problem)
        except ValueError as problem:
            raise Refused(str(problem)) from problem
        else:
            if done.report and done.code != CRASHED:
                return 0, done.report
            code, self.models = done.code or CRASHED, done.told.strip()
        self.models = self.models or f"exit code {code}"
        self.told.write(f"{self.models}\n")
        return code, ""

    def target(self) -> list[str]:
        """Return the options that say which environment is captured."""
        models = [f"--model={self.inputs.place(path)}" for path in self.inputs.lines("model")]
        root = self.inputs.path("root")
        if root:
            return [f"--root={root}", *models]
        python = self.inputs.interpreter("python") or "python3"
        if python == "python3" and not shutil.which(python):
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
        if self.models:
            verdict = conforms = ""
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
            "parity": str(report.get("parity", {}).get("verdict", "")),
        }


def check_environment() -> int:
    """Run the check; return the exit code, that of `envcheck compare`."""
    inputs = read_inputs()
    folder = tempfile.mkdtemp(prefix="envcheck-", dir=os.environ.get("RUNNER_TEMP") or None)
    os.chdir(inputs.workspace)
    check = Check(inputs, folder)
    with no_commands():
        code = check.run()
        log(check.told.getvalue())
    tell(check, code)
    write_outputs(check.outputs(code))
    return code
