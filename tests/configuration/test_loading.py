"""Where the configuration is found, which value wins, and what is loaded for it."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from envcheck.comparing.compare import compare_fingerprints
from envcheck.configuration import OPTIONS
from envcheck.configuration.documents import find_configuration
from envcheck.configuration.profiles import SHIPPED
from envcheck.errors import ConfigError
from envcheck.policy import Citation, Policy, Waiver, Wanted
from tests.configuration.files import TODAY, load
from tests.policy.environments import DEPLOY, TRAIN

if TYPE_CHECKING:
    from pathlib import Path

FILE = """\
profile = "gpu-required"
fail-on = "warning"
format = "text"
strict = true
color = "never"
"""
VARIABLES = {
    "ENVCHECK_PROFILE": "bit-exact",
    "ENVCHECK_FAIL_ON": "never",
    "ENVCHECK_FORMAT": "json, text=report.txt",
    "ENVCHECK_STRICT": "false",
    "ENVCHECK_COLOR": "always",
}
TYPED = {
    "profile": "onnx-serving",
    "fail-on": "error",
    "format": ("json",),
    "strict": True,
    "color": "auto",
}
IN_FILE = ("gpu-required", "warning", ("text",), True, "never")
IN_VARIABLES = ("bit-exact", "never", ("json", "text=report.txt"), False, "always")
IN_DEFAULTS = ("default", "error", (), False, "auto")


@pytest.mark.parametrize(
    ("typed", "variables", "file", "values", "source"),
    [
        (False, False, False, IN_DEFAULTS, "default"),
        (False, False, True, IN_FILE, "envcheck.toml:"),
        (False, True, False, IN_VARIABLES, "ENVCHECK_"),
        (False, True, True, IN_VARIABLES, "ENVCHECK_"),
        (True, False, False, tuple(TYPED.values()), "command line"),
        (True, False, True, tuple(TYPED.values()), "command line"),
        (True, True, False, tuple(TYPED.values()), "command line"),
        (True, True, True, tuple(TYPED.values()), "command line"),
    ],
)
def test_precedence(
    *,
    typed: bool,
    variables: bool,
    file: bool,
    values: tuple[Any, ...],
    source: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Command line, variables, file, defaults, each value with its source."""
    monkeypatch.chdir(tmp_path)
    found = load(
        tmp_path,
        files={"envcheck.toml": FILE} if file else {},
        environment=VARIABLES if variables else {},
        options=TYPED if typed else dict.fromkeys(TYPED),
    )

    assert tuple(found[name] for name in TYPED) == values
    assert {found.settings[name].source.startswith(source) for name in TYPED} == {True}


def test_each_option_is_settled_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One value from each layer."""
    monkeypatch.chdir(tmp_path)
    found = load(
        tmp_path,
        files={"envcheck.toml": 'color = "never"\nstrict = true\n'},
        environment={"ENVCHECK_STRICT": "0", "ENVCHECK_FORMAT": ""},
        options={"fail-on": "never", "color": None},
    )

    assert {name: (found[name], found.settings[name].source) for name in OPTIONS} == {
        "profile": ("default", "default"),
        "waivers": (None, "default"),
        "baseline": (None, "default"),
        "fail-on": ("never", "command line"),
        "format": ((), "default"),
        "strict": (False, "ENVCHECK_STRICT"),
        "rules": ((), "default"),
        "color": ("never", "envcheck.toml:1"),
        "engine": ("builtin", "default"),
    }


def test_the_search(tmp_path: Path) -> None:
    """The nearest file upward, envcheck.toml first, ends at the root of a repository."""
    inner = tmp_path / "repo" / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "envcheck.toml").write_text("")
    assert find_configuration(str(inner)) == str(tmp_path / "envcheck.toml")

    (tmp_path / "repo" / ".git").mkdir()
    assert find_configuration(str(inner)) is None

    project = tmp_path / "repo" / "pyproject.toml"
    project.write_text("[project]\nname = 'envcheck'\n")
    assert find_configuration(str(inner)) is None
    project.write_text("[tool.envcheck]\nstrict = true\n")
    assert find_configuration(str(inner)) == str(project)
    for text in (
        "tool.envcheck.strict = true\n",
        "[tool]\nenvcheck.strict = true\n",
        "tool = { envcheck = {} }\n",
        '[ tool . "envcheck" ]\n',
        "[tool.'envcheck'.policy]\n",
    ):
        project.write_text(text)
        assert find_configuration(str(inner)) == str(project), text

    (tmp_path / "repo" / "envcheck.toml").write_text("")
    assert find_configuration(str(inner)) == str(tmp_path / "repo" / "envcheck.toml")
    (inner.parent / "pyproject.toml").write_text("[tool.envcheck]")
    assert find_configuration(str(inner)) == str(inner.parent / "pyproject.toml")


def test_the_search_ends_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file above the home folder is not ours."""
    home = tmp_path / "home"
    (home / "work").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    (tmp_path / "envcheck.toml").write_text("")
    assert find_configuration(str(home / "work")) is None

    (home / "envcheck.toml").write_text("")
    assert find_configuration(str(home / "work")) == str(home / "envcheck.toml")


