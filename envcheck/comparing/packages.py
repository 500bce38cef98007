"""Packages that differ between the two environments, with role, direction and distance."""

from __future__ import annotations

import re

from envcheck.comparing.graph import DEPLOY, TRAIN, Graph
from envcheck.comparing.inventory import Inventory, Package
from envcheck.comparing.tables import role_of, table
from envcheck.reasoning.terms import string
from envcheck.versions import compare_versions, distance, is_prerelease, satisfies

__all__ = ["add_packages", "add_unchanged"]

_LIST = "python.packages"
_HEAD = re.compile(r"v?(?:(?P<epoch>\d+)!)?(?P<major>\d+)(?:\.(?P<minor>\d{1,9}))?", re.ASCII)
_UNPICKLES = frozenset({"pickle-reader", "pickle-helper"})
_RUNS_MODELS = frozenset({"pickle-reader", "model-format", "runtime", "graph-runtime"})


def add_packages(graph: Graph, train: Inventory, deploy: Inventory) -> None:
    """Add a node for every package that is not the same on both sides."""
    for inventory, node in ((train, TRAIN), (deploy, DEPLOY)):
        _add_list(graph, inventory, node)
    for name in sorted(train.packages):
        there = deploy.packages.get(name)
        if there is None:
            _add_missing(graph, train, deploy, name)
        else:
            _add_pair(graph, train, deploy, (train.packages[name], there))
    for name in sorted(deploy.packages.keys() - train.packages.keys()):
        if name in train.unread:
            _add_undetermined(graph, deploy, name, f"train:package.{name}")
    for name in sorted(deploy.unread.keys() & train.packages.keys()):
        _add_undetermined(graph, train, name, f"deploy:package.{name}")


def add_unchanged(graph: Graph, train: Inventory, deploy: Inventory) -> None:
    """Add the packages that are the same on both sides, and those on the deploy side only.

    The built-in rules speak of differences and do not need them; a user's rules may.
    """
    for name, package in sorted(deploy.packages.items()):
        node, source = f"pkg:{name}", deploy.source(name)
        there = train.packages.get(name)
        if there is None:
            sources = (source, f"train:{_LIST}")
            relation = "ec:onDeployOnly" if train.complete else "ec:undetermined"
        elif package.full_version is None or package.full_version != there.full_version:
            continue
        else:
            sources = (source, train.source(name))
            relation = "ec:same"
            graph.put_value(node, "trainVersion", there.full_version, sources[1])
        _describe(graph, node, name, deploy)
        graph.put(node, "relation", relation, *sources)
        graph.put_value(node, "deployVersion", package.full_version or "any", source)


def _add_list(graph: Graph, inventory: Inventory, node: str) -> None:
    """Add what is known of the list as a whole: whether it is complete and can run a model."""
    source = f"{inventory.side}:{_LIST}"
    state = "complete" if inventory.complete else "partial"
    graph.put(node, "packageList", f"ec:{state}", source)
    if inventory.intended:
        graph.put(node, "packageList", "ec:intended", source)
    running = [
        name for name in sorted(inventory.packages) if inventory.table_role(name) in _RUNS_MODELS
    ]
    for name in running:
        graph.put_value(node, "runsModelsWith", name, inventory.source(name))
        if inventory.table_role(name) == "graph-runtime":
            graph.put_value(node, "servesWith", name, inventory.source(name))
    for name in sorted(inventory.packages):
        if inventory.table_role(name) in _UNPICKLES:
            graph.put_value(node, "unpicklesWith", name, inventory.source(name))
    if running:
        graph.put_value(
            node,
            "modelPackages",
            ", ".join(running[:4]),
            *(inventory.source(name) for name in running[:4]),
        )


def _describe(graph: Graph, node: str, name: str, inventory: Inventory) -> None:
    """Add the name and the role of a package."""
    source = inventory.source(name)
    graph.put_value(node, "name", name, source)
    graph.put(node, "role", f"role:{inventory.role(name)}", source)


