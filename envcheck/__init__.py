"""Does what you deploy compute what you trained? envcheck finds out.

    import envcheck

    here = envcheck.capture(role="deploy")
    report = envcheck.compare("train.json", here)
    print(report.verdict)

Names are loaded when they are first used, so `import envcheck` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from envcheck.capturing import capture
    from envcheck.conversion.running import parity
    from envcheck.conversion.tracing_models import trace
    from envcheck.embedding.carriers import embed, extract
    from envcheck.errors import (
        ConfigError,
        EnvcheckError,
        InputError,
        MissingExtra,
        NothingChecked,
        OutputError,
        RuleError,
        SchemaError,
        UsageError,
    )
    from envcheck.findings import Finding, Report
    from envcheck.fingerprint import Fingerprint
    from envcheck.goldens.recording import record_golden
    from envcheck.goldens.replaying import replay_golden
    from envcheck.localisation.programs import localise
    from envcheck.pairing import compare
    from envcheck.schemas import schema
    from envcheck.startup.selftest import selftest

__version__ = "0.1.0"

__all__ = [
    "ConfigError",
    "EnvcheckError",
    "Finding",
    "Fingerprint",
    "InputError",
    "MissingExtra",
    "NothingChecked",
    "OutputError",
    "Report",
    "RuleError",
    "SchemaError",
    "UsageError",
    "__version__",
    "capture",
    "compare",
    "embed",
    "extract",
    "localise",
    "parity",
    "record_golden",
    "replay_golden",
    "schema",
    "selftest",
    "trace",
]

_HOMES = {
    "Finding": "findings",
    "Fingerprint": "fingerprint",
    "Report": "findings",
    "capture": "capturing",
    "compare": "pairing",
    "embed": "embedding.carriers",
    "extract": "embedding.carriers",
    "localise": "localisation.programs",
    "parity": "conversion.running",
    "record_golden": "goldens.recording",
    "replay_golden": "goldens.replaying",
    "schema": "schemas",
    "selftest": "startup.selftest",
    "trace": "conversion.tracing_models",
}
"""The module of each public name; those that are not listed are errors."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    home = importlib.import_module(f"{__name__}.{_HOMES.get(name, 'errors')}")
    return globals().setdefault(name, getattr(home, name))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
