"""Compile the rule files below `rules/` into `rules/compiled.json`.

python -m tools.compile_rules            write it
python -m tools.compile_rules --check    exit 1 when it is out of date
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from envcheck.comparing.vocabulary import words
from envcheck.errors import RuleError
from envcheck.fingerprint.document import write_atomically
from envcheck.rulebook.compiling import compile_folder

RULES = Path(__file__).resolve().parent.parent / "rules"
TARGET = RULES / "compiled.json"


def compiled_text() -> str:
    """Return what the compiled file should hold; raises RuleError with every mistake."""
    data = compile_folder(RULES, words(), built_in=True)
    return json.dumps(data, sort_keys=True, indent=1) + "\n"


def main() -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare only, write nothing")
    check = parser.parse_args().check
    try:
        text = compiled_text()
    except RuleError as problem:
        sys.stderr.write(f"{problem}\n")
        return 2
    fresh = TARGET.is_file() and TARGET.read_text(encoding="utf-8") == text
    if check:
        sys.stderr.write("up to date\n" if fresh else f"{TARGET.name} is out of date\n")
        return 0 if fresh else 1
    if not fresh:
        write_atomically(str(TARGET), text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
