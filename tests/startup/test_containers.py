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
from tests.startup.pages import blocks, script

EXAMPLES = ROOT / "examples" / "containers"
Unshare = Callable[..., list[str]]


def stage_of(number: int) -> str:
    """Return a stage of the Dockerfile: 1 build, 2 serve, 3 distroless."""
    text = (EXAMPLES / "Dockerfile").read_text().replace("\\\n", " ")
    return re.split(r"^FROM ", text, flags=re.MULTILINE)[number]


class Image:
    """A stage of the Dockerfile, with its absolute folders moved below a scratch one."""

    def __init__(self, folder: Path, number: int = 2) -> None:
        self.folder = folder
        for name in ("model", "app", "run/envcheck", "bin"):
            (folder / name).mkdir(parents=True)
        words = " ".join(shlex.quote(word) for word in PROGRAM)
        script(folder / "bin" / "envcheck", f'exec {words} "$@"')
        script(folder / "bin" / "python", f'exec {shlex.quote(sys.executable)} "$@"')
        shutil.copy(EXAMPLES / "serve.py", folder / "app")
        stage = stage_of(number)
        self.lines = [line.split(" ", 1) for line in stage.splitlines()[1:] if line.strip()]
        self.environ = {"PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "TZ": "UTC"}
        for name, value in re.findall(r"(ENVCHECK_\w+)=(\S+)", stage):
            self.environ[name] = self.moved(value)

    def moved(self, text: str) -> str:
        """Return a text with the image's own folders below the scratch folder."""
        text = text.replace("/usr/bin/python3", str(self.folder / "bin" / "python"))
        return re.sub(r"(?<![\w/])/(model|app|run/envcheck)\b", rf"{self.folder}/\1", text)

    def words(self, instruction: str) -> list[str]:
        """Return the JSON form of an instruction."""
        (text,) = [rest for name, rest in self.lines if name == instruction]
        return [self.moved(word) for word in json.loads(text[text.index("[") :])]

    def run(self, command: list[str], **environ: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the image."""
        return subprocess.run(
            command, cwd=self.folder, env={**self.environ, **environ}, capture_output=True,
            text=True, timeout=120, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def build(self) -> None:
        """Run what the stage runs."""
        steps = [rest for name, rest in self.lines if name == "RUN"]
        assert len(steps) == 1
        done = self.run(["sh", "-ec", self.moved(steps[0])])
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """Return the built image: a model that carries its train fingerprint, judged and sealed."""
    made = Image(tmp_path_factory.mktemp("image"))
    model = made.folder / "model" / "model.onnx"
    shutil.copy(DATA / "plain.onnx", model)
    done = made.run(["sh", "-ec", f"cd model\n{blocks('containers.md')[0]}"])
    assert done.returncode == 0, done.stderr
    made.build()
    assert (made.folder / "model" / "seal.json").exists()
    return made


def serve_and_stop(
    image: Image, command: list[str], health: list[str] | None = None
) -> tuple[str, int, list[dict[str, Any]]]:
    """Start a server, ask for its health, end it; return its words, exit code and log."""
    with subprocess.Popen(
        command, cwd=image.folder, env=image.environ, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()
        healthy = image.run(health or image.words("HEALTHCHECK"))
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

    (image.folder / "run" / "envcheck" / "state.json").unlink(missing_ok=True)
    own = {item["name"]: image.moved(item["value"]) for item in first["env"]}
    done = image.run([image.moved(word) for word in first["command"]], **own)
    assert done.returncode == 0, done.stderr
    assert not (image.folder / "run" / "envcheck" / "state.json").exists()
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
    places = {recipe[name]: tmp_path / recipe[name].lstrip("/") for name in ("model", "seal")}
    model, seal = places.values()
    for path in places.values():
        path.parent.mkdir(parents=True, exist_ok=True)
    if server == "tensorflow-serving":
        shutil.copytree(DATA / "exported", model)
    else:
        shutil.copy(DATA / "plain.onnx", model)
    cut = recipe["command"].index("--") + 1
    program, *arguments = recipe["command"][cut:]
    script(tmp_path / program, 'echo "$$ $@"')
    image = Image(tmp_path / "image")
    image.environ = {"PATH": f"{tmp_path}:{image.environ['PATH']}"}
    steps = (
        f"envcheck capture -q | envcheck embed {model} -",
        f"envcheck capture --role deploy --model {model} -o {tmp_path}/deploy.json",
        f"envcheck compare {model} {tmp_path}/deploy.json --seal {seal}",
    )
    for step in steps:
        made = image.run(["sh", "-ec", step])
        assert made.returncode == 0, made.stderr
    done = image.run([str(places.get(word, word)) for word in recipe["command"]])

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stderr.splitlines()[0])["event"] == "sealed"
    assert done.stdout.split()[1:] == [str(places.get(word, word)) for word in arguments]


def test_the_repository_of_triton_holds_models_only() -> None:
    """The seal is no neighbour of the models: Triton takes every folder there for one."""
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load((EXAMPLES / "serving.yaml").read_text())["triton"]
    repository = recipe["command"][-1].partition("=")[2]

    assert recipe["model"].startswith(f"{repository}/")
    assert not recipe["seal"].startswith(f"{repository}/")


def test_the_distroless_stage(tmp_path: Path) -> None:
    """Every instruction without a shell, in the JSON form, and each does its work."""
    for line in stage_of(3).splitlines():
        if line.startswith(("RUN", "CMD", "ENTRYPOINT", "HEALTHCHECK")):
            assert json.loads(line[line.index("[") :])[0] == "/usr/bin/python3"
    image = Image(tmp_path, 3)
    model = tmp_path / "model" / "model.onnx"
    shutil.copy(DATA / "plain.onnx", model)
    steps = ["cd model", blocks("containers.md")[0], *map(shlex.join, [image.words("RUN")])]
    done = image.run(["sh", "-ec", "\n".join(steps)])
    assert done.returncode == 0, done.stderr

    rest, code, log = serve_and_stop(image, image.words("ENTRYPOINT") + image.words("CMD"))
    assert (rest, code) == ("ended\n", 0)
    assert log[-1]["how"] == "rules"


def test_the_four_steps_of_the_page(image: Image, tmp_path: Path) -> None:
    """What stands under the four steps, typed one after the other in one folder, works."""
    first, second, third, fourth = blocks("containers.md")[:4]
    shutil.copy(DATA / "plain.onnx", tmp_path / "model.onnx")
    shutil.copy(EXAMPLES / "serve.py", tmp_path)
    image = Image(tmp_path / "image")
    image.folder = tmp_path
    image.environ["ENVCHECK_STATE"] = str(tmp_path / "state.json")
    for block in (first, second):
        done = image.run(["sh", "-ec", block])
        assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "seal.json").read_text())["stamp"]
    assert image.run(shlex.split(fourth)).returncode == 3, "no self-test has ended yet"

    rest, code, log = serve_and_stop(image, shlex.split(third), shlex.split(fourth))
    assert (rest, code) == ("ended\n", 0)
    assert [item["event"] for item in log] == ["sealed", "verdict"]
