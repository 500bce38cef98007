"""Drift, required and forbidden packages, GPUs, severities, roles and roots."""

from __future__ import annotations

import pytest

from envcheck.facts import Fact, not_applicable, ok, unknown
from envcheck.policy import Citation, Wanted
from tests.policy.environments import DEPLOY, TRAIN, judged, policy, rows, side, the

PLAIN = [
    ("info", "ENV058", "package.certifi"),
    ("warning", "ENV040", "package.keras"),
    ("warning", "ENV042", "package.numpy"),
    ("warning", "ENV070", "python.version"),
]


def test_an_empty_policy_changes_nothing() -> None:
    """Without a policy, with None and with an empty one the report is the same."""
    assert rows(judged()) == PLAIN
    assert judged(policy()).to_json() == judged().to_json()


@pytest.mark.parametrize(
    ("versions", "limit", "severity"),
    [
        (("1.26.4", "2.0.0"), "none", "error"),
        (("1.26.4", "2.0.0"), "patch", "error"),
        (("1.26.4", "2.0.0"), "minor", "error"),
        (("1.26.4", "2.0.0"), "major", "allowed"),
        (("1.26.4", "2.0.0"), "any", "allowed"),
        (("1.26.4", "1.25.4"), "patch", "error"),
        (("1.26.4", "1.25.4"), "minor", "allowed"),
        (("1.26.4", "1.26.3"), "none", "error"),
        (("1.26.4", "1.26.3"), "patch", "allowed"),
        (("1.26.4", "1.26.4rc1"), "none", "error"),
        (("1.26.4", "1.26.4rc1"), "patch", "allowed"),
        (("1.26.4", "1.26.4.post1"), "patch", "allowed"),
        (("0.4.1", "0.5.0"), "patch", "error"),
        (("1.26", "1.26.0"), "none", None),
        (("1!1.0", "1.0"), "major", "error"),
        (("1!1.0", "1.0"), "any", "allowed"),
    ],
)
def test_drift_of_a_package(versions: tuple[str, str], limit: str, severity: str | None) -> None:
    """A difference beyond the limit is an error; one within it is info and says why."""
    train, deploy = (side(numpy=version) for version in versions)
    report = judged(policy(drift={"numpy": limit}), train, deploy)
    breaches = [finding for finding in report.findings if finding.rule == "ENV090"]

    if severity == "error":
        assert [finding.severity for finding in breaches] == ["error"]
        assert (breaches[0].train, breaches[0].deploy) == versions
        return
    assert breaches == []
    assert {finding.severity for finding in report.findings} <= {"info"}
    told = [f for f in report.findings if "The policy allows this drift" in f.detail]
    assert bool(told) == (severity == "allowed")


@pytest.mark.parametrize(
    ("limit", "severity"), [("none", "error"), ("patch", "warning"), ("any", "info")]
)
def test_local_labels_count_under_none_and_any_only(limit: str, severity: str) -> None:
    """Another build label is beyond `none`, within `any`, and left to ENV046 in between."""
    train, deploy = side(torch="2.1.0+cu121"), side(torch="2.1.0+cpu")
    report = judged(policy(drift={"torch": limit}), train, deploy)

    assert report.findings[0].severity == severity


def test_a_package_outweighs_its_role() -> None:
    """`numpy = "any"` holds although the role of numpy may not drift at all."""
    report = judged(policy(drift={"role:numeric": "none", "numpy": "any"}))

    assert the(report, "ENV042").severity == "info"
    assert "ENV090" not in {finding.rule for finding in report.findings}


def test_a_role_covers_its_packages_only() -> None:
    """A limit on preprocessing says nothing about numpy."""
    train, deploy = side(numpy="1.26.4", pandas="2.0.1"), side(numpy="1.26.5", pandas="2.0.2")
    report = judged(policy(drift={"role:preprocess": "none"}), train, deploy)

    assert [row for row in rows(report) if row[0] == "error"] == [
        ("error", "ENV090", "package.pandas")
    ]


def test_drift_of_python() -> None:
    """Python has a limit of its own."""
    assert the(judged(policy(drift={"python": "minor"})), "ENV070").severity == "info"
    assert the(judged(policy(drift={"python": "patch"})), "ENV090").subject == "python.version"


