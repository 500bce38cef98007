"""Compile the rule files below `rules/`: `compiled.json` and, for training, `training.json`.

python -m tools.compile_rules            write it
python -m tools.compile_rules --check    exit 1 when it is out of date
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from envcheck.comparing import vocabulary as of_environments
from envcheck.errors import RuleError
from envcheck.fingerprint.document import write_atomically
from envcheck.localisation import vocabulary as of_training
from envcheck.rulebook.compiling import compile_sources
from envcheck.rulebook.sources import is_about_training, read_sources

RULES = Path(__file__).resolve().parent.parent / "rules"
ENVIRONMENTS = RULES / "compiled.json"
TRAINING = RULES / "training.json"
TARGETS = (ENVIRONMENTS, TRAINING)
"""Two files, because the start-up check of a container loads the first one alone."""


def compiled_text(target: Path) -> str:
    """Return what a compiled file should hold; raises RuleError with every mistake."""
    training = target == TRAINING
    words = (of_training if training else of_environments).words()
    sources = {
        name: content
        for name, content in read_sources(RULES).items()
        if is_about_training(name) == training
    }
    data = compile_sources(sources, words, built_in=True)
    return json.dumps(data, sort_keys=True, indent=1) + "\n"


def main() -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare only, write nothing")
    check = parser.parse_args().check
    try:
        texts = {target: compiled_text(target) for target in TARGETS}
    except RuleError as problem:
        sys.stderr.write(f"{problem}\n")
        return 2
    stale = [
        target
        for target, text in texts.items()
        if not target.is_file() or target.read_text(encoding="utf-8") != text
    ]
    if check:
        told = "".join(f"{target.name} is out of date\n" for target in stale)
        sys.stderr.write(told or "up to date\n")
        return 1 if stale else 0
    for target in stale:
        write_atomically(str(target), texts[target])
    return 0


if __name__ == "__main__":
    sys.exit(main())
