"""Graphics processors: builds, cards, drivers."""

from __future__ import annotations

from typing import Any

import pytest

from envcheck.comparing.builds import Capability, builds_of, cuda_lines, parse_capability
from envcheck.comparing.cuda import card_compiled, card_served, cudnn_release, driver_floor
from envcheck.facts import unknown
from tests.comparing.making import inventory, made, package

CARDS = ["sm_60", "sm_70", "sm_80", "sm_89", "compute_90"]


def side(
    capability: str | None = "8.0", driver: Any = "550.54.15", serves: Any = "12.4", **build: Any
) -> Any:
    """Return a deploy side with a card and a CUDA build of TensorFlow."""
    record = {"is_cuda_build": True, "cuda_version": "12.5.1", "cudnn_version": "9.3.0",
              "compute_capabilities": CARDS, "version": "2.21.0", **build}  # fmt: skip
    card = {"name": "a card", **({"compute_capability": capability} if capability else {})}
    facts = {"gpu.devices": [card], "gpu.driver": driver, "gpu.cuda_driver_version": serves,
             "framework.tensorflow": record}  # fmt: skip
    return inventory("deploy", made(facts, nvidia_cudnn_cu12="9.3.0.75"))


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("sm_86", ("sm", Capability(8, 6), "")),
        ("compute_90", ("compute", Capability(9, 0), "")),
        ("sm_90a", ("sm", Capability(9, 0), "a")),
        ("sm_120", ("sm", Capability(12, 0), "")),
        ("8.6", None),
    ],
)
def test_capability(text: str, parsed: Any) -> None:
    """The last digit is the minor one, also from 10.0 on."""
    assert parse_capability(text) == parsed


@pytest.mark.parametrize(
    ("card", "served", "compiled"),
    [
        ("8.0", "fits", "fits"),
        ("8.6", "fits", "fits"),
        ("7.5", "fits", "fits"),
        ("5.0", "misfit", "fits"),
        ("10.0", "fits", "misfit"),
        ("9.0", "fits", "misfit"),
        (None, "undetermined", "undetermined"),
    ],
)
def test_cards(card: str | None, served: str, compiled: str) -> None:
    """Binary code runs on later cards of its major capability, PTX on any later card."""
    answers = [question(side(card)) for question in (card_served, card_compiled)]

    assert [check.outcome for check in answers if check] == [served, compiled]


def test_code_for_one_architecture_only_serves_that_one() -> None:
    """sm_90a does not run on a card of 9.1, nor compute_90a on 10.0."""
    check = card_served(side("9.1", compute_capabilities=["sm_90a", "compute_90a"]))

    assert check is not None
    assert check.outcome == "misfit"


@pytest.mark.parametrize(
    ("driver", "serves", "cuda", "outcome"),
    [
        ("525.60.13", "12.0", "12.5", "fits"),
        ("525.60.12", "12.0", "12.5", "fits"),
        ("525.60.12", "11.8", "12.5", "misfit"),
        ("580.65.06", "13.0", "13.0", "fits"),
        ("575.57.08", "12.9", "13.0", "misfit"),
        ("418.39", "10.1", "10.1", "fits"),
        ("418.38", unknown("NVML does not tell"), "10.1", "misfit"),
        (unknown("NVML does not tell"), "12.4", "12.5", "undetermined"),
        ("550.54.15", "12.4", "99.0", "undetermined"),
    ],
)
def test_driver_floor(driver: Any, serves: Any, cuda: str, outcome: str) -> None:
    """The floor is that of the major line; a library that serves the line is enough."""
    check = driver_floor(side("8.0", driver, serves, cuda_version=cuda))

    assert check is not None
    assert check.outcome == outcome


@pytest.mark.parametrize(
    ("built", "outcome"),
    [("9.3.0", "fits"), ("9.4", "misfit"), ("9", "fits"), ("8", "misfit"), ("64_8", "misfit")],
)
def test_cudnn(built: str, outcome: str) -> None:
    """The major release has to be the same, and the minor one not older."""
    check = cudnn_release(side(cudnn_version=built))

    assert check is not None
    assert check.outcome == outcome


def test_lines_of_cuda() -> None:
    """The suffix tells the line, or the version where there is none."""
    found = cuda_lines(
        inventory(
            "deploy",
            made({}, nvidia_cuda_runtime_cu11="11.8.89", nvidia_cuda_runtime="13.0.48"),
        )
    )

    assert found == {11: "nvidia-cuda-runtime-cu11", 13: "nvidia-cuda-runtime"}


def test_builds() -> None:
    """A framework, a provider and a plugin each count as a build for an accelerator."""
    facts = {
        "framework.torch": {"version": "2.4.0+rocm6.1", "hip": "6.1"},
        "framework.onnxruntime": {"providers": ["CPUExecutionProvider", "CUDAExecutionProvider"]},
    }
    packages = {"jax_cuda12_plugin": package("0.4.31"), "tensorflow_metal": package("1.1.0")}
    found = builds_of(inventory("deploy", made(facts, **packages)))

    assert {(one.name, one.vendor) for one in found} == {
        ("PyTorch", "rocm"), ("ONNX Runtime", "cuda"), ("jax-cuda12-plugin", "cuda"),
        ("tensorflow-metal", "metal"),
    }  # fmt: skip