def test_a_broken_pyproject_is_ours_only_with_our_table(tmp_path: Path) -> None:
    """One that cannot be parsed is an error where it names our table, else left to others."""
    project = tmp_path / "pyproject.toml"
    project.write_text("[tool.envcheck\nx")
    (tmp_path / ".git").mkdir()
    assert find_configuration(str(tmp_path)) == str(project)
    project.write_text("# envcheck\n[tool.other\nx")
    assert find_configuration(str(tmp_path)) is None


def test_pyproject_has_its_lines(tmp_path: Path) -> None:
    """A mistake in [tool.envcheck] is told with the line of the whole file."""
    text = "[project]\nname = 'x'\n\n[tool.envcheck]\nstrict = true\nfail-on = 'x'\n"
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, files={"pyproject.toml": text})

    assert caught.value.place == f"{tmp_path / 'pyproject.toml'}:6"


def test_config_names_the_file(tmp_path: Path) -> None:
    """`--config`, then the variable, then the search; any name will do."""
    files = {"envcheck.toml": "color = 'never'", "a.toml": "color = 'always'", "b.toml": ""}
    named = {"ENVCHECK_CONFIG": str(tmp_path / "a.toml")}

    assert load(tmp_path, files=files)["color"] == "never"
    assert load(tmp_path, environment=named)["color"] == "always"
    assert load(tmp_path, environment=named, config=str(tmp_path / "b.toml"))["color"] == "auto"


def test_a_whole_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every key arrives, names normalised, each with its place."""
    monkeypatch.chdir(tmp_path)
    text = """\
        [policy]
        require = ["ONNXRuntime >= 1.18, < 2"]
        forbid = ["Tensor.Flow"]
        roots = ["My_Service"]
        disable = ["ENV075"]
        require-gpu = true
        [policy.roles]
        My_Lib = "preprocess"
        [policy.drift]
        NumPy = "minor"
        python = "patch"
        "role:preprocess" = "none"
        [policy.severity]
        ENV070 = "info"
        [[waivers]]
        rule = "ENV042"
        fact = "package.numpy"
        reason = "tried  it"
        owner = "ops"
        expires = "2026-12-31"
        """
    policy = load(tmp_path, files={"envcheck.toml": text}).policy

    assert policy == Policy(
        profiles=("default",),
        roles={"my-lib": "preprocess"},
        drift={"numpy": "minor", "python": "patch", "role:preprocess": "none"},
        require=(Wanted(name="onnxruntime", specifier=">=1.18,<2"),),
        forbid=(Wanted(name="tensor-flow"),),
        roots=("my-service",),
        severity={"ENV070": "info"},
        disable=frozenset({"ENV075"}),
        require_gpu=True,
        waivers=(
            Waiver(
                rule="ENV042",
                fact="package.numpy",
                reason="tried it",
                owner="ops",
                expires=date(2026, 12, 31),
                place="envcheck.toml:15",
            ),
        ),
        cited=policy.cited,
        today=TODAY,
    )
    assert policy.cited["drift.numpy"] == Citation(value="minor", place="envcheck.toml:10")
    assert policy.cited["require.onnxruntime"].place == "envcheck.toml:2"


def test_includes_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each section may be a file of its own, with places of its own."""
    monkeypatch.chdir(tmp_path)
    files = {
        "conf/envcheck.toml": "profile = 'p/strict.toml'\npolicy = 'policy.toml'\n"
        "waivers = 'waivers.toml'\nbaseline = 'base.json'\n",
        "conf/p/strict.toml": "extends = 'bit-exact'\n[drift]\nnumpy = 'patch'\n",
        "conf/policy.toml": "require = ['keras']\n",
        "conf/waivers.toml": "[[waivers]]\nrule = 'ENV042'\nreason = 'x'\nexpires = 2026-12-01\n",
        "conf/base.json": '{"schema": "envcheck.baseline/1", "entries": []}',
    }
    found = load(tmp_path, files=files, config="conf/envcheck.toml")
    policy = found.policy

    assert policy.profiles == ("bit-exact", "strict")
    assert (policy.drift["numpy"], policy.drift["role:numeric"]) == ("patch", "none")
    assert policy.cited["drift.numpy"].place == "conf/p/strict.toml:3"
    assert policy.cited["drift.role:numeric"].place == "profile bit-exact"
    assert policy.require == (Wanted(name="keras"),)
    assert policy.waivers[0].place == "conf/waivers.toml:1"
    assert policy.baseline is not None
    assert policy.baseline.place == found["baseline"] == "conf/base.json"
    assert found.settings["waivers"].source == "conf/envcheck.toml:3"


