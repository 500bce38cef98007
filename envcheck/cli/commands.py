"""The commands by name. The overview comes from this table, without loading any of them."""

from __future__ import annotations

from envcheck.records import record

__all__ = ["ALIASES", "COMMANDS", "Command", "overview"]


@record
class Command:
    """One command: its module, one line about it, and the oldest Python that runs it."""

    module: str
    summary: str
    needs: tuple[int, int] = (3, 11)


COMMANDS: dict[str, Command] = {
    "capture": Command("envcheck.cli.capture", "write the fingerprint of an environment", (3, 9)),
    "compare": Command("envcheck.cli.compare", "judge a deploy environment by the train one"),
    "selftest": Command("envcheck.cli.selftest", "check a container when it starts", (3, 9)),
    "exec": Command("envcheck.cli.exec_", "self-test, then become the application", (3, 9)),
    "health": Command("envcheck.cli.health", "say what the last self-test came to", (3, 9)),
    "golden": Command("envcheck.cli.golden", "record what a model computes, and replay it"),
    "explain": Command("envcheck.cli.explain", "say what a rule means and how to fix it"),
    "embed": Command("envcheck.cli.embed", "put a fingerprint into a model", (3, 9)),
    "extract": Command("envcheck.cli.extract", "print the fingerprint a model carries", (3, 9)),
    "parity": Command("envcheck.cli.parity", "compare a model with its conversion, by layer"),
    "trace": Command("envcheck.cli.trace", "write all layer outputs of a model"),
    "localise": Command("envcheck.cli.localise", "run a training script and name its faults"),
    "rules": Command("envcheck.cli.rules", "list the rules, check and test your own"),
    "kg": Command("envcheck.cli.kg", "export, query and explain the knowledge graph"),
    "schema": Command("envcheck.cli.schema", "print the JSON Schema of a file format"),
}

ALIASES = {"localize": "localise"}
"""Other spellings of commands."""

_OVERVIEW = """\
usage: envcheck {{{names}}} ...

Does what you deploy compute what you trained?

commands:
{commands}

options:
  -h, --help            show this text; `envcheck COMMAND --help` teaches a command
  --version             show the version

the usual way:
  envcheck capture --role train -o train.json      on the machine that trains
  envcheck capture --role deploy -o deploy.json    on the machine that serves
  envcheck compare train.json deploy.json          anywhere

exit codes:
  0 conforms   1 does not conform   2 usage or input error
  3 nothing could be checked        4 envcheck itself failed
"""


def overview() -> str:
    """Return the help of `envcheck` itself."""
    lines = (f"  {name:<20}  {command.summary}" for name, command in COMMANDS.items())
    return _OVERVIEW.format(names=",".join(COMMANDS), commands="\n".join(lines))