def _add_missing(graph: Graph, train: Inventory, deploy: Inventory, name: str) -> None:
    package = train.packages[name]
    variant = deploy.stand_in(name)
    if variant is not None:
        _add_variant(graph, train, deploy, (package, variant))
        return
    node = f"pkg:{name}"
    if not deploy.complete or name in deploy.unread:
        if name not in deploy.unread:
            _add_undetermined(graph, train, name, f"deploy:{_LIST}")
            absence = (train.source(name), f"deploy:{_LIST}")
            graph.put(node, "presence", "ec:undetermined", *absence)
        return
    _describe(graph, node, name, train)
    graph.put(node, "relation", "ec:onTrainOnly", train.source(name), f"deploy:{_LIST}")
    graph.put_value(node, "trainVersion", package.spelled, train.source(name))
    graph.put_value(node, "wanted", package.wanted, train.source(name))


def _add_undetermined(graph: Graph, known: Inventory, name: str, open_fact: str) -> None:
    node = f"pkg:{name}"
    _describe(graph, node, name, known)
    graph.put(node, "relation", "ec:undetermined", known.source(name), open_fact)


def _add_variant(
    graph: Graph, train: Inventory, deploy: Inventory, pair: tuple[Package, Package]
) -> None:
    """Add a package that another one stands in for, and how their versions differ."""
    package, variant = pair
    node = f"pkg:{package.name}"
    sources = (train.source(package.name), deploy.source(variant.name))
    names = {package.name, variant.name}
    same = any(names <= set(group) for group in table("variants")["same_function"])
    kind = "sameFunction" if same else "otherBuild"
    graph.put(node, "variant", f"ec:{kind}", *sources)
    graph.put_value(node, "standIn", variant.name, sources[1])
    _describe(graph, node, package.name, train)
    graph.put_value(node, "trainVersion", package.spelled, sources[0])
    graph.put_value(node, "deployVersion", variant.spelled, sources[1])
    if package.version and variant.version:
        _add_order(graph, node, pair, sources)


def _add_pair(
    graph: Graph, train: Inventory, deploy: Inventory, pair: tuple[Package, Package]
) -> None:
    """Add a package that both sides have, unless it is the same."""
    here, there = pair
    sources = (train.source(here.name), deploy.source(there.name))
    node = f"pkg:{here.name}"
    if here.version is None or there.version is None:
        _add_intention(graph, train, pair, sources)
        return
    if here.full_version != there.full_version and _add_order(graph, node, pair, sources):
        _describe(graph, node, here.name, train)
        graph.put_value(node, "trainVersion", here.full_version, sources[0])
        graph.put_value(node, "deployVersion", there.full_version, sources[1])
        return
    _add_content(graph, node, train, pair)


def _add_order(
    graph: Graph, node: str, pair: tuple[Package, Package], sources: tuple[str, str]
) -> bool:
    """Add direction and distance of two versions; return whether they differ."""
    here, there = pair
    train, deploy = str(here.full_version), str(there.full_version)
    order = compare_versions(deploy, train)
    if order == 0:
        return False
    relation = "ec:different" if order is None else ("ec:older" if order < 0 else "ec:newer")
    apart = distance(train, deploy, here.name)
    if apart == "local":
        relation = "ec:different"
    graph.put(node, "relation", relation, *sources)
    graph.put(node, "distance", f"ec:{apart or 'unordered'}", *sources)
    if is_prerelease(deploy) and not is_prerelease(train):
        graph.put_value(node, "preRelease", True, *sources)
    role = graph.policy.roles.get(here.name) or role_of(here.name)
    if role == "pickle-reader" and relation in ("ec:older", "ec:newer"):
        _add_pickle_outlook(graph, node, (here.name, train, deploy), sources)
    if here.name == "numpy" and _loses_core(train, deploy):
        graph.put_value(node, "pickleBreak", "numpy._core does not exist before 1.26", *sources)
    return True


