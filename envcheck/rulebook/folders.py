"""A user's rule folder: compiled when first seen, cached where the caller says."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envcheck.errors import RuleError
from envcheck.rulebook.loading import SCHEMA, Rulebook, load_compiled
from envcheck.rulebook.sources import is_about_training, read_sources, source_hash

if TYPE_CHECKING:
    from envcheck.rulebook.words import Words

__all__ = ["load_folder", "write_compiled"]


def load_folder(
    folder: Path, words: Words, cache: Path | None = None, *, training: bool = False
) -> Rulebook:
    """Return the rules of a folder of `.n3` files: those about environments, or about training.

    Rules about training lie in a folder named `training` or in a file `training.n3`.

    With a `cache` folder, compiled rules are kept there by the hash of the sources and the
    vocabulary, and rdflib is needed only the first time. Without one nothing is written.
    """
    sources = {
        name: content
        for name, content in read_sources(folder).items()
        if is_about_training(name) == training
    }
    kept = None if cache is None else cache / f"{_key(sources, words)}.json"
    if kept is not None and kept.is_file():
        try:
            return load_compiled(kept)
        except RuleError:
            pass  # a damaged cache is no reason to fail: compile again
    from envcheck.rulebook.compiling import compile_sources

    compiled = compile_sources(sources, words)
    if kept is not None:
        write_compiled(kept, compiled)
    return Rulebook.from_data(compiled)


def write_compiled(path: Path, compiled: dict[str, Any]) -> None:
    """Write compiled rules, one per line, in one step that leaves no half-written file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
    try:
        with open(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(_to_text(compiled))
        Path(name).chmod(0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _to_text(compiled: dict[str, Any]) -> str:
    """Return JSON with one rule, implication or fact per line, for readable diffs."""
    parts = []
    for key, value in compiled.items():
        if isinstance(value, list):
            shown = "[" + ",".join("\n" + _dump(item) for item in value) + "\n]"
        elif isinstance(value, dict):
            items = (f"\n{_dump(name)}: {_dump(item)}" for name, item in value.items())
            shown = "{" + ",".join(items) + "\n}"
        else:
            shown = _dump(value)
        parts.append(f"{_dump(key)}: {shown}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _dump(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _key(sources: dict[str, bytes], words: Words) -> str:
    classes = None if words.classes is None else sorted(words.classes)
    known = [SCHEMA, sorted(words.predicates), sorted(words.reserved), classes]
    text = source_hash(sources) + json.dumps(known)
    return hashlib.sha256(text.encode()).hexdigest()
