"""What the recorded model files need: which packages count, and which are there for nothing.

The roots are the distributions that provide what the files import or what runs their format;
what those require, with markers evaluated for the deploy side, counts too. Code that serves the
model is not known, so a package that prepares input is never called unused, unless the policy
names the roots of that code.
"""

from __future__ import annotations

from collections.abc import Iterable

from envcheck.comparing.artefacts import Artefact, shipped_artefacts
from envcheck.comparing.checks import MISFIT, OPEN, Check, put_check
from envcheck.comparing.estimators import names_estimators
from envcheck.comparing.graph import DEPLOY, Graph
from envcheck.comparing.inventory import Inventory
from envcheck.comparing.needs import Need, needs_of, providers
from envcheck.comparing.tables import table
from envcheck.records import replace

__all__ = ["Reach", "add_reachability"]

_PROVEN, _UNPROVEN, _UNUSED = "ec:proven", "ec:unproven", "ec:unused"
_READS_MODELS = frozenset(
    {
        "pickle-reader",
        "pickle-helper",
        "model-format",
        "format-helper",
        "runtime",
        "graph-runtime",
    }
)
"""Roles that serve nothing but the model file itself."""
_SERVES_INPUT = frozenset({"preprocess", "numeric-helper", "native-extension"})
"""Roles that count as unused only where the policy names the roots."""
_NOTHING_RECORDED = (
    "no model file is recorded (envcheck capture --model PATH), so every package that can read or"
    " run a model is taken as needed"
)
_ON_TRAIN_ONLY = (
    "model files are recorded on the train side only, so whether the deploy side has the same"
    " files was not checked"
)
_KERAS_FORMATS = frozenset({"keras", "hdf5", "savedmodel"})