def test_named_files_replace_those_of_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--waivers` and `--baseline` are relative to the current folder and outweigh the file."""
    monkeypatch.chdir(tmp_path)
    waiver = "[[waivers]]\nrule = '{}'\nreason = 'x'\nexpires = 2026-12-01\n"
    files = {
        "envcheck.toml": "baseline = 'missing.json'\n" + waiver.format("ENV042"),
        "w.toml": waiver.format("ENV070"),
        "b.json": '{"schema": "envcheck.baseline/1", "entries": []}',
    }
    options = {"waivers": "w.toml", "baseline": "b.json"}
    found = load(tmp_path, files=files, options=options)

    assert [one.rule for one in found.policy.waivers] == ["ENV070"]
    assert found.policy.waivers[0].place == "w.toml:1"
    assert found.settings["waivers"].source == "command line"


def test_profiles_of_the_project(tmp_path: Path) -> None:
    """A chain adds up: later tables over earlier ones, the policy over all."""
    text = """\
        profile = "ours"
        [profiles.base]
        extends = "gpu-required"
        require = ["keras>=3"]
        drift = { numpy = "minor", keras = "none" }
        [profiles.ours]
        extends = "base"
        require = ["keras>=3.3", "numpy"]
        drift = { numpy = "patch" }
        severity = { ENV046 = "info" }
        [policy]
        require-gpu = false
        drift = { keras = "any" }
        """
    policy = load(tmp_path, files={"envcheck.toml": text}).policy

    assert policy.profiles == ("gpu-required", "base", "ours")
    assert policy.drift == {"numpy": "patch", "keras": "any"}
    assert [one.text for one in policy.require] == ["keras>=3.3", "numpy"]
    assert policy.severity == {"ENV046": "info", "ENV047": "error"}
    assert not policy.require_gpu


RULE = """\
@prefix ec: <urn:envcheck:ec:> .
@prefix rule: <urn:envcheck:rule:> .
@prefix env: <urn:envcheck:env:> .
rule:ACME1 a ec:Rule ; ec:name "no-runtime" ; ec:fault "no-runtime" ; ec:since "0.1" ;
  ec:status "stable" ; ec:severity ec:warning ; ec:basis ec:declared ; ec:profile "{profile}" ;
  ec:title "The list is complete" ; ec:detail "It is." ; ec:fix "None." .
{{ rule:ACME1 ec:state ec:enabled . env:deploy ec:packageList ec:complete . }}
  => {{ env:deploy ec:violates rule:ACME1 }} .
"""


@pytest.mark.parametrize(("profile", "fires"), [("mine", True), ("default", False)])
def test_rules_of_the_project(profile: str, fires: bool, tmp_path: Path) -> None:
    """Their ids are known to policy and waivers; one that belongs to a profile runs only in it."""
    files = {
        "conf/rules/acme.n3": RULE.format(profile="mine"),
        "conf/envcheck.toml": f"profile = '{profile}'\nrules = 'rules'\n[profiles.mine]\n"
        "[policy.severity]\nACME1 = 'error'\n"
        "[[waivers]]\nrule = 'ACME1'\nreason = 'x'\nexpires = 2026-12-01\nfact = 'none'\n",
    }
    found = load(tmp_path, files=files, config=str(tmp_path / "conf" / "envcheck.toml"))
    report = compare_fingerprints(TRAIN, DEPLOY, policy=found.policy, rules=found.rules)

    assert found["rules"] == (str(tmp_path / "conf" / "rules"),)
    assert found.rules is not None
    assert [f.severity for f in report.findings if f.rule == "ACME1"] == ["error"] * fires


def test_rules_on_the_command_line(tmp_path: Path) -> None:
    """Relative to the current folder, and instead of those of the file."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "acme.n3").write_text(RULE.format(profile="default"))
    files = {"envcheck.toml": "rules = ['nowhere']\n[policy]\ndisable = ['ACME1']\n"}
    found = load(tmp_path, files=files, options={"rules": ("mine",)})

    assert found.rules is not None
    assert "ACME1" in found.rules.book.ids


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_profiles_are_sound(name: str, root: Path, tmp_path: Path) -> None:
    """Each is a valid profile, says what it is for, and can be chosen without a file."""
    text = (root / "rules" / "profiles" / f"{name}.toml").read_text("utf-8")
    assert "about" in text
    mine = load(tmp_path, files={"envcheck.toml": "profile = 'x.toml'", "x.toml": text}).policy
    (tmp_path / "envcheck.toml").unlink()
    shipped = load(tmp_path, options={"profile": name}).policy

    assert shipped.profiles == (name,)
    assert (shipped.drift, shipped.severity) == (mine.drift, mine.severity)
    assert (shipped.require, shipped.require_gpu) == (mine.require, mine.require_gpu)


def test_every_shipped_profile_is_listed(root: Path) -> None:
    """The list in the code is the folder."""
    files = sorted(path.stem for path in (root / "rules" / "profiles").glob("*.toml"))

    assert files == sorted(SHIPPED)


def test_the_limit_of_waivers_is_configurable(tmp_path: Path) -> None:
    """Up to the day that the limit allows."""
    text = "[[waivers]]\nrule = 'ENV042'\nreason = 'x'\nexpires = 2027-11-30\n"
    policy = load(tmp_path, files={"envcheck.toml": "max-waiver-days = 365\n" + text}).policy

    assert policy.waivers[0].expires == date(2027, 11, 30)


def test_a_baseline_that_is_to_be_written_need_not_be_there(tmp_path: Path) -> None:
    """Its name is settled all the same."""
    files = {"envcheck.toml": "baseline = 'base.json'"}
    found = load(tmp_path, files=files, with_baseline=False)

    assert found.policy.baseline is None
    assert found["baseline"] == str(tmp_path / "base.json")


def test_foreign_variables_are_left_alone(tmp_path: Path) -> None:
    """Those of envcheck's other parts and of strangers are no mistake."""
    others = {"ENVCHECK_DEBUG": "1", "ENVCHECK_EYE": "x", "ENVCHECK_TOKEN": "y", "PATH": ""}

    assert load(tmp_path, environment=others).policy == Policy(today=TODAY)


@pytest.mark.parametrize(
    ("options", "heavy"),
    [({}, {"pydantic", "tomllib", "packaging"}), ({"profile": "bit-exact"}, {"pydantic"})],
)
def test_without_a_file_nothing_heavy_is_loaded(
    options: dict[str, str], heavy: set[str], root: Path, tmp_path: Path
) -> None:
    """No pydantic, and no TOML parser where there is nothing to parse."""
    code = (
        f"import sys; sys.path.insert(0, {str(root)!r})\n"
        "import envcheck\n"
        f"envcheck.__path__.append({str(root)!r})\n"
        "from envcheck.configuration import load_configuration\n"
        f"load_configuration(options={options!r}, environment={{}}, folder={str(tmp_path)!r})\n"
        f"print(sorted({heavy!r} & set(sys.modules)))"
    )
    (tmp_path / ".git").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=60
    )

    assert done.stdout.strip() == "[]", done.stderr
