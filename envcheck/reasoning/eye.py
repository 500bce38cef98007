"""EYE as the reference engine: the same facts and rules, run by an installed EYE.

Two builds work. The native one: Debian's package `eye` (an image for SWI-Prolog) or an `eye`
command. The npm one: `eyereasoner`, which needs Node. `ENVCHECK_EYE` names the image, the
command or the script; without it, `eye.pvm`, `eye` and `eyereasoner` are looked up on PATH.
Nothing is looked up in the current folder, which may hold anything.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from envcheck.errors import EnvcheckError, UsageError
from envcheck.reasoning.implication import Body, Implication
from envcheck.reasoning.n3 import facts_to_n3, read_triples, rules_to_n3
from envcheck.reasoning.store import FactBase
from envcheck.reasoning.strata import groups

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from envcheck.reasoning.store import Triple

__all__ = ["VARIABLE", "Eye", "find_eye", "infer"]

VARIABLE = "ENVCHECK_EYE"
TIMEOUT = 300.0

_OPTIONS = ("--nope", "--quiet", "--restricted", "--no-qnames", "--pass-only-new")
_ERROR = "** ERROR **"
_INSTALL = "apt-get install eye, or npm install eyereasoner; ENVCHECK_EYE names it if not on PATH"


@dataclass(frozen=True, slots=True)
class Eye:
    """An installed EYE: the command that starts it, options to be appended."""

    command: tuple[str, ...]

    def run(self, files: Mapping[str, str], timeout: float = TIMEOUT) -> tuple[Triple, ...]:
        """Return the sorted new triples that EYE derives from N3 files, given as texts.

        Runs in a temporary folder with EYE's restricted built-ins. Raises EnvcheckError if
        EYE reports any error, also where it exits 0.
        """
        with tempfile.TemporaryDirectory(prefix="envcheck-eye-") as folder:
            names = []
            for i, text in enumerate(files.values()):
                names.append(f"input{i}.n3")
                (Path(folder) / names[-1]).write_text(text, encoding="utf-8", newline="\n")
            output = self._execute([*self.command, *_OPTIONS, *names], folder, timeout)
        return tuple(sorted(set(read_triples(output + "\n"))))

    def _execute(self, command: list[str], folder: str, timeout: float) -> str:
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        try:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise UsageError(f"EYE cannot be started: {error}", hint=_INSTALL) from error
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as error:
            _kill(process)
            raise EnvcheckError(f"EYE did not finish within {timeout:g} s") from error
        except BaseException:
            _kill(process)
            raise
        return _checked(process.returncode, out, err)


def find_eye(environment: Mapping[str, str] | None = None) -> Eye | None:
    """Return the installed EYE, or None; raises UsageError if ENVCHECK_EYE names nothing."""
    environment = os.environ if environment is None else environment
    path = environment.get("PATH", os.defpath)
    named = environment.get(VARIABLE)
    if named:
        found = shutil.which(named, path=path) or (named if Path(named).is_file() else None)
        if found is None:
            raise UsageError(f"{VARIABLE} names no file: {named}", hint=_INSTALL)
        return _eye_at(str(Path(found).absolute()), path)
    for name in ("eye.pvm", "eye", "eyereasoner"):
        found = shutil.which(name, path=path)
        eye = _eye_at(found, path) if found else None
        if eye is not None and (name != "eye" or _says_eye(eye)):
            return eye
    return None


def infer(
    base: FactBase,
    rules: Iterable[Implication],
    eye: Eye | None = None,
    timeout: float = TIMEOUT,
) -> tuple[Triple, ...]:
    """Return what EYE derives from the facts and rules: `Inference.facts` of the other engine.

    EYE waits with negated patterns until nothing else fires, but its older versions tell only
    one level of negation apart, so each further level is a run of its own. They also take a
    negated predicate that occurs nowhere else for an error, so each gets an idle rule.
    """
    eye = eye or find_eye()
    if eye is None:
        raise UsageError("EYE is not installed", hint=_INSTALL)
    levels: dict[int, list[Implication]] = {}
    for group in groups(sorted(rules, key=lambda rule: rule.key)):
        levels.setdefault(max(group.level, 1), []).extend(group.implications)
    known = FactBase(base)
    for _, implications in sorted(levels.items()):
        text = rules_to_n3([*implications, *_idle_rules(implications)])
        files = {"facts": facts_to_n3(known), "rules": text}
        for triple in eye.run(files, timeout):
            known.add(*triple)
    return tuple(triple for triple in known if triple not in base)


def _idle_rules(rules: list[Implication]) -> list[Implication]:
    """Return a rule that never fires for each negated predicate."""
    negated = {p for rule in rules for body in rule.negations for _, p, _ in body.patterns}
    never = "eye:never"
    body = Body([(never, never, never)])
    return [Implication(never, body, [(never, predicate, never)]) for predicate in sorted(negated)]


def _eye_at(found: str, path: str) -> Eye | None:
    if not found.endswith(".pvm"):
        return Eye((found,))
    prolog = shutil.which("swipl", path=path)
    return Eye((prolog, "-x", found, "--")) if prolog else None


def _says_eye(eye: Eye) -> bool:
    """Tell whether a command named `eye` is the reasoner: others bear that name."""
    try:
        done = subprocess.run(
            [*eye.command, "--version"], capture_output=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return b"EYE v" in done.stdout + done.stderr


def _kill(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.communicate()


def _checked(code: int, out: bytes, err: bytes) -> str:
    output = out.decode("utf-8", "replace")
    errors = err.decode("utf-8", "replace")
    for line in (output + "\n" + errors).splitlines():
        if _ERROR in line:
            raise EnvcheckError(f"EYE: {line[line.index(_ERROR) :].strip()[:500]}")
    if code:
        raise EnvcheckError(f"EYE exited with {code}: {errors.strip()[-500:]}")
    return output