def test_a_breach_is_the_root_of_the_warning_and_the_consequence_of_an_error() -> None:
    """One package is one problem: the warning follows from the breach, the breach from an error."""
    report = judged(policy(drift={"numpy": "patch"}))
    assert the(report, "ENV042").explained_by == "ENV090 package.numpy"

    train, deploy = side(scikit_learn="1.5.2"), side(scikit_learn="1.2.2")
    report = judged(policy(drift={"scikit-learn": "patch"}), train, deploy)
    assert the(report, "ENV031").explained_by == ""
    assert the(report, "ENV090").explained_by == "ENV031 package.scikit-learn"


def test_an_allowed_drift_cites_its_setting() -> None:
    """The finding names key, value and place, and the chain holds the derived fact."""
    cited = {"drift.keras": Citation(value="minor", place="envcheck.toml:3")}
    found = the(judged(policy(drift={"keras": "minor"}, cited=cited)), "ENV040")

    assert found.detail.endswith(
        "The policy allows this drift (drift.keras = minor, envcheck.toml:3)."
    )
    assert "pkg:keras ec:allowedIn rule:ENV040, by ENV099" in found.because


def test_a_range_leaves_a_limit_open_unless_anything_goes() -> None:
    """Where one side accepts a range the limit is unknown; `any` needs no answer."""
    intended = {"complete": True, "kind": "requirements", "count": 1}
    deploy = side({"python.packages": ok(intended), "package.numpy": ok({"specifier": ">=1.20"})})
    train = side(numpy="1.26.4")

    tight = judged(policy(drift={"numpy": "patch"}), train, deploy)
    assert ("ENV090", "error") in {(one.rule, one.severity) for one in tight.undetermined}
    loose = judged(policy(drift={"numpy": "any"}), train, deploy)
    assert "ENV090" not in {one.rule for one in loose.undetermined}
    assert {one.severity for one in tight.undetermined if one.rule == "ENV042"} == {"warning"}
    assert {one.severity for one in loose.undetermined if one.rule == "ENV042"} == {"info"}


@pytest.mark.parametrize(
    ("wanted", "rule"),
    [
        (Wanted(name="numpy"), None),
        (Wanted(name="numpy", specifier=">=2"), None),
        (Wanted(name="numpy", specifier="<2"), "ENV092"),
        (Wanted(name="onnxruntime"), "ENV091"),
        (Wanted(name="onnxruntime", specifier=">=1"), "ENV091"),
    ],
)
def test_required_packages(wanted: Wanted, rule: str | None) -> None:
    """A required package that is missing or of another version is an error."""
    report = judged(policy(require=(wanted,)))
    errors = [finding.rule for finding in report.findings if finding.severity == "error"]

    assert errors == ([rule] if rule else [])


def test_a_requirement_is_for_the_deploy_side_whatever_the_train_side_has() -> None:
    """That the train side lacks it too does not lower it."""
    report = judged(policy(require=(Wanted(name="onnxruntime"),)), TRAIN, TRAIN)

    assert rows(report) == [("error", "ENV091", "package.onnxruntime")]


def test_a_variant_meets_a_requirement() -> None:
    """onnxruntime-gpu provides the import of onnxruntime."""
    deploy = side(onnxruntime_gpu="1.18.0")
    wanted = Wanted(name="onnxruntime", specifier=">=1.18")
    report = judged(policy(require=(wanted,)), deploy, deploy)

    assert rows(report) == []


def test_an_incomplete_list_leaves_requirements_and_bans_open() -> None:
    """What is not listed may be there all the same."""
    partial = side({"python.packages": ok({"complete": False, "kind": "installed"})}, numpy="2.0")
    wanted = policy(require=(Wanted(name="onnxruntime"),), forbid=(Wanted(name="torch"),))
    open_rules = {one.rule for one in judged(wanted, partial, partial).undetermined}

    assert {"ENV091", "ENV093"} <= open_rules


@pytest.mark.parametrize(
    ("banned", "fires"),
    [
        (Wanted(name="keras"), True),
        (Wanted(name="keras", specifier=">=3.4"), True),
        (Wanted(name="keras", specifier="<3.4"), False),
        (Wanted(name="torch"), False),
    ],
)
def test_forbidden_packages(banned: Wanted, fires: bool) -> None:
    """A forbidden package is an error where it is installed, also if the train side has it."""
    report = judged(policy(forbid=(banned,)), DEPLOY, DEPLOY)

    assert rows(report) == ([("error", "ENV093", "package.keras")] if fires else [])


