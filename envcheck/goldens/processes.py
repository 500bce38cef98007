"""This interpreter once more, for work that is done apart. CPython 3.9, standard library."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from envcheck.errors import NothingChecked

__all__ = ["command_for"]

_FLAGS = {
    "isolated": "-I",
    "ignore_environment": "-E",
    "no_user_site": "-s",
    "no_site": "-S",
    "dont_write_bytecode": "-B",
}
_CODE = (
    "import importlib, json, sys; order = json.loads(sys.argv[1]); sys.path[:] = order.pop('path');"
    " importlib.import_module({module!r}).main(order)"
)


def command_for(module: str, order: dict[str, Any]) -> list[str]:
    """Return the command that calls `main(order)` of a module, found where this process finds it.

    Raises NothingChecked where this process is no interpreter, but a server that has one inside.
    """
    if "py" not in os.path.basename(sys.executable or "").lower():
        raise NothingChecked(
            "this process is no Python interpreter, so nothing can be run beside it",
            place=module,
            hint="use the command line of envcheck",
        )
    flags = [flag for name, flag in _FLAGS.items() if getattr(sys.flags, name)]
    words = json.dumps({"path": sys.path, **order})
    return [sys.executable, *flags, "-c", _CODE.format(module=module), words]
