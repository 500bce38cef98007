"""Exports and queries, read back by another RDF library."""

from __future__ import annotations

from typing import Any

import pytest

from envcheck.errors import InputError
from envcheck.knowledge.export import FORMATS, to_dataset, write
from envcheck.knowledge.query import run_query
from tests.knowledge.conftest import Compared

oxigraph: Any = pytest.importorskip("pyoxigraph")

PREFIXES = """
PREFIX prov: <http://www.w3.org/ns/prov#>
PREFIX sosa: <http://www.w3.org/ns/sosa/>
PREFIX sh: <http://www.w3.org/ns/shacl#>
PREFIX spdx: <https://spdx.org/rdf/3.0.1/terms/Software/>
PREFIX core: <https://spdx.org/rdf/3.0.1/terms/Core/>
"""
LEAVES = """
SELECT ?side ?version WHERE {
  ?result a sh:ValidationResult ; sh:resultSeverity sh:Violation ; prov:wasDerivedFrom ?reading .
  ?reading a sosa:Observation ; sosa:hasFeatureOfInterest ?side ; sosa:hasResult ?package .
  ?package a spdx:Package ; core:name "scikit-learn" ; spdx:packageVersion ?version .
} ORDER BY ?version"""


def stored(text: str, name: str) -> Any:
    """Return a store with the exported text in it."""
    store = oxigraph.Store()
    kinds = {
        "turtle": oxigraph.RdfFormat.TURTLE,
        "jsonld": oxigraph.RdfFormat.JSON_LD,
        "trig": oxigraph.RdfFormat.TRIG,
        "ntriples": oxigraph.RdfFormat.N_TRIPLES,
    }
    store.load(text.encode(), format=kinds[name])
    return store


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_format_leads_from_finding_to_versions(older_reader: Compared, name: str) -> None:
    """The one violation is derived from readings of both versions, in standard terms alone."""
    text = write(to_dataset(older_reader.graph, older_reader.judgement), name)

    rows = stored(text, name).query(PREFIXES + LEAVES, use_default_graph_as_union=True)
    assert [(row["side"].value, row["version"].value) for row in rows] == [
        ("urn:envcheck:env:deploy", "1.3.2"),
        ("urn:envcheck:env:train", "1.5.2"),
    ]


def test_report_says_whether_it_conforms(older_reader: Compared) -> None:
    """A report with an error does not conform."""
    dataset = to_dataset(older_reader.graph, older_reader.judgement)

    assert run_query(dataset, "ASK { ?r a sh:ValidationReport ; sh:conforms false }", "q") == (
        "true\n"
    )


def test_rows_are_tab_separated_and_cannot_be_broken(older_reader: Compared) -> None:
    """The hostile kernel release comes out as one cell of printable ASCII."""
    dataset = to_dataset(older_reader.graph, older_reader.judgement)

    answer = run_query(
        dataset,
        "SELECT ?v WHERE { ?r sosa:observedProperty <urn:envcheck:fact:os.kernel_release> ; "
        "sosa:hasSimpleResult ?v }",
        "q",
    )
    lines = answer.splitlines()
    assert lines[0] == "v"
    assert min(lines[1:]) == "6.1"
    assert len(lines) == 3
    assert answer.isascii()
    assert "\x1b" not in answer


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("SELECT * WHERE { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }", "SERVICE"),
        ("SELECT * FROM <http://127.0.0.1:9/> WHERE { ?s ?p ?o }", "FROM"),
        ("SELECT * FROM NAMED <file:///etc/passwd> WHERE { ?s ?p ?o }", "FROM"),
        ("SELECT * WHERE { { SELECT * WHERE { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } } } }",
         "SERVICE"),
        ("SELECT * WHERE { ?s ?p ?o FILTER EXISTS { SERVICE <http://127.0.0.1:9/> { ?a ?b ?c } } }",
         "SERVICE"),
        ("DELETE WHERE { ?s ?p ?o }", "no SPARQL query"),
        ("LOAD <http://127.0.0.1:9/>", "no SPARQL query"),
        ("", "no SPARQL query"),
        ("SELECT nonsense", "no SPARQL query"),
        ("ASK { ?s nope:x 1 }", "nope"),
    ],
)  # fmt: skip
def test_queries_that_leave_the_graph_are_refused(
    older_reader: Compared, query: str, words: str
) -> None:
    """Nothing is loaded, updated or asked elsewhere; the message says what is wrong."""
    dataset = to_dataset(older_reader.graph, older_reader.judgement)

    with pytest.raises(InputError, match=words):
        run_query(dataset, query, "q.rq")
