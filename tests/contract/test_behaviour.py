"""What modules must not do: print, exit, or act when imported."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from tests.contract.sources import Source, product

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SPEAKERS = {
    "envcheck.cli",
    "envcheck.__main__",
    "envcheck.conversion.child",  # how the processes that convert and compare end
    "envcheck.goldens.apart",  # the process that replays a golden at start-up
    "envcheck.probing.runner",  # the script that another interpreter runs: it answers on stdout
}
SPEAKING = {
    "print", "input", "exit", "quit", "sys.exit", "os._exit", "os.abort", "sys.stdout.write",
    "sys.stderr.write", "sys.stdout.buffer.write", "SystemExit",
}  # fmt: skip
ACTING = {
    "open", "os.getenv", "os.environ.get", "os.listdir", "os.scandir", "os.open", "os.getcwd",
    "argparse.ArgumentParser", "logging.basicConfig", "subprocess.run", "subprocess.Popen",
    "warnings.simplefilter", "warnings.filterwarnings", "locale.setlocale", "signal.signal",
    "Path.cwd", "Path.home", "resources.files", "importlib.resources.files",
}  # fmt: skip
ACTING_METHODS = {"read_text", "read_bytes", "write_text", "addHandler", "setLevel"}


def speech(source: Source) -> list[str]:
    """Return the calls that print or end the process, outside the modules that may."""
    if any(source.module == name or source.module.startswith(f"{name}.") for name in SPEAKERS):
        return []
    return [
        f"{source.place}:{node.lineno}: calls {_name(node.func)}"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and _name(node.func) in SPEAKING
    ]


def acts_on_import(source: Source) -> list[str]:
    """Return what runs at import and reads or changes the world."""
    found = []
    for node in _at_import(source.tree.body):
        if isinstance(node, ast.Call):
            name = _name(node.func)
            if name in ACTING or name.rpartition(".")[2] in ACTING_METHODS:
                found.append(f"{source.place}:{node.lineno}: calls {name} at import")
        elif isinstance(node, ast.Subscript) and _name(node.value) == "os.environ":
            found.append(f"{source.place}:{node.lineno}: reads os.environ at import")
    return found


CHECKS: list[Callable[[Source], list[str]]] = [speech, acts_on_import]


@pytest.mark.parametrize("source", product(), ids=lambda source: source.place)
def test_modules_are_silent(source: Source) -> None:
    """Only the command line prints and exits; importing a module changes and reads nothing."""
    assert [line for check in CHECKS for line in check(source)] == []


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (speech, "def f():\n    print('x')"),
        (speech, "import sys\ndef f():\n    sys.exit(1)"),
        (speech, "def f():\n    raise SystemExit(1)"),
        (acts_on_import, "import os\nHOME = os.environ['HOME']"),
        (acts_on_import, "import os\nclass A:\n    home = os.environ.get('HOME')"),
        (acts_on_import, "if True:\n    DATA = open('x').read()"),
        (acts_on_import, "PARSER = argparse.ArgumentParser()"),
        (acts_on_import, "def f(x=open('y')):\n    pass"),
    ],
)
def test_the_checks_see_what_they_are_for(check: Callable[[Source], list[str]], text: str) -> None:
    """Each check reports a planted violation with its place."""
    assert check(Source("planted.py", "envcheck.planted", text))[0].startswith("planted.py:")


def test_the_checks_let_functions_act() -> None:
    """What a function does when it is called is not an act of the import."""
    text = "import os\ndef f():\n    return open(os.environ['HOME'])"

    assert acts_on_import(Source("planted.py", "envcheck.planted", text)) == []


def _at_import(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield every node that is evaluated when the module is imported."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            for default in (*statement.args.defaults, *statement.args.kw_defaults):
                if default is not None:
                    yield from ast.walk(default)
            continue
        nested = [
            child
            for child in ast.walk(statement)
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        ]
        inside = {id(node) for function in nested for node in ast.walk(function)}
        yield from (node for node in ast.walk(statement) if id(node) not in inside)


def _name(node: ast.expr) -> str:
    """Return a dotted name, or nothing for any other expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_name(node.value)}.{node.attr}"
    return ""
