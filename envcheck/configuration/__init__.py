"""The configuration file: finding it, reading it, and telling every mistake with its line.

`load_configuration` gives a `Configuration`: options with the source of each, and the policy.
Nothing outside the standard library is loaded where there is no file.
"""

from __future__ import annotations

from envcheck.configuration.loading import Configuration, load_configuration
from envcheck.configuration.options import OPTIONS, Setting

__all__ = ["OPTIONS", "Configuration", "Setting", "load_configuration"]
