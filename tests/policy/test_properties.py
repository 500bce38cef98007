"""What holds for any environments and any policy."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from hypothesis import given, settings
from hypothesis import strategies as st

from envcheck.comparing.compare import builtin_rules
from envcheck.findings import SEVERITIES, Report
from envcheck.fingerprint import Fingerprint
from envcheck.policy import Policy, Waiver
from envcheck.policy.baseline import baseline_text, parse_baseline
from tests.policy.environments import DEPLOY, TODAY, TRAIN, judged
from tests.strategies import fingerprints

RULES = builtin_rules().ids
ENVIRONMENTS = tuple(
    rule
    for rule in RULES
    if not builtin_rules().rule(rule).place.startswith(("policy/", "fl4deep/"))
)
VERDICTS = ("conforms", "undetermined", "does_not_conform")
PAIRS = st.one_of(st.tuples(fingerprints(), fingerprints()), st.just((TRAIN, DEPLOY)))

waivers = st.builds(
    Waiver,
    rule=st.sampled_from(ENVIRONMENTS),
    reason=st.just("accepted"),
    expires=st.dates(date(2026, 11, 1), date(2026, 12, 31)),
    fact=st.sampled_from(("", "*", "package.*", "package.numpy", "python.*", "[", "os.system")),
)
drifts = st.dictionaries(
    st.sampled_from(("numpy", "scikit-learn", "python", "role:runtime", "role:transitive")),
    st.sampled_from(("none", "patch", "minor", "major", "any")),
)
policies = st.builds(
    Policy,
    drift=drifts,
    severity=st.dictionaries(st.sampled_from(ENVIRONMENTS), st.sampled_from(SEVERITIES)),
    disable=st.frozensets(st.sampled_from(ENVIRONMENTS), max_size=3),
    require_gpu=st.booleans(),
    roles=st.dictionaries(st.sampled_from(("a-b-c", "x")), st.sampled_from(("runtime", "dev"))),
    today=st.just(TODAY),
)


def key(report: Report) -> dict[tuple[str, str], tuple[str, str]]:
    """Return severity and title of each finding about the environments, by rule and node."""
    return {
        (one.rule, one.node): (one.severity, one.title)
        for one in report.findings
        if one.values is not None
    }


@settings(max_examples=60, deadline=None)
@given(PAIRS, policies, st.lists(waivers, max_size=4, unique_by=lambda w: (w.rule, w.fact)))
def test_waiving_is_monotone(
    pair: tuple[Fingerprint, Fingerprint], policy: Policy, given_waivers: list[Waiver]
) -> None:
    """Waivers only silence what they name: nothing else changes, and no verdict gets worse."""
    before = judged(policy, *pair)
    after = judged(replace(policy, waivers=tuple(given_waivers)), *pair)
    named = {waiver.rule for waiver in given_waivers if waiver.expires >= TODAY}

    assert key(after) == key(before)
    assert after.rules == before.rules
    assert {f.rule for f in after.findings if f.waived} <= named
    assert VERDICTS.index(after.verdict) <= VERDICTS.index(before.verdict)
    assert after.count("error") <= before.count("error")


@settings(max_examples=40, deadline=None)
@given(PAIRS, policies, st.lists(waivers, max_size=3, unique_by=lambda w: (w.rule, w.fact)))
def test_a_waived_finding_never_counts(
    pair: tuple[Fingerprint, Fingerprint], policy: Policy, given_waivers: list[Waiver]
) -> None:
    """Counts, verdict and stage are those of the findings that are not waived."""
    report = judged(replace(policy, waivers=tuple(given_waivers)), *pair)
    left = replace(report, findings=report.active)

    assert report.verdict == left.verdict
    assert report.stage("environment") == left.stage("environment")
    assert [report.count(level) for level in SEVERITIES] == [
        left.count(level) for level in SEVERITIES
    ]


@settings(max_examples=40, deadline=None)
@given(PAIRS, st.data())
def test_loosening_never_adds_an_error(
    pair: tuple[Fingerprint, Fingerprint], data: st.DataObject
) -> None:
    """Any drift allowed, lower severities and rules turned off give no new error."""
    rules = {rule: builtin_rules().rule(rule).severity for rule in ENVIRONMENTS}
    lowered = data.draw(st.sets(st.sampled_from(ENVIRONMENTS), max_size=5))
    loose = Policy(
        drift=dict.fromkeys(data.draw(st.sets(st.sampled_from(("numpy", "python")))), "any"),
        severity={rule: SEVERITIES[min(SEVERITIES.index(rules[rule]) + 1, 2)] for rule in lowered},
        disable=data.draw(st.frozensets(st.sampled_from(ENVIRONMENTS), max_size=3)),
        today=TODAY,
    )
    before = {(f.rule, f.node) for f in judged(None, *pair).findings if f.severity == "error"}
    after = {(f.rule, f.node) for f in judged(loose, *pair).findings if f.severity == "error"}

    assert after <= before


@settings(max_examples=40, deadline=None)
@given(PAIRS, policies)
def test_a_baseline_accepts_all_it_was_written_from(
    pair: tuple[Fingerprint, Fingerprint], policy: Policy
) -> None:
    """Under its own baseline nothing counts and no entry is left over; reading it is exact."""
    text = baseline_text(judged(policy, *pair).findings)
    accepted = parse_baseline(text, "base.json")
    after = judged(replace(policy, baseline=accepted), *pair)

    assert after.active == ()
    assert baseline_text(after.findings) == text


@settings(max_examples=30, deadline=None)
@given(fingerprints(), policies)
def test_drift_and_severities_never_fail_a_side_against_itself(
    side: Fingerprint, policy: Policy
) -> None:
    """Without requirements, comparing a side with itself gives no error whatever is allowed."""
    report = judged(replace(policy, require_gpu=False), side, side)

    assert report.count("error") == 0
