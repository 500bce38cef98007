"""The rules about training: those that ship with envcheck, and those of the user's folders."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from envcheck.comparing.rulesets import Rules, builtin_index, load_rules
from envcheck.comparing.tables import read_rule_file
from envcheck.errors import RuleError
from envcheck.rulebook.index import IndexEntry
from envcheck.rulebook.loading import Rulebook

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

__all__ = ["all_rules", "check_training_folder", "load_training_rules", "training_rules"]


@cache
def training_rules() -> Rulebook:
    """Return the training rules that ship with envcheck, in compiled form."""
    return Rulebook.from_data(json.loads(read_rule_file("training.json")))


def load_training_rules(folders: Iterable[str | os.PathLike[str]] = ()) -> Rules:
    """Return the built-in training rules together with those of further folders.

    Of a user's folder those count that lie in a folder named `training` or in a `training.n3`.

    Raises RuleError with every mistake, and MissingExtra when rdflib is needed and absent.
    """
    book, index = training_rules(), dict(builtin_index())
    added = False
    for named in folders:
        from envcheck.localisation.vocabulary import words
        from envcheck.rulebook.folders import load_folder

        folder = Path(named)
        if not folder.is_dir():
            raise RuleError("is no folder", place=str(folder))
        more = load_folder(folder, words(), training=True)
        book = book.merged(more)
        for rule_id in more.ids:
            rule = more.rule(rule_id)
            index.setdefault(
                rule_id,
                IndexEntry({"fault": rule.fault, "category": "setting", "component": "training",
                            "severity": rule.severity}),
            )  # fmt: skip
        added = added or bool(more.ids)
    return Rules(book, index, added)


def all_rules(folders: Iterable[str | os.PathLike[str]] = ()) -> Rules:
    """Return the rules about environments together with those about training, to list them."""
    folders = list(folders)
    of_environments, of_training = load_rules(folders), load_training_rules(folders)
    return Rules(
        of_environments.book.merged(of_training.book),
        {**of_environments.index, **of_training.index},
        of_environments.added or of_training.added,
    )


def check_training_folder(folder: Path, *, built_in: bool = False) -> int:
    """Return the number of rules about training; raises RuleError with every mistake."""
    from envcheck.localisation.vocabulary import words
    from envcheck.rulebook.compiling import compile_sources
    from envcheck.rulebook.sources import is_about_training, read_sources

    sources = {n: text for n, text in read_sources(folder).items() if is_about_training(n)}
    return len(compile_sources(sources, words(), built_in=built_in)["rules"])
