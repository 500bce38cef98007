"""A sound rule file, and a short way to lint a changed one."""

from __future__ import annotations

from typing import Any

from envcheck.rulebook.compiling import compile_sources
from envcheck.rulebook.words import Words

__all__ = ["GOOD", "WORDS", "compile_text"]

GOOD = """\
@prefix ec: <urn:envcheck:ec:> .
@prefix rule: <urn:envcheck:rule:> .
@prefix log: <http://www.w3.org/2000/10/swap/log#> .
@prefix math: <http://www.w3.org/2000/10/swap/math#> .
@prefix string: <http://www.w3.org/2000/10/swap/string#> .
@prefix list: <http://www.w3.org/2000/10/swap/list#> .

ec:breaksAt a ec:Predicate .

rule:ENV031 a ec:Rule ;
  ec:name "older-reader" ;
  ec:fault "older-reader-than-writer" ;
  ec:since "0.1" ;
  ec:status "stable" ;
  ec:severity ec:error ;
  ec:basis ec:declared ;
  ec:title "{package} {deployed} reads what {trained} wrote" ;
  ec:detail "It may load and compute something else." ;
  ec:fix "Install {trained}." ;
  ec:command "pip install '{package}=={trained}'" ;
  ec:guards "a pickle: yes", "versions differ: yes" ;
  ec:confidence 0.98 .

{ rule:ENV031 ec:state ec:enabled .
  ?package ec:trained ?trained ; ec:deployed ?deployed ; ec:differsAt ?level .
  ?package ec:role ?role . ?role ec:breaksAt ?limit .
  ?level math:notGreaterThan ?limit .
  ?SCOPE log:notIncludes { ?package ec:waived ?reason } .
} => { ?package ec:violates rule:ENV031 } .

ec:runtime ec:breaksAt 2 .
"""

WORDS = Words(
    predicates=frozenset(
        f"ec:{name}" for name in ("trained", "deployed", "differsAt", "role", "waived", "value")
    ),
    reserved=frozenset({"ec:trained", "ec:deployed", "ec:differsAt"}),
)


def compile_text(text: str, *, built_in: bool = True, words: Words = WORDS) -> dict[str, Any]:
    """Compile one file."""
    return compile_sources({"test.n3": text.encode()}, words, built_in=built_in)
