"""What a user allows, asks for and forbids: policy, waivers and baseline as plain data.

`envcheck.configuration` makes these objects from files; a comparison turns them into facts that
the rules of `rules/policy/` read.
"""

from __future__ import annotations

from envcheck.policy.baseline import Baseline, BaselineEntry, baseline_text, read_baseline
from envcheck.policy.model import DRIFTS, Citation, Policy, Waiver, Wanted

__all__ = [
    "DRIFTS",
    "Baseline",
    "BaselineEntry",
    "Citation",
    "Policy",
    "Waiver",
    "Wanted",
    "baseline_text",
    "read_baseline",
]
