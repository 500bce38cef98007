"""MLflow: the fingerprint of training beside the model of a run, and its check before serving.

    from envcheck.integrations.mlflow import compare_with_run, log_fingerprint

    with mlflow.start_run():
        train()
        log_fingerprint()

    report = compare_with_run(run_id)

Nothing is patched, and MLflow is imported when one of the functions is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcheck.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from envcheck.findings import Report
    from envcheck.fingerprint import Fingerprint
    from envcheck.loading import Side

__all__ = ["ARTIFACT", "compare_with_run", "log_fingerprint"]

ARTIFACT = "envcheck/train.json"
"""Where a run keeps the fingerprint."""
DIGEST_TAG = "envcheck.digest"
TOOL_TAG = "envcheck.tool"


def log_fingerprint(fingerprint: Fingerprint | None = None, run_id: str | None = None) -> str:
    """Log a fingerprint as artifact of a run, and its digest as tag; return the digest.

    By default this interpreter is captured and the active run is meant. Raises MissingExtra.
    """
    mlflow = _mlflow()
    if fingerprint is None:
        from envcheck.capturing import capture

        fingerprint = capture(role="train")
    chosen = {} if run_id is None else {"run_id": run_id}
    mlflow.log_text(fingerprint.to_text(), ARTIFACT, **chosen)
    tags = {DIGEST_TAG: fingerprint.digest, TOOL_TAG: str(fingerprint.envelope.get("tool", ""))}
    if run_id is None:
        mlflow.set_tags(tags)
    else:
        client = mlflow.MlflowClient()
        for name, value in tags.items():
            client.set_tag(run_id, name, value)
    return fingerprint.digest


def compare_with_run(run_id: str, deploy: Side = "live") -> Report:
    """Return the report on an environment judged by the fingerprint that a run keeps.

    Raises MissingExtra, and InputError for a run without a fingerprint or with a changed one.
    """
    from envcheck.fingerprint.reading import parse_fingerprint
    from envcheck.pairing import compare

    mlflow = _mlflow()
    place = f"runs:/{run_id}/{ARTIFACT}"
    try:
        text = mlflow.artifacts.load_text(place)
    except Exception as problem:
        raise InputError(
            f"cannot be read: {type(problem).__name__}",
            place=place,
            hint="log one while training: envcheck.integrations.mlflow.log_fingerprint()",
        ) from problem
    train = parse_fingerprint(text.encode("utf-8"), place)
    logged = mlflow.get_run(run_id).data.tags.get(DIGEST_TAG)
    if logged is not None and logged != train.digest:
        raise InputError(
            "is not the fingerprint that was logged: its digest differs from the tag of the run",
            place=place,
        )
    return compare(train, deploy)


def _mlflow() -> Any:
    try:
        import mlflow
    except ImportError as problem:
        raise MissingExtra("mlflow", "mlflow", "logging to a run") from problem
    return mlflow
