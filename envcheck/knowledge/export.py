"""Export a comparison as RDF in the words of W3C and SPDX vocabularies.

Inside the reasoner facts use short `ec:` terms; here they meet PROV-O (who made what from
what), SOSA (a reading of a property), SPDX 3 (packages) and SHACL (validation results). Every
finding is tied by `prov:wasDerivedFrom` to the readings that it rests on.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from envcheck.comparing.graph import Graph
from envcheck.comparing.judging import Judgement
from envcheck.errors import MissingExtra
from envcheck.facts import Fact
from envcheck.findings import Finding
from envcheck.fingerprint import Fingerprint
from envcheck.reasoning.terms import full_iri, is_iri, value

if TYPE_CHECKING:
    from rdflib import Dataset

__all__ = ["FORMATS", "to_dataset", "write"]

FORMATS = {"turtle": "turtle", "jsonld": "json-ld", "trig": "trig", "ntriples": "nt"}
"""The names of formats on the command line, and rdflib's."""

_NAMESPACES = {
    "ec": "urn:envcheck:ec:",
    "rule": "urn:envcheck:rule:",
    "prov": "http://www.w3.org/ns/prov#",
    "sosa": "http://www.w3.org/ns/sosa/",
    "sh": "http://www.w3.org/ns/shacl#",
    "spdx": "https://spdx.org/rdf/3.0.1/terms/Software/",
    "core": "https://spdx.org/rdf/3.0.1/terms/Core/",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
_SEVERITY = {"error": "Violation", "warning": "Warning", "info": "Info"}
_GRAPHS = ("train", "deploy", "derived", "report")


def _rdflib() -> Any:
    try:
        return import_module("rdflib")
    except ImportError as problem:
        raise MissingExtra("rdflib", "graph", "exporting or querying the graph") from problem


def to_dataset(graph: Graph, judgement: Judgement) -> Dataset:
    """Return the comparison as a dataset with the graphs train, deploy, derived and report.

    Queries see the union of all graphs. Raises MissingExtra.
    """
    return _Exporter(graph, judgement).dataset()


def write(dataset: Dataset, name: str) -> str:
    """Return the dataset in a format of `FORMATS`; Turtle and N-Triples hold the union."""
    rdflib = _rdflib()
    if name in ("turtle", "ntriples"):
        union = rdflib.Graph()
        for prefix, namespace in _NAMESPACES.items():
            union.bind(prefix, namespace)
        for subject, predicate, object_, _ in dataset.quads():
            union.add((subject, predicate, object_))
        text: str = union.serialize(format=FORMATS[name])
        return text
    return dataset.serialize(format=FORMATS[name])


class _Exporter:
    """Builds the dataset; one method for each kind of thing."""

    def __init__(self, graph: Graph, judgement: Judgement) -> None:
        self._rdf = _rdflib()
        self._graph = graph
        self._judgement = judgement
        self._set = self._rdf.Dataset(default_union=True)
        for prefix, namespace in _NAMESPACES.items():
            self._set.bind(prefix, namespace)
        self._parts = {name: self._set.graph(self._own("graph", name)) for name in _GRAPHS}

    def dataset(self) -> Dataset:
        """Return everything."""
        self._side("train", self._graph.train)
        self._side("deploy", self._graph.deploy)
        self._reasoning()
        self._report()
        dataset: Dataset = self._set
        return dataset

    def _own(self, *parts: str) -> Any:
        spelled = ":".join(quote(part, safe="-._~/") for part in parts)
        return self._rdf.URIRef(f"urn:envcheck:{spelled}")

    def _word(self, prefix: str, name: str) -> Any:
        return self._rdf.URIRef(_NAMESPACES[prefix] + name)

    def _put(self, part: str, subject: Any, name: str, object_: Any) -> None:
        """Add one triple with a predicate such as `prov:used`."""
        prefix, _, local = name.partition(":")
        predicate = self._rdf.RDF.type if name == "a" else self._word(prefix, local)
        self._parts[part].add((subject, predicate, object_))

    def _side(self, side: str, fingerprint: Fingerprint) -> None:
        """Add an environment, the capture that saw it, and one reading for each fact."""
        environment, capture = self._own("env", side), self._own("capture", side)
        self._put(side, environment, "a", self._word("prov", "Entity"))
        self._put(side, environment, "a", self._word("ec", "Environment"))
        self._put(side, environment, "ec:digest", self._rdf.Literal(fingerprint.digest))
        self._put(side, environment, "prov:wasGeneratedBy", capture)
        self._put(side, capture, "a", self._word("prov", "Activity"))
        created = fingerprint.envelope.get("created")
        if created:
            kind = self._word("xsd", "dateTime")
            self._put(side, capture, "prov:endedAtTime", self._rdf.Literal(created, datatype=kind))
        for key, fact in fingerprint.facts.items():
            self._reading(side, environment, key, fact)

    def _reading(self, side: str, environment: Any, key: str, fact: Fact) -> None:
        reading = self._own("reading", side, key)
        self._put(side, reading, "a", self._word("sosa", "Observation"))
        self._put(side, reading, "sosa:hasFeatureOfInterest", environment)
        self._put(side, reading, "sosa:observedProperty", self._own("fact", key))
        self._put(side, reading, "ec:state", self._rdf.Literal(fact.state))
        if fact.reason:
            self._put(side, reading, "ec:reason", self._rdf.Literal(fact.reason))
        if not fact.is_ok:
            return
        if key.startswith("package.") and isinstance(fact.value, dict):
            self._package(side, environment, reading, key[8:], fact.value)
            return
        values = fact.value if isinstance(fact.value, list) else [fact.value]
        for item in values:
            shown = item if isinstance(item, (str, int, float, bool)) else str(item)
            self._put(side, reading, "sosa:hasSimpleResult", self._rdf.Literal(shown))

    def _package(
        self, side: str, environment: Any, reading: Any, name: str, found: dict[str, Any]
    ) -> None:
        """Add an installed package as SPDX 3 describes it."""
        package = self._own(side, "package", name)
        version = str(found.get("version", ""))
        self._put(side, reading, "sosa:hasResult", package)
        self._put(side, environment, "ec:has", package)
        self._put(side, package, "a", self._word("spdx", "Package"))
        self._put(side, package, "core:name", self._rdf.Literal(name))
        if version:
            self._put(side, package, "spdx:packageVersion", self._rdf.Literal(version))
            url = f"pkg:pypi/{quote(name)}@{quote(version)}"
            kind = self._word("xsd", "anyURI")
            self._put(side, package, "spdx:packageUrl", self._rdf.Literal(url, datatype=kind))

    def _reasoning(self) -> None:
        """Add what the reasoner was given and what it derived."""
        inference = self._judgement.inference
        for subject, predicate, object_ in (*inference.base, *inference.facts):
            self._parts["derived"].add(
                (self._rdf.URIRef(full_iri(subject)), self._rdf.URIRef(full_iri(predicate)),
                 self._term(object_))
            )  # fmt: skip

    def _term(self, term: str) -> Any:
        if is_iri(term):
            return self._rdf.URIRef(full_iri(term))
        return self._rdf.Literal(value(term))

    def _report(self) -> None:
        report = self._own("report")
        active = [finding for finding in self._judgement.findings if not finding.waived]
        conforms = not any(finding.severity == "error" for finding in active)
        self._put("report", report, "a", self._word("sh", "ValidationReport"))
        self._put("report", report, "sh:conforms", self._rdf.Literal(conforms))
        for finding in self._judgement.findings:
            self._finding(report, finding)

    def _finding(self, report: Any, finding: Finding) -> None:
        """Add a finding as a SHACL result that is derived from readings by a rule."""
        result = self._own("finding", str(finding.rank))
        rule = self._own("rule", finding.rule)
        literal = self._rdf.Literal
        self._put("report", report, "sh:result", result)
        self._put("report", result, "a", self._word("sh", "ValidationResult"))
        self._put("report", result, "sh:focusNode", self._own("env", "deploy"))
        self._put("report", result, "sh:resultPath", self._own("fact", finding.subject))
        self._put(
            "report", result, "sh:resultSeverity", self._word("sh", _SEVERITY[finding.severity])
        )
        self._put("report", result, "sh:resultMessage", literal(finding.title))
        self._put("report", result, "sh:sourceConstraintComponent", rule)
        self._put("report", result, "ec:fault", literal(finding.fault))
        self._put("report", result, "ec:rank", literal(finding.rank))
        if finding.deploy is not None:
            self._put("report", result, "sh:value", literal(finding.deploy))
        self._put("report", rule, "a", self._word("prov", "Plan"))
        for item in finding.evidence:
            self._put(
                "report",
                result,
                "prov:wasDerivedFrom",
                self._own("reading", item.origin, item.fact),
            )
