"""A container starts when it is what was accepted, and stops with a reason when it is not."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.embedding.test_embedding import copied
from tests.startup.box import Box, events, started

Unshare = Callable[..., list[str]]


def facts_that_differ(done: object) -> list[str]:
    """Return the facts that a start reported as different."""
    return [item["fact"] for item in events(done) if item["event"] == "difference"]  # type: ignore[arg-type]


def test_nothing_differs(box: Box) -> None:
    """With a seal and nothing changed no rule is run, and the application takes over."""
    done = box.execute(*box.sealed)

    assert done.returncode == 0, done.stderr
    assert started(done)
    assert [item["event"] for item in events(done)] == ["sealed", "verdict"]
    assert events(done)[-1]["verdict"] == "conforms"


def test_without_a_seal_the_rules_run(box: Box) -> None:
    """A conforming environment starts by the rules alone."""
    done = box.execute("--train", box.train)

    assert (done.returncode, started(done)) == (0, True), done.stderr
    assert events(done)[-1]["how"] == "rules"


def test_a_removed_package(own_box: Box) -> None:
    """A distribution that is gone is seen by the stamp, named, and stops the start."""
    own_box.remove("numpy")
    done = own_box.execute(*own_box.sealed)

    assert (done.returncode, started(done)) == (1, False), done.stderr
    assert "package.numpy" in facts_that_differ(done)
    found = [item for item in events(done) if item["event"] == "finding"]
    assert found[0]["level"] == "error"
    assert "numpy" in found[0]["title"]


def test_a_changed_variable(box: Box) -> None:
    """An allow-listed variable that changes results is seen with both values."""
    done = box.execute(*box.sealed, environ={"OMP_NUM_THREADS": "3"})

    assert "env.OMP_NUM_THREADS" in facts_that_differ(done)
    assert events(done)[-1]["how"] == "rules"


def test_a_wrong_time_zone(box: Box) -> None:
    """Another time zone is seen, and the rule about it speaks."""
    done = box.execute(*box.sealed, environ={"TZ": "Asia/Tokyo"})

    assert "python.timezone" in facts_that_differ(done)
    assert [item for item in events(done) if "Asia/Tokyo" in str(item.get("title"))]


def test_a_changed_cpu_quota(box: Box) -> None:
    """A container that gets less processor time than at release is told apart."""
    group = Path("/sys/fs/cgroup/cpu/envcheck-test")
    try:
        group.mkdir(exist_ok=True)
        (group / "cpu.cfs_period_us").write_text("100000")
        (group / "cpu.cfs_quota_us").write_text("50000")
    except OSError:
        pytest.skip("needs a writable cgroup (version 1, cpu)")
    try:
        enter = ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh"]
        done = box.run("selftest", *box.sealed, before=enter)
    finally:
        group.rmdir()

    found = {item["fact"]: item for item in events(done) if item["event"] == "difference"}
    assert found["limits.cpu_quota"]["here"] == 0.5
    assert done.returncode == 0, "a limit is a warning at most when no model is too large for it"


def test_another_model(own_box: Box) -> None:
    """A model whose content is not the one of release stops the start; embedding does not."""
    model = copied("plain.onnx", own_box.folder)
    own_box.release(model=model)
    options = [*own_box.sealed, "--model", model]
    assert own_box.execute(*options).returncode == 0

    own_box.run("embed", model, own_box.train)
    done = own_box.execute(*options)
    assert events(done)[0]["event"] == "sealed", "what is embedded is no content"

    shutil.move(copied("converted.onnx", own_box.folder), model)
    done = own_box.execute(*options)
    assert (done.returncode, started(done)) == (1, False), done.stderr
    assert facts_that_differ(done) == ["model.plain.onnx"]


def test_the_model_carries_the_train_side(own_box: Box) -> None:
    """Without `--train`, the fingerprint in the model, or beside it, is used."""
    model = copied("plain.onnx", own_box.folder)
    own_box.run("embed", model, own_box.train)
    assert own_box.execute("--model", model).returncode == 0

    beside = copied("float.tflite", own_box.folder)
    own_box.run("embed", beside, own_box.train)
    assert own_box.execute(environ={"ENVCHECK_MODEL": str(beside)}).returncode == 0


def test_a_tampered_file(own_box: Box) -> None:
    """A file of the same size and another content is found by `--files` alone."""
    target = own_box.site / "tool" / "__init__.py"
    for path in own_box.site.glob("*.dist-info"):  # those of made-up files
        if path.name.split("-")[0] not in ("tool", "numpy", "tensorflow"):
            shutil.rmtree(path)
    own_box.release()
    assert own_box.execute(*own_box.sealed, "--files").returncode == 0

    target.write_text("VALUE = 2\n")
    assert own_box.execute(*own_box.sealed).returncode == 0
    done = own_box.execute(*own_box.sealed, "--files")
    assert (done.returncode, started(done)) == (1, False), done.stderr
    found = [item for item in events(done) if item["event"] == "file"]
    assert [(item["file"], item["problem"]) for item in found] == [
        (str(target), "has another content")
    ]

    target.unlink()
    done = own_box.execute(*own_box.sealed, "--files")
    assert "is missing" in done.stderr


def test_files_have_their_own_budget(box: Box) -> None:
    """What the budget of the files does not reach is undetermined, which `closed` refuses."""
    done = box.execute(*box.sealed, "--files-budget", "0")

    assert (done.returncode, started(done)) == (3, False)
    (counted,) = [item for item in events(done) if item["event"] == "files"]
    assert (counted["level"], counted["complete"]) == ("warning", False)


def test_a_spent_budget_obeys_the_policy(box: Box) -> None:
    """Probes beyond the budget are unknown: closed stops with 3, open starts and says so."""
    closed = box.execute(*box.sealed, "--budget", "0")
    assert (closed.returncode, started(closed)) == (3, False), closed.stderr
    assert [item for item in events(closed) if item["event"] == "timeout"]

    opened = box.execute(*box.sealed, "--budget", "0", environ={"ENVCHECK_POLICY": "open"})
    assert (opened.returncode, started(opened)) == (0, True), opened.stderr
    assert events(opened)[0]["event"] == "policy-loosened"
    assert events(opened)[-1]["verdict"] == "undetermined"


def test_a_probe_that_hangs_is_cut_off(own_box: Box) -> None:
    """A read that never ends is interrupted when the budget is."""
    plugin = own_box.site / "slow-1.0.dist-info"
    plugin.mkdir()
    (plugin / "METADATA").write_text("Metadata-Version: 2.1\nName: slow\nVersion: 1.0\n\n")
    (plugin / "entry_points.txt").write_text("[envcheck.probes]\nslow = slow_probe:probe\n")
    (own_box.site / "slow_probe.py").write_text(
        "import os\ndef probe(host):\n    r, w = os.pipe()\n    os.read(r, 1)\n"
    )
    done = own_box.run("selftest", "--train", own_box.train, "--budget", "3")

    assert done.returncode == 3, done.stderr
    (late,) = [item for item in events(done) if item["event"] == "timeout"]
    assert late["probes"] == ["slow:slow"]
    assert events(done)[-1]["seconds"] < 10
    assert events(done)[-1]["how"] == "rules", "the rest of the budget was left to judge"


HOOK = """
import sys, time
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "envcheck.comparing.judging":
            time.sleep(60)
