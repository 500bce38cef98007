"""Write `docs/rules/`: one page for each rule, and an index, from the rules themselves.

`python -m tools.rule_pages` writes them; with `--check` the exit code is 1 when one is out of
date.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from envcheck.localisation.rulesets import all_rules
from envcheck.rulebook.explaining import as_markdown

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "rules"


def pages() -> dict[str, str]:
    """Return the content of every page by file name."""
    rules = all_rules()
    out = {}
    rows = ["| rule | severity | category | finds |", "|---|---|---|---|"]
    for rule_id in rules.book.ids:
        rule, entry = rules.book.rule(rule_id), rules.index[rule_id]
        out[f"{rule_id}.md"] = as_markdown(rule, entry)
        told = rule.title.replace("|", "\\|")
        name = f"[{rule_id} {rule.name}]({rule_id}.md)"
        rows.append(f"| {name} | {rule.severity} | {entry.category} | {told} |")
    head = (
        "# Rules\n\nNames in braces stand for what a finding fills in. This folder is generated.\n"
    )
    out["index.md"] = head + "\n" + "\n".join(rows) + "\n"
    return out


def stale() -> list[str]:
    """Return the names of pages that are missing, different or left over."""
    wanted = pages()
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    return sorted(
        name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name)
    )


def main() -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="compare only, write nothing")
    if parser.parse_args().check:
        sys.stderr.write("".join(f"{name} is out of date\n" for name in stale()))
        return 1 if stale() else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    wanted = pages()
    for name in stale():
        if name in wanted:
            (FOLDER / name).write_text(wanted[name], encoding="utf-8")
        else:
            (FOLDER / name).unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
