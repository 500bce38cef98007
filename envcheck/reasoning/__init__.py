r"""The reasoner: facts, rules in compiled form, and what follows from them.

    base = FactBase()
    base.add("pkg:numpy", "ec:differsAt", integer(1), source="package.numpy")
    inference = infer(base, rulebook.implications)
    for subject, rule in inference.matching("ec:violates"):
        print("\\n".join(inference.explain((subject, "ec:violates", rule)).lines()))

The engine runs on the standard library alone; `envcheck.reasoning.eye` runs the same rules
on EYE instead.
"""

from envcheck.reasoning.engine import infer
from envcheck.reasoning.explanation import Explanation
from envcheck.reasoning.implication import Body, Implication
from envcheck.reasoning.inference import Derivation, Inference
from envcheck.reasoning.store import FactBase, Triple

__all__ = [
    "Body",
    "Derivation",
    "Explanation",
    "FactBase",
    "Implication",
    "Inference",
    "Triple",
    "infer",
]