class Reach:
    """What follows from the model files of a pair; empty when none is recorded."""

    def __init__(self, artefacts: list[Artefact]) -> None:
        self.artefacts = artefacts
        self.complete = False
        self.proven: dict[str, Artefact] = {}
        """Packages that a file needs, each with a file that needs it."""
        self.unused: frozenset[str] = frozenset()
        self.notes: tuple[str, ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """The facts of all files."""
        return tuple(artefact.source for artefact in self.artefacts)


def add_reachability(graph: Graph, train: Inventory, deploy: Inventory) -> Reach:
    """Add the use of packages, what is needed and missing, and say so to the inventories."""
    reach = Reach(shipped_artefacts(graph.train, graph.deploy))
    if not reach.artefacts:
        reach.notes = (_NOTHING_RECORDED,)
        return reach
    usable = [artefact for artefact in reach.artefacts if artefact.fact.is_ok]
    own: list[str] = []
    needs = [
        need
        for artefact in usable
        for need in needs_of(artefact, deploy.fingerprint)
        if not _is_own(train, deploy, need, own)
    ]
    roots = _roots(graph, train, deploy, needs)
    reach.proven.update(_closure(deploy, roots))
    reach.complete = len(usable) == len(reach.artefacts) and all(map(_tells_all, usable))
    _add_use(graph, train, deploy, reach)
    if reach.complete:
        _add_knowledge(graph, reach)
        if all(providers(deploy, need) for need in needs):
            for name, artefact in roots.items():
                sources = (deploy.source(name), artefact.source)
                graph.put_value(DEPLOY, "runsModelsWith", name, *sources)
    deploy.unused, deploy.needed = reach.unused, frozenset(reach.proven)
    reach.notes = (_note(reach), *own)
    if reach.artefacts[0].side == "train":
        reach.notes += (_ON_TRAIN_ONLY,)
    return reach


def _tells_all(artefact: Artefact) -> bool:
    """Return whether a file says everything that loading it imports."""
    told = artefact.get("imports") is not None and not artefact.get("unresolved_globals")
    return told and artefact.format not in ("", "unknown", "safetensors")


def _roots(
    graph: Graph, train: Inventory, deploy: Inventory, needs: Iterable[Need]
) -> dict[str, Artefact]:
    """Return the deployed packages that files import; add what is missing."""
    roots: dict[str, Artefact] = {}
    seen: set[str] = set()
    for need in needs:
        here = providers(deploy, need)
        for name in here:
            roots.setdefault(name, need.artefact)
        if here or need.is_open:
            continue
        check, candidate = _missing(train, deploy, need)
        if check.node not in seen:
            seen.add(check.node)
            before = None if providers(train, need) else replace(check, outcome=MISFIT)
            put_check(graph, check, before if train.complete else None)
        if candidate and check.outcome == MISFIT:
            roots.setdefault(candidate, need.artefact)
            graph.put(check.node, "requires", f"pkg:{candidate}", *check.sources)
    return roots


def _is_own(train: Inventory, deploy: Inventory, need: Need, notes: list[str]) -> bool:
    """Return whether an import is that of the project's own code, which no fact records."""
    if need.usual or need.pattern or not (train.complete and deploy.complete):
        return False
    if providers(train, need) or providers(deploy, need):
        return False
    notes.append(
        f"{need.artefact.name} imports {need.label}, which no distribution provides on either"
        " side: it is taken for code of the project"
    )
    return True


def _missing(train: Inventory, deploy: Inventory, need: Need) -> tuple[Check, str]:
    """Return the check of a need that no deployed package meets, and what would meet it."""
    there = providers(train, need)
    candidate = there[0] if there else need.usual
    list_source = "deploy:python.packages"
    sources = [need.artefact.source, list_source]
    open_question = ""
    if not deploy.complete or deploy.intended:
        open_question = "the list of packages is not complete"
    elif not candidate:
        open_question = "the list of packages of the train side is not complete"
    elif not there and any(name in deploy.packages for name in need.may_serve):
        open_question = "a package is installed that may run this format"
    wanted = candidate or need.label
    if there and not open_question:
        sources.append(train.source(there[0]))
        version = train.packages[there[0]].version
        wanted = f"{candidate}=={version}" if version else candidate
    check = Check(
        subject=f"package.{candidate}" if candidate else need.artefact.key,
        kind="needed",
        part="" if candidate else f"-{need.label}",
        outcome=OPEN if open_question else MISFIT,
        sources=tuple(sources),
        name=candidate,
        what=f"{need.artefact.name} ({need.reason})",
        wanted=wanted,
        open_question=open_question,
    )
    return check, candidate


def _closure(deploy: Inventory, roots: dict[str, Artefact]) -> dict[str, Artefact]:
    """Return the roots and what they require there."""
    found, todo = dict(roots), list(roots)
    while todo:
        name = todo.pop()
        for needed in deploy.requirements(name):
            if needed.name in deploy.packages and needed.name not in found:
                found[needed.name] = found[name]
                todo.append(needed.name)
    return found


def _add_use(graph: Graph, train: Inventory, deploy: Inventory, reach: Reach) -> None:
    """Add the use of every package that is not the same on both sides."""
    idle = _READS_MODELS | (_SERVES_INPUT if graph.policy.roots else frozenset())
    tells = reach.complete and deploy.markers is not None and not deploy.intended
    declared = {name: reach.artefacts[0] for name in graph.policy.roots if name in deploy.packages}
    used = reach.proven.keys() | _closure(deploy, declared).keys() | set(graph.policy.roots)
    unused = set()
    for name in sorted(train.packages.keys() | deploy.packages.keys()):
        side = train if name in train.packages else deploy
        if name not in used and tells and side.table_role(name) in idle:
            unused.add(name)
        if _is_same(train, deploy, name):
            continue
        source = side.source(name)
        if name in reach.proven:
            graph.put(f"pkg:{name}", "use", _PROVEN, source, reach.proven[name].source)
        elif name in unused:
            graph.put(f"pkg:{name}", "use", _UNUSED, source, *reach.sources)
        elif tells and name not in deploy.packages and side.table_role(name) == "numeric":
            graph.put(f"pkg:{name}", "use", _UNPROVEN, source, *reach.sources)
    reach.unused = frozenset(unused)


def _is_same(train: Inventory, deploy: Inventory, name: str) -> bool:
    here, there = train.packages.get(name), deploy.packages.get(name)
    return here is not None and there is not None and here.value == there.value


def _add_knowledge(graph: Graph, reach: Reach) -> None:
    """Add what the files tell that the versions of packages only hint at."""
    judged = ["numpy"]
    if any(artefact.format in _KERAS_FORMATS for artefact in reach.artefacts):
        judged += ["keras", "keras-nightly", "tf-keras", *table("variants")["groups"]["tensorflow"]]
    pickled = [artefact for artefact in reach.artefacts if names_estimators(artefact)]
    if pickled and all(artefact.names("sklearn_versions") for artefact in pickled):
        judged.append("scikit-learn")
    for name in judged:
        graph.put(f"pkg:{name}", "judgedBy", "ec:file", *reach.sources)
    if all(artefact.get("holds_code") is False for artefact in reach.artefacts):
        graph.put(DEPLOY, "modelCode", "ec:absent", *reach.sources)


def _note(reach: Reach) -> str:
    names = ", ".join(artefact.name for artefact in reach.artefacts)
    if not reach.complete:
        return (
            f"{names} does not tell everything that loading it imports, so every package that can"
            " read or run a model is taken as needed"
        )
    idle = ", ".join(sorted(reach.unused))
    needed = f"what {names} needs decides which packages count; code that serves it is not known"
    return f"{needed}. Not needed: {idle}" if idle else needed
