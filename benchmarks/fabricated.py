"""Site-packages folders with the metadata of hundreds of distributions, and no code.

Shapes follow real environments: a long description under the header, about 40 hashed lines in
RECORD, and one distribution in a hundred with 3,000. Half of the first hundred names are real
ones, so that rules about known packages have something to do.
"""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

KNOWN = (
    "absl-py", "aiohttp", "anyio", "astunparse", "attrs", "boto3", "certifi", "cffi",
    "charset-normalizer", "click", "cryptography", "fastapi", "filelock", "flatbuffers", "fsspec",
    "gast", "google-auth", "grpcio", "h5py", "httpx", "huggingface-hub", "idna", "jinja2",
    "joblib", "keras", "kiwisolver", "lightgbm", "markdown", "markupsafe", "matplotlib",
    "ml-dtypes", "networkx", "numpy", "nvidia-cudnn-cu12", "onnx", "onnxruntime", "opt-einsum",
    "pandas", "pillow", "protobuf", "psycopg2-binary", "pyarrow", "pyyaml", "requests", "rich",
    "safetensors", "scikit-learn", "scipy", "sympy", "tensorboard", "tensorflow", "tokenizers",
    "tqdm", "transformers", "typing-extensions", "urllib3", "werkzeug", "wrapt", "xgboost",
    "zipp",
)  # fmt: skip
LINES = 40
LINES_OF_A_BIG_ONE = 3000
PARAGRAPH = "This paragraph stands for the long description that most distributions carry. " * 8


@dataclass(frozen=True)
class Distribution:
    """One distribution: enough to write its metadata folder."""

    name: str
    version: str
    number: int

    @property
    def module(self) -> str:
        """The one import name."""
        return self.name.replace("-", "_")

    @property
    def is_big(self) -> bool:
        """Whether this is the one in a hundred with thousands of files."""
        return self.number % 100 == 7


def distributions(size: int, *, changed: int = 0) -> list[Distribution]:
    """Return `size` distributions; of `changed` ones a sixth is replaced, the rest differ."""
    step = max(1, size // changed) if changed else size + 1
    out = []
    for number in range(size):
        name = _name(number)
        version = f"{1 + number % 4}.{number % 17}.{number % 7}"
        turn, rest = divmod(number, step)
        if rest == 0 and turn < changed:
            if turn % 6 == 5:
                name += "-next"
            else:
                version = f"{1 + number % 4}.{number % 17 + turn % 3}.{number % 7 + 1}"
        out.append(Distribution(name, version, number))
    return out


def install(site_packages: Path, wanted: list[Distribution]) -> None:
    """Write the metadata folders."""
    for distribution in wanted:
        folder = site_packages / f"{distribution.module}-{distribution.version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(metadata(distribution), "utf-8")
        (folder / "RECORD").write_text("\n".join(record(distribution)) + "\n", "utf-8")
        (folder / "WHEEL").write_text(wheel(distribution), "utf-8")
        (folder / "INSTALLER").write_text("pip\n", "utf-8")
        (folder / "top_level.txt").write_text(f"{distribution.module}\n", "utf-8")


def metadata(distribution: Distribution) -> str:
    """Return the text of METADATA."""
    number = distribution.number
    header = [
        "Metadata-Version: 2.1",
        f"Name: {distribution.name}",
        f"Version: {distribution.version}",
        f"Summary: Distribution number {number} of a made-up environment",
        "Author: The authors",
        "License: BSD-3-Clause",
        *(f"Project-URL: Link {link}, urn:example:{number}:{link}" for link in range(4)),
        *(f"Classifier: Programming Language :: Python :: 3.{minor}" for minor in range(8, 14)),
        "Requires-Python: >=3.8",
        "Description-Content-Type: text/markdown",
        "License-File: LICENSE",
        *(f"Requires-Dist: {line}" for line in dict.fromkeys(_requirements(number))),
        *(f"Provides-Extra: {extra}" for extra in ("dev", "docs", "test")[: number % 4]),
    ]
    paragraphs = 4 + number * 7 % 60
    return (
        "\n".join(header) + "\n\n" + f"# {distribution.name}\n\n" + f"{PARAGRAPH}\n\n" * paragraphs
    )


def record(distribution: Distribution) -> list[str]:
    """Return the lines of RECORD, sorted, as pip writes them."""
    info = f"{distribution.module}-{distribution.version}.dist-info"
    names = ("INSTALLER", "METADATA", "WHEEL", "top_level.txt")
    out = [f"{info}/{name},{_digest(info + name)},{len(info) * 31}" for name in names]
    out.append(f"{info}/RECORD,,")
    for line in range(LINES_OF_A_BIG_ONE if distribution.is_big else LINES):
        folder = f"{distribution.module}/part_{line % 9}"
        path = f"{folder}/module_{line:04}.py"
        out.append(f"{path},{_digest(path + distribution.version)},{line * 97 + 12}")
        if line % 2:
            out.append(f"{folder}/__pycache__/module_{line:04}.cpython-311.pyc,,")
    return sorted(out)


def wheel(distribution: Distribution) -> str:
    """Return the text of WHEEL; one in four is a compiled one."""
    compiled = distribution.number % 4 == 0
    tag = "cp311-cp311-manylinux_2_17_x86_64" if compiled else "py3-none-any"
    pure = str(not compiled).lower()
    return f"Wheel-Version: 1.0\nGenerator: made-up 1.0\nRoot-Is-Purelib: {pure}\nTag: {tag}\n"


def _name(number: int) -> str:
    if number < 2 * len(KNOWN) and number % 2 == 0:
        return KNOWN[number // 2]
    return f"made-up-{number:03}"


def _requirements(number: int) -> Iterator[str]:
    """Yield requirements that hold: on lower numbers, with and without markers and extras."""
    for turn in range(number % 6):
        other = _name(number * (turn + 3) % (number + 1) // 2)
        yield f"{other}>=0.1"
    for turn in range(number % 5):
        yield f'made-up-tool-{turn}>=2; extra == "dev"'
    if number % 3 == 0:
        yield 'tomli>=1.1; python_version < "3.11"'


def _digest(text: str) -> str:
    raw = hashlib.sha256(text.encode()).digest()
    return "sha256=" + urlsafe_b64encode(raw).decode().rstrip("=")
