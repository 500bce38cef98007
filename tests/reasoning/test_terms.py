"""Terms keep apart what N3 keeps apart, and survive N3 text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdflib import Graph, Literal, URIRef

from envcheck.reasoning import terms
from envcheck.reasoning.n3 import facts_to_n3, read_triples

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"))


def test_four_ones_are_four_terms() -> None:
    """An integer, a decimal, a boolean and a string are never one node."""
    made = [terms.literal(value) for value in (1, 1.0, True, "1")]

    assert made == ["1", "1.0", "true", '"1']


@pytest.mark.parametrize(
    ("term", "value"),
    [("1", 1), ("-7", -7), ("1.0", 1.0), ("1e-05", 1e-05), ("true", None), ('"1', None)],
)
def test_number(term: str, value: float | None) -> None:
    """Only typed numbers have a numeric value."""
    assert terms.number(term) == value


def test_big_integers_are_compared_exactly() -> None:
    """A value beyond 2**53 is not rounded."""
    assert terms.number("9007199254740993") == 2**53 + 1


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_numbers_are_finite(value: float) -> None:
    """NaN and infinities have no N3 form."""
    with pytest.raises(ValueError, match="finite"):
        terms.literal(value)


def test_negative_zero_is_zero() -> None:
    """Two zeros would be one value and two nodes."""
    assert terms.decimal(-0.0) == terms.decimal(0.0)


@pytest.mark.parametrize(("prefix", "local"), [("pkg", ""), ("", "x"), ("1p", "x"), ("a:b", "x")])
def test_bad_short_iri(prefix: str, local: str) -> None:
    """A prefix is lower-case letters, digits and hyphens; a local name is not empty."""
    with pytest.raises(ValueError, match="not a short IRI"):
        terms.iri(prefix, local)


@pytest.mark.parametrize(
    ("term", "full"),
    [
        ("ec:older", "urn:envcheck:ec:older"),
        ("pkg:zope.interface", "urn:envcheck:pkg:zope.interface"),
        ("pkg:a+b/c d", "urn:envcheck:pkg:a%2Bb%2Fc%20d"),
        ("fact:env.A:B%", "urn:envcheck:fact:env.A%3AB%25"),
        ("pkg:é", "urn:envcheck:pkg:%C3%A9"),
        ("rdf:type", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"),
        ("<http://example.org/x>", "http://example.org/x"),
    ],
)
def test_full_iri(term: str, full: str) -> None:
    """Whole IRIs are percent-encoded, and read back."""
    assert terms.full_iri(term) == full
    assert terms.short_iri(full) == term


@given(TEXT.filter(bool))
def test_any_local_name_survives(local: str) -> None:
    """Every name of a package, file or variable is a safe IRI."""
    term = terms.iri("pkg", local)

    assert terms.short_iri(terms.full_iri(term)) == term
    assert not set(' <>"{}|\\^`') & set(terms.full_iri(term))


FLOATS = st.floats(allow_nan=False, allow_infinity=False)
INTEGERS = st.integers(-(10**30), 10**30)
LITERALS = st.one_of(TEXT, st.booleans(), INTEGERS, FLOATS).map(terms.literal)


@given(LITERALS)
def test_rdflib_reads_the_same_literal(term: str) -> None:
    """The N3 text of a literal means its value to another parser."""
    graph = Graph().parse(data=facts_to_n3([("ec:s", "ec:p", term)]), format="turtle")

    ((subject, predicate, found),) = graph
    assert (str(subject), str(predicate)) == ("urn:envcheck:ec:s", "urn:envcheck:ec:p")
    assert isinstance(found, Literal)
    value = found.toPython() if found.datatype else str(found)
    assert terms.literal(float(value) if _is_decimal(term) else value) == term


def _is_decimal(term: str) -> bool:
    return isinstance(terms.value(term), float)


@given(LITERALS)
def test_own_text_reads_back(term: str) -> None:
    """What we write we read."""
    triple = ("ec:s", "rdf:type", term)

    assert list(read_triples(facts_to_n3([triple]))) == [triple]


def test_iri_in_n3() -> None:
    """An IRI is written whole, so that no prefix can change it."""
    text = facts_to_n3([("pkg:a+b", "ec:p", "fact:cpu.")])
    graph = Graph().parse(data=text, format="turtle")

    ((subject, _, object_),) = graph
    assert subject == URIRef("urn:envcheck:pkg:a%2Bb")
    assert object_ == URIRef("urn:envcheck:fact:cpu.")


def test_lone_surrogate_is_replaced_in_text() -> None:
    """A file name that is not Unicode cannot break a document."""
    assert terms.to_n3(terms.string("\ud800")) == '"\ufffd"'
