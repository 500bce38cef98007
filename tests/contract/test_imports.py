"""Who may import what, and when."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.contract.sources import STDLIB, Source, adapted, product

if TYPE_CHECKING:
    from pathlib import Path

    from tests.contract.sources import Import

PROBES_MAY_IMPORT = ("envcheck.artefacts", "envcheck.facts", "envcheck.probing")


def third_party_at_start(source: Source) -> list[str]:
    """Return the imports that would make starting this module need an installed package."""
    own = adapted(source.module)
    may = STDLIB | {"envcheck", own}
    return [
        _at(source, found)
        for found in source.imports
        if not (found.lazy or found.typing_only)
        and (found.top not in may or (own is None and adapted(found.module) is not None))
    ]


def foreign_to_a_probe(source: Source) -> list[str]:
    """Return what a probe imports, at any time, beyond what probes may know; no other probe."""
    return [
        _at(source, found)
        for found in source.imports
        if found.top not in STDLIB
        and found.module != "envcheck"
        and not any(_is_in(found.module, allowed) for allowed in PROBES_MAY_IMPORT)
    ]


def uses_of_the_cli(source: Source) -> list[str]:
    """Return the imports of the command line by anything that is not part of it."""
    if _is_in(source.module, "envcheck.cli") or source.module == "envcheck.__main__":
        return []
    return [_at(source, found) for found in source.imports if _is_in(found.module, "envcheck.cli")]


def static_uses_of_probes(source: Source) -> list[str]:
    """Return static imports of probes, which the core loads by name only."""
    return [
        _at(source, found)
        for found in source.imports
        if _is_in(found.module, "envcheck.probes") or found.top in {"probes", "rules"}
    ]


CHECKS = [third_party_at_start, uses_of_the_cli, static_uses_of_probes]


@pytest.mark.parametrize("source", product(), ids=lambda source: source.place)
def test_product_imports(source: Source) -> None:
    """Nothing outside the standard library at start, nothing from the command line or a probe."""
    found = [line for check in CHECKS for line in check(source)]

    assert found == []


@pytest.mark.parametrize(
    "source",
    [source for source in product() if source.place.startswith("probes/")],
    ids=lambda source: source.place,
)
def test_a_probe_knows_little(source: Source) -> None:
    """A probe imports the standard library, and how to give facts, look and read model files."""
    assert foreign_to_a_probe(source) == []


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (third_party_at_start, "import numpy"),
        (third_party_at_start, "try:\n    from rdflib import Graph\nexcept ImportError: pass"),
        (third_party_at_start, "class A:\n    import pydantic.fields"),
        (third_party_at_start, "from envcheck.rulebook.notation import parse"),
        (foreign_to_a_probe, "from envcheck.probes.cpu import FLAGS"),
        (foreign_to_a_probe, "from envcheck import comparing"),
        (foreign_to_a_probe, "def probe(host):\n    import psutil"),
        (uses_of_the_cli, "from envcheck import cli"),
        (uses_of_the_cli, "def f():\n    from envcheck.cli import main"),
        (static_uses_of_probes, "import probes.cpu"),
        (static_uses_of_probes, "from envcheck.probes import cpu"),
    ],
)
def test_the_checks_see_what_they_are_for(check: object, text: str) -> None:
    """Each check reports a planted violation with its place."""
    assert callable(check)
    source = Source("planted.py", "envcheck.planted", text)

    assert check(source)[0].startswith("planted.py:")


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    import numpy",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy",
        "from envcheck.facts import ok",
    ],
)
def test_the_checks_let_the_rest_pass(text: str) -> None:
    """Lazy imports, imports for type checkers and the layers below are fine."""
    source = Source("planted.py", "envcheck.planted", text)

    assert [line for check in CHECKS for line in check(source)] == []


@pytest.mark.parametrize(
    "command", [["capture", "-q"], ["compare", "examples/train.json", "examples/harmless.json"]]
)
def test_what_starts_often_starts_light(root: Path, command: list[str]) -> None:
    """Neither command loads `dataclasses`, which brings `inspect`: records do without them."""
    code = (
        "import sys; before = set(sys.modules); from envcheck.cli import main; main(sys.argv[1:])\n"
        "print(*sys.modules.keys() - before, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command], cwd=root, capture_output=True, text=True, timeout=60
    )

    loaded = set(done.stderr.split())
    assert "envcheck.fingerprint" in loaded
    assert loaded.isdisjoint({"dataclasses", "inspect", "pydantic", "subprocess"})


def test_layers(root: Path) -> None:
    """The import contracts of pyproject.toml hold."""
    done = lint_imports(root)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "line", "broken"),
    [
        ("facts.py", "import envcheck.cli", "layers"),
        ("errors.py", "def late() -> None:\n    import numpy", "framework"),
        ("facts.py", "def late() -> None:\n    import packaging", "depends on nothing"),
    ],
)
def test_layers_are_checked(
    root: Path, tmp_path: Path, module: str, line: str, broken: str
) -> None:
    """The import contracts report an import that points the wrong way."""
    shutil.copy(root / "pyproject.toml", tmp_path)
    shutil.copytree(root / "envcheck", tmp_path / "envcheck", ignore=_CACHES)
    with (tmp_path / "envcheck" / module).open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")

    done = lint_imports(tmp_path)

    assert done.returncode == 1, done.stdout + done.stderr
    assert [text for text in done.stdout.splitlines() if broken in text and "BROKEN" in text]


_CACHES = shutil.ignore_patterns("__pycache__")


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter on a checkout."""
    code = "from importlinter.cli import lint_imports_command as main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, "--no-cache"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )


def _is_in(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def _at(source: Source, found: Import) -> str:
    return f"{source.place}:{found.line}: imports {found.module}"