@pytest.mark.parametrize(
    ("devices", "visible", "outcome"),
    [
        (ok([{"name": "H100"}]), ok("all"), "pass"),
        (ok([{"name": "H100"}]), unknown("not readable"), "pass"),
        (ok([{"name": "H100"}]), ok("none"), "error"),
        (unknown("no NVML"), ok("none"), "error"),
        (ok([]), ok("none"), "error"),
        (not_applicable("no GPU"), not_applicable("no GPU"), "error"),
        (unknown("no NVML"), ok("all"), "open"),
        (unknown("an image has none"), unknown("an image has none"), "open"),
    ],
)
def test_a_required_gpu(devices: Fact, visible: Fact, outcome: str) -> None:
    """A GPU must be there and visible; what cannot be seen or ruled out is unknown."""
    deploy = side({"gpu.devices": devices, "gpu.visible": visible})
    report = judged(policy(require_gpu=True), deploy, deploy)

    assert (report.count("error") == 1) == (outcome == "error")
    assert ("ENV094" in {one.rule for one in report.undetermined}) == (outcome == "open")
    assert "ENV094" not in {one.rule for one in judged(None, deploy, deploy).undetermined}


def test_severity_of_a_rule() -> None:
    """A severity from the policy counts, and the finding says so."""
    cited = {"severity.ENV070": Citation(value="error", place="envcheck.toml:9")}
    report = judged(policy(severity={"ENV070": "error", "ENV042": "info"}, cited=cited))
    found = the(report, "ENV070")

    assert report.verdict == "does_not_conform"
    assert found.severity == "error"
    assert found.detail.endswith(
        "The policy sets ENV070 to error (severity.ENV070 = error, envcheck.toml:9)."
    )
    assert "fact:python.version ec:resetBy rule:ENV070, by ENV099" in found.because
    assert the(report, "ENV042").severity == "info"


def test_a_severity_decides_what_strict_accepts() -> None:
    """An open rule that the policy makes info does not make a strict verdict undetermined."""
    blind = side({"gpu.devices": unknown("no NVML"), "gpu.visible": unknown("no NVML")})
    needs = {"require_gpu": True}

    assert judged(policy(**needs), blind, blind, strict=True).verdict == "undetermined"
    mild = policy(**needs, severity={"ENV094": "info"})
    assert judged(mild, blind, blind, strict=True).verdict == "conforms"


def test_what_was_there_before_stays_info() -> None:
    """A severity does not make a violation of both sides count."""
    doubled = side({"package.numpy": ok({"version": "2.0", "duplicates": ["1.9"]})})
    report = judged(policy(severity={"ENV049": "error"}), doubled, doubled)

    assert rows(report) == [("info", "ENV049", "package.numpy")]


def test_a_disabled_rule_does_not_run() -> None:
    """It gives no finding and is not counted."""
    report = judged(policy(disable=frozenset({"ENV042"})))

    assert "ENV042" not in {finding.rule for finding in report.findings}
    assert sum(report.rules.values()) == sum(judged().rules.values()) - 1


def test_a_role_from_the_policy() -> None:
    """A package of the project's own becomes part of the way from input to prediction."""
    train, deploy = side(my_lib="1.0.0"), side(my_lib="1.1.0")

    assert rows(judged(None, train, deploy)) == [("info", "ENV058", "package.my-lib")]
    mine = policy(roles={"my-lib": "preprocess"})
    assert rows(judged(mine, train, deploy)) == [("warning", "ENV044", "package.my-lib")]
    reads_pickles = policy(roles={"my-lib": "pickle-reader"})
    assert ("warning", "ENV035", "package.my-lib") in rows(judged(reads_pickles, train, deploy))


def test_roots_decide_what_is_reachable() -> None:
    """Broken requirements count where the service reaches them from its roots."""
    needy = {"package.svc": ok({"version": "1.0", "requires": ["gone>=1"]})}
    broken = side(needy, numpy="2.0")
    whole = side({"package.svc": ok({"version": "1.0", "requires": []})}, numpy="2.0")

    assert rows(judged(None, whole, broken)) == [("info", "ENV054", "package.gone")]
    rooted = policy(roots=("svc",))
    assert rows(judged(rooted, whole, broken)) == [("error", "ENV052", "package.gone")]
    elsewhere = policy(roots=("numpy",), roles={"svc": "preprocess"})
    assert rows(judged(elsewhere, whole, broken)) == [("info", "ENV054", "package.gone")]


def test_a_root_is_required() -> None:
    """A root that is not installed is reported like a required package."""
    assert the(judged(policy(roots=("svc",))), "ENV091").subject == "package.svc"
