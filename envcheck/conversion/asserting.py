"""A helper for test suites: fail unless a conversion computes the same function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os

    from envcheck.findings import Report

__all__ = ["assert_parity"]


def assert_parity(
    reference: Any, candidate: str | os.PathLike[str] | None = None, **options: Any
) -> Report:
    """Raise AssertionError with the report unless the verdict is match or noise.

    Takes the arguments of `envcheck.parity()` and returns its report:

        from envcheck.conversion import assert_parity

        def test_conversion(model):
            assert_parity(model, "model.onnx", inputs=samples)
    """
    from envcheck.conversion.running import parity
    from envcheck.reporting.registry import render

    report = parity(reference, candidate, **options)
    verdict = (report.parity or {}).get("verdict")
    if verdict not in ("match", "noise"):
        raise AssertionError(f"parity is {verdict}\n{render(report, 'text')}")
    return report
