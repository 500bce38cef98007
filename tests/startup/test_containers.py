"""The container examples, step by step as plain processes: what they show is what happens."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import PROGRAM
from tests.conftest import ROOT
from tests.embedding.test_embedding import DATA

EXAMPLES = ROOT / "examples" / "containers"
Unshare = Callable[..., list[str]]


class Image:
    """The stage `serve` of the Dockerfile, with its absolute folders moved below a scratch one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("model", "app", "run/envcheck", "bin"):
            (folder / name).mkdir(parents=True)
        words = " ".join(shlex.quote(word) for word in PROGRAM)
        script(folder / "bin" / "envcheck", f'exec {words} "$@"')
        script(folder / "bin" / "python", f'exec {shlex.quote(sys.executable)} "$@"')
        shutil.copy(EXAMPLES / "serve.py", folder / "app")
        text = (EXAMPLES / "Dockerfile").read_text().replace("\\\n", " ")
        stage = re.split(r"^FROM ", text, flags=re.MULTILINE)[2]
        self.lines = [line.split(" ", 1) for line in stage.splitlines()[1:] if line.strip()]
        self.environ = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "TZ": "UTC"}
        for name, value in re.findall(r"(ENVCHECK_\w+)=(\S+)", stage):
            self.environ[name] = self.moved(value)

    def moved(self, text: str) -> str:
        """Return a text with the image's own folders below the scratch folder."""
        return re.sub(r"(?<![\w/])/(model|app|run/envcheck)\b", rf"{self.folder}/\1", text)

    def words(self, instruction: str) -> list[str]:
        """Return the JSON form of an instruction."""
        (text,) = [rest for name, rest in self.lines if name == instruction]
        return [self.moved(word) for word in json.loads(text[text.index("[") :])]

    def run(self, command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a command of the image."""
        return subprocess.run(
            command, cwd=self.folder, env=self.environ, capture_output=True, text=True,
            timeout=120, stdin=subprocess.DEVNULL, **options,
        )  # fmt: skip

    def build(self) -> None:
        """Run what the stage runs."""
        steps = [rest for name, rest in self.lines if name == "RUN"]
        assert len(steps) == 1
        done = self.run(["sh", "-ec", self.moved(steps[0])])
        assert done.returncode == 0, done.stderr


def script(path: Path, line: str) -> None:
    """Write a shell script that may be run."""
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """Return the built image: a model that carries its train fingerprint, judged and sealed."""
    made = Image(tmp_path_factory.mktemp("image"))
    model = made.folder / "model" / "model.onnx"
    shutil.copy(DATA / "plain.onnx", model)
    page = (ROOT / "docs" / "containers.md").read_text()
    first = re.findall(r"^```bash\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[0]
    done = made.run(["sh", "-ec", f"cd model\n{first}"])
    assert done.returncode == 0, done.stderr
    made.build()
    assert (made.folder / "model" / "seal.json").exists()
    return made


def serve_and_stop(image: Image, command: list[str]) -> tuple[str, int, list[dict[str, Any]]]:
    """Start a server, ask for its health, end it; return its words, exit code and log."""
    with subprocess.Popen(
        command, cwd=image.folder, env=image.environ, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()
        healthy = image.run(image.words("HEALTHCHECK"))
        process.send_signal(signal.SIGTERM)
        rest = process.stdout.read()
        log = [json.loads(line) for line in process.stderr.read().splitlines()]
        code = process.wait(20)
    assert first == f"serving as process {process.pid}\n", log
    assert healthy.returncode == 0, healthy.stderr
    return rest, code, log


def test_the_image_starts_serves_and_ends(image: Image) -> None:
    """ENTRYPOINT and CMD check against the seal, serve, are healthy, and end on SIGTERM."""
    command = image.words("ENTRYPOINT") + image.words("CMD")
    rest, code, log = serve_and_stop(image, command)

    assert (rest, code) == ("ended\n", 0)
    assert [item["event"] for item in log] == ["sealed", "verdict"]


def test_the_image_starts_on_a_read_only_root(image: Image, unshare: Unshare) -> None:
    """With everything read-only but the state's volume, as in the Kubernetes example."""
    state = image.folder / "run" / "envcheck"
    script = (
        f"mount -o bind / /mnt && mount -t tmpfs none /mnt{state}"
        ' && mount -o remount,bind,ro /mnt && exec chroot /mnt "$@"'
    )
    command = [*unshare(script), *image.words("ENTRYPOINT"), "sh", "-c",
               f"cat {state}/state.json && ! touch {image.folder}/x"]  # fmt: skip
    done = image.run(command)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"] == "conforms"


def test_the_image_with_another_model_does_not_start(image: Image, tmp_path: Path) -> None:
    """A model that was swapped on the volume is stopped, and Kubernetes is told why."""
    log = tmp_path / "termination-log"
    log.touch()
    other = tmp_path / "model.onnx"
    shutil.copy(DATA / "converted.onnx", other)
    train = image.folder / "model" / "model.onnx"
    environ = {**image.environ, "ENVCHECK_TERMINATION_LOG": str(log)}
    done = subprocess.run(
        [*image.words("ENTRYPOINT")[:-1], "--model", str(other), "--train", str(train),
         "--", "echo", "started"],
        env=environ, capture_output=True, text=True, timeout=60,
    )  # fmt: skip

    assert (done.returncode, done.stdout) == (1, "")
    assert "model.onnx" in log.read_text()


def test_kubernetes(image: Image) -> None:
    """The init container, the arguments of the server, and the probe are what the image takes."""
    yaml = pytest.importorskip("yaml")
    pod = yaml.safe_load((EXAMPLES / "kubernetes.yaml").read_text())["spec"]["template"]["spec"]
    (first,), (server,) = pod["initContainers"], pod["containers"]
    assert first["resources"] == server["resources"], "limits are part of what is checked"
    environ = {item["name"]: image.moved(item["value"]) for item in server["env"]}
    assert environ.items() <= image.environ.items()

    done = image.run([image.moved(word) for word in first["command"]])
    assert done.returncode == 0, done.stderr
    command = image.words("ENTRYPOINT") + [image.moved(word) for word in server["args"]]
    assert serve_and_stop(image, command)[1] == 0
    assert image.run(server["startupProbe"]["exec"]["command"]).returncode == 0


def test_compose(image: Image) -> None:
    """The health check of the compose file is the image's own."""
    yaml = pytest.importorskip("yaml")
    service = yaml.safe_load((EXAMPLES / "compose.yaml").read_text())["services"]["classifier"]
    word, *command = service["healthcheck"]["test"]

    assert word == "CMD"
    assert command == image.words("HEALTHCHECK")
    state = image.moved(service["environment"]["ENVCHECK_STATE"])
    assert state == image.environ["ENVCHECK_STATE"]
    assert service["tmpfs"][0].split(":")[0] == "/run/envcheck"


@pytest.mark.parametrize("server", ["tensorflow-serving", "triton", "bentoml"])
def test_other_servers(image: Image, server: str, tmp_path: Path) -> None:
    """The entry points check the model that the server loads, then start it as it wants."""
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load((EXAMPLES / "serving.yaml").read_text())[server]
    model = tmp_path / recipe["model"].lstrip("/")
    model.parent.mkdir(parents=True)
    if server == "tensorflow-serving":
        shutil.copytree(DATA / "exported", model)
    else:
        shutil.copy(DATA / "plain.onnx", model)
    environ = {"PATH": f"{tmp_path}:{image.environ['PATH']}"}
    train = image.run(["envcheck", "capture", "-q"]).stdout
    subprocess.run(
        ["envcheck", "embed", str(model), "-"], env=environ, input=train, text=True, check=True,
        timeout=60,
    )  # fmt: skip
    cut = recipe["command"].index("--") + 1
    program, *arguments = recipe["command"][cut:]
    script(tmp_path / program, 'echo "$$ $@"')
    before = [str(tmp_path / w.lstrip("/")) if w == recipe["model"] else w
              for w in recipe["command"][:cut]]  # fmt: skip
    done = subprocess.run(
        [*before, program, *arguments], env=environ, capture_output=True, text=True, timeout=60
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[1:] == arguments


def test_the_distroless_stage_needs_no_shell() -> None:
    """Every instruction of the stage without a shell has the JSON form."""
    text = (EXAMPLES / "Dockerfile").read_text().replace("\\\n", " ")
    stage = re.split(r"^FROM ", text, flags=re.MULTILINE)[3]
    for line in stage.splitlines():
        found = re.match(r"(RUN|CMD|ENTRYPOINT|HEALTHCHECK)\b.*?(\[.*)", line)
        if line.startswith(("RUN", "CMD", "ENTRYPOINT", "HEALTHCHECK")):
            assert found, line
            assert json.loads(found[2])[0] == "/usr/bin/python3"


def test_the_second_step_of_the_page(image: Image, tmp_path: Path) -> None:
    """The commands under "When you build the image" do what the page says."""
    page = (ROOT / "docs" / "containers.md").read_text()
    second = re.findall(r"^```bash\n(.*?)^```", page, re.MULTILINE | re.DOTALL)[1]
    shutil.copy(image.folder / "model" / "model.onnx", tmp_path)
    done = subprocess.run(
        ["sh", "-ec", second], cwd=tmp_path, env=image.environ, capture_output=True, text=True,
        timeout=60,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "seal.json").read_text())["stamp"]