def _loses_core(train: str, deploy: str) -> bool:
    """Return whether arrays pickled by numpy 2 meet a numpy without the module they name."""
    written_by_2 = compare_versions(train, "2.0.0.dev0") in (0, 1)
    return written_by_2 and compare_versions(deploy, "1.26") == -1


def _add_pickle_outlook(
    graph: Graph, node: str, versions: tuple[str, str, str], sources: tuple[str, str]
) -> None:
    """Add what is known of pickles written by one release and read by the other."""
    name, train, deploy = versions
    direction = "older" if compare_versions(deploy, train) == -1 else "newer"
    known = table("pickles")
    breaks = [
        row["what"] for row in known["breaks"] if _crosses(row, name, direction, (train, deploy))
    ]
    if breaks:
        graph.put_value(node, "pickleBreak", "; ".join(breaks), *sources)
    partial = [
        row["what"] for row in known["partial"] if _crosses(row, name, direction, (train, deploy))
    ]
    if partial:
        graph.put_value(node, "picklePartialBreak", "; ".join(partial), *sources)
    for row in known["exact"]:
        if (row["package"], row["writer"], row["reader"]) == (name, _minor(train), _minor(deploy)):
            graph.put_value(node, "pickleExact", row["what"], *sources)
    graph.put_value(node, "releasesApart", _releases_apart(train, deploy), *sources)


def _crosses(row: dict[str, str], name: str, direction: str, versions: tuple[str, str]) -> bool:
    """Return whether the two versions lie on either side of a known break."""
    if row["package"] != name or row["direction"] != direction:
        return False
    low, high = sorted(versions, key=lambda text: compare_versions(text, row["at"]) or 0)
    return compare_versions(low, row["at"]) == -1 and compare_versions(high, row["at"]) in (0, 1)


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _releases_apart(train: str, deploy: str) -> int:
    """Return how many minor releases lie between; another major release counts as ten."""
    a, b = _HEAD.match(train), _HEAD.match(deploy)
    if a is None or b is None or (a["epoch"] or "0", a["major"]) != (b["epoch"] or "0", b["major"]):
        return 10
    return abs(int(a["minor"] or 0) - int(b["minor"] or 0))


def _add_intention(
    graph: Graph, train: Inventory, pair: tuple[Package, Package], sources: tuple[str, str]
) -> None:
    """Add a package of which one side only says which versions it would accept."""
    here, there = pair
    pinned, wanted = (here, there) if here.version else (there, here)
    node = f"pkg:{here.name}"
    _describe(graph, node, here.name, train)
    graph.put_value(node, "trainVersion", here.spelled, sources[0])
    graph.put_value(node, "deployVersion", there.spelled, sources[1])
    admits = satisfies(pinned.version, wanted.specifier) if pinned.version else None
    relation = "ec:excluded" if admits is False else "ec:undetermined"
    graph.put(node, "relation", relation, *sources)
    graph.put_value(node, "wanted", here.wanted, sources[0])


def _add_content(graph: Graph, node: str, train: Inventory, pair: tuple[Package, Package]) -> None:
    """Add that two installations of one version and build hold different files."""
    here, there = pair
    keys = ("tag", "installer")
    same_build = all(here.value.get(key) == there.value.get(key) for key in keys)
    digests = (here.value.get("record_sha256"), there.value.get("record_sha256"))
    if not (same_build and here.tags and all(digests)) or digests[0] == digests[1]:
        return
    sources = (f"train:package.{here.name}", f"deploy:package.{here.name}")
    _describe(graph, node, here.name, train)
    graph.put(node, "content", string("different"), *sources)
    graph.put_value(node, "trainVersion", here.full_version, sources[0])
    graph.put_value(node, "deployVersion", there.full_version, sources[1])
