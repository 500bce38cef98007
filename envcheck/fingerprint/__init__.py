"""Fingerprints: the facts of one environment as a value and as a file."""

from envcheck.fingerprint.document import SCHEMA, Fingerprint

__all__ = ["SCHEMA", "Fingerprint"]