sys.meta_path.insert(0, Finder())
"""
"""Makes the rules take a minute in the environment that has it."""


@pytest.mark.parametrize("what", ["rules", "train"])
def test_the_budget_bounds_every_part(own_box: Box, what: str) -> None:
    """Rules that take too long, and a train side that never comes, end with the budget."""
    if what == "rules":
        (own_box.site / "slow_rules.pth").write_text("import slow_rules\n")
        (own_box.site / "slow_rules.py").write_text(HOOK)
    else:
        own_box.train.unlink()
        os.mkfifo(own_box.train)
    for policy, code in (("closed", 3), ("open", 0)):
        start = time.monotonic()
        options = ["--train", own_box.train, "--budget", "0.9", "--policy", policy]
        done = own_box.execute(*options)

        assert (done.returncode, started(done)) == (code, code == 0), done.stderr
        assert time.monotonic() - start < 10
        late = [item for item in events(done) if item["event"] == "timeout"]
        assert "budget of 0.9 s" in late[-1]["problem"]
        assert events(done)[-1]["verdict"] == "undetermined"


@pytest.mark.parametrize(("policy", "code"), [("closed", 1), ("warn", 0), ("open", 0)])
def test_policies_on_findings(own_box: Box, policy: str, code: int) -> None:
    """Only `closed` stops at a finding; the log has it under every policy."""
    own_box.remove("numpy")
    done = own_box.execute("--train", own_box.train, "--policy", policy)

    assert (done.returncode, started(done)) == (code, code == 0), done.stderr
    assert [item for item in events(done) if item["event"] == "finding"]
    assert events(done)[-1]["verdict"] == "does_not_conform"
    assert "policy-loosened" not in done.stderr, "the image's own policy is no loosening"


BROKEN = {
    "missing": None, "empty": b"", "cut": b'{"schema": "envcheck', "pickle": b"\x80\x04.",
    "deep": b"[" * 100_000, "other": b'{"schema": "envcheck.report/1"}',
    "hollow": b'{"schema": "envcheck.fingerprint/1", "envelope": {}, "facts": {}}',
}  # fmt: skip


@pytest.mark.parametrize("what", ["train", "seal"])
@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_follow_the_policy(what: str, name: str, box: Box, tmp_path: Path) -> None:
    """Closed and warn stop before the application; open starts it and logs the problem."""
    data = BROKEN[name]
    path = tmp_path / "broken.json"
    if data is not None:
        path.write_bytes(data)
    files = {"train": box.train, "seal": box.seal, what: path}
    if what == "train":
        del files["seal"]
    options = [word for key, value in files.items() for word in (f"--{key}", value)]
    code = 3 if (name, what) == ("hollow", "train") else 2
    for policy, expected in (("closed", code), ("warn", code), ("open", 0)):
        done = box.execute(*options, "--policy", policy)
        assert (done.returncode, started(done)) == (expected, expected == 0), done.stderr
        assert [item for item in events(done) if item["event"] == "problem"]


def test_a_seal_for_another_train_side(own_box: Box) -> None:
    """A seal made with another train fingerprint vouches for nothing; the rules are run."""
    text = own_box.train.read_text().replace('"role": "train"', '"role": "train", "x": 1')
    own_box.train.write_text(text)
    done = own_box.execute(*own_box.sealed)

    assert facts_that_differ(done) == ["train"]
    assert events(done)[-1]["how"] == "rules"
    assert done.returncode == 0


def test_what_was_accepted_at_release_stays_accepted(own_box: Box) -> None:
    """A finding that was there when the seal was made is no obstacle when the rules run."""
    own_box.remove("numpy")
    live = own_box.run("capture", "-o", own_box.folder / "deploy.json")
    assert live.returncode == 0
    done = own_box.run(
        "compare", own_box.train, own_box.folder / "deploy.json", "--seal", own_box.seal,
        "--fail-on", "never",
    )  # fmt: skip
    assert done.returncode == 0
    assert own_box.execute("--train", own_box.train).returncode == 1

    done = own_box.execute(*own_box.sealed, environ={"OMP_NUM_THREADS": "3"})
    assert (done.returncode, started(done)) == (0, True), done.stderr


def test_no_seal_for_what_is_not_accepted(own_box: Box) -> None:
    """`compare --seal` writes nothing when the environment does not conform."""
    own_box.seal.unlink()
    own_box.remove("numpy")
    done = own_box.run("compare", own_box.train, "live", "--seal", own_box.seal)

    assert done.returncode == 1
    assert "no seal was written" in done.stderr
    assert not own_box.seal.exists()
