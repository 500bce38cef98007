"""`envcheck kg`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from envcheck.cli.judging import add_policy_options, stated
from envcheck.cli.parsing import Parser, add_common_options, one_of
from envcheck.errors import EXIT_CONFORMS, UsageError

if TYPE_CHECKING:
    import argparse

    from envcheck.cli.console import Console
    from envcheck.comparing.graph import Graph
    from envcheck.comparing.judging import Judgement

__all__ = ["parser", "run"]

_DESCRIPTION = """\
The knowledge graph behind a comparison.

  export TRAIN DEPLOY           as RDF: PROV-O, SOSA, SPDX and SHACL terms
  query QUERY TRAIN DEPLOY      SPARQL; QUERY is a file, or the query itself
  explain FINDING TRAIN DEPLOY  what a finding rests on; FINDING is its rank, its rule,
                                or rule and subject

A side is whatever `envcheck compare` takes. export and query need the extra `graph`."""
_EXAMPLES = """\
  envcheck kg explain ENV031 train.json deploy.json
  envcheck kg explain "ENV031 package.scikit-learn" train.json live --format mermaid
  envcheck kg export train.json deploy.json --format jsonld -o graph.jsonld
  envcheck kg query "SELECT ?m { ?r sh:resultMessage ?m }" train.json deploy.json"""
_ARGUMENTS = {"export": 2, "query": 3, "explain": 3}
_DRAWINGS = ("text", "mermaid", "svg")
_EXPORTS = ("turtle", "jsonld", "trig", "ntriples")


class _Compared(NamedTuple):
    graph: Graph
    judgement: Judgement


def parser() -> Parser:
    """Return the parser of this command."""
    made = Parser("kg", _DESCRIPTION, _EXAMPLES)
    add = made.add_argument
    add("action", type=one_of("action", *_ARGUMENTS), metavar="export|query|explain",
        help="what to do")  # fmt: skip
    add("arguments", nargs="+", metavar="…", help="as above")
    add("--format", metavar="NAME",
        help="export: turtle (default), jsonld, trig, ntriples; "
             "explain: text (default), mermaid, svg")  # fmt: skip
    add_policy_options(made)
    add("-o", "--output", metavar="FILE", help="write here (default: stdout)")
    add_common_options(made)
    return made


def run(options: argparse.Namespace, console: Console) -> int:
    """Export, query or explain."""
    action, arguments = options.action, options.arguments
    if len(arguments) != _ARGUMENTS[action]:
        raise UsageError(
            f"{action} takes {_ARGUMENTS[action]} arguments, not {len(arguments)}",
            place="envcheck kg",
            hint="envcheck kg --help shows how it is called",
        )
    name = _format(action, options.format)
    compared = _compare(arguments[-2], arguments[-1], stated(options))
    if action == "explain":
        text = _explain(compared, arguments[0], name)
    else:
        from envcheck.knowledge.export import to_dataset, write

        dataset = to_dataset(*compared)
        if action == "export":
            text = write(dataset, name)
        else:
            from envcheck.knowledge.query import run_query

            text = run_query(dataset, *_query(arguments[0]))
    console.deliver(text, options.output)
    return EXIT_CONFORMS


def _format(action: str, wanted: str | None) -> str:
    known = {"export": _EXPORTS, "explain": _DRAWINGS, "query": ()}[action]
    if wanted is None:
        return known[0] if known else ""
    if wanted not in known:
        raise UsageError(
            f"{action} has no format {wanted!r}",
            place="envcheck kg",
            hint=f"formats: {', '.join(known)}" if known else "rows, true or false, or Turtle",
        )
    return wanted


def _compare(train: str, deploy: str, given: dict[str, Any]) -> _Compared:
    """Return the graph of a pair, judged as `envcheck compare` would with these options."""
    from envcheck.comparing.compare import build_graph
    from envcheck.comparing.judging import judge
    from envcheck.comparing.rulesets import load_rules
    from envcheck.configuration import load_configuration
    from envcheck.loading import load_side

    configuration = load_configuration(given.get("config"), given)
    known = (
        load_rules(configuration["rules"]) if configuration.rules is None else configuration.rules
    )
    graph = build_graph(
        load_side(train), load_side(deploy), configuration.policy, everything=known.added
    )
    return _Compared(graph, judge(graph, known.book, known.index))


def _explain(compared: _Compared, finding: str, name: str) -> str:
    from envcheck.knowledge import drawing
    from envcheck.knowledge.evidence import evidence_path

    path = evidence_path(*compared, finding)
    draw = {"text": drawing.to_text, "mermaid": drawing.to_mermaid, "svg": drawing.to_svg}[name]
    return draw(path)


def _query(wanted: str) -> tuple[str, str]:
    """Return the text of a query and what to call it in messages."""
    if "{" in wanted:
        return wanted, "the query"
    from envcheck.fingerprint.files import read_bounded

    return read_bounded(wanted, 1 << 20).decode("utf-8", "replace"), Path(wanted).name
