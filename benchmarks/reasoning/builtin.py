"""The built-in engine as a process: reads facts and compiled rules, prints how many are new."""

from __future__ import annotations

import json
import sys

from envcheck.reasoning import FactBase, Implication, infer


def main(facts: str, rules: str) -> None:
    """Load, infer, print the number of new facts."""
    base = FactBase()
    with open(facts, encoding="utf-8") as file:
        for subject, predicate, object_ in json.load(file):
            base.add(subject, predicate, object_, "fact")
    with open(rules, encoding="utf-8") as file:
        implications = [Implication.from_data(item) for item in json.load(file)]
    print(len(infer(base, implications).facts))


if __name__ == "__main__":
    main(*sys.argv[1:])
