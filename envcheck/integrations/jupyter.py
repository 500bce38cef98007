"""How fingerprints look in a notebook; reports are shown by `envcheck.reporting.as_html`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envcheck.reporting.escape import shorten
from envcheck.reporting.html_style import FRAGMENT_STYLE
from envcheck.reporting.html_text import shown
from envcheck.reporting.words import counted, value_text

if TYPE_CHECKING:
    from envcheck.facts import Fact
    from envcheck.fingerprint import Fingerprint

__all__ = ["fingerprint_html"]

_MOST_ROWS = 1_000
_HEAD = ("python.implementation", "python.version", "os.system", "cpu.architecture")


def fingerprint_html(fingerprint: Fingerprint) -> str:
    """Return a fingerprint as HTML: what it is of, then its facts by group, folded."""
    groups: dict[str, list[tuple[str, Fact]]] = {}
    for key, fact in sorted(fingerprint.facts.items()):
        groups.setdefault(key.partition(".")[0], []).append((key, fact))
    told = [value_text(fingerprint.fact(key).value) for key in _HEAD if fingerprint.fact(key).is_ok]
    created = str(fingerprint.envelope.get("created") or "")
    about = [fingerprint.role, fingerprint.place, " ".join(told), f"captured {created}"]
    head = ", ".join(shown(part) for part in about if part)
    return (
        f'<style>{FRAGMENT_STYLE}</style><div class="envcheck">'
        f"<p><b>Fingerprint</b> of {counted(len(fingerprint.facts), 'fact')}: {head}<br>"
        f"<code>{fingerprint.digest}</code></p>"
        + "".join(_group(name, facts) for name, facts in groups.items())
        + "</div>"
    )


def _group(name: str, facts: list[tuple[str, Fact]]) -> str:
    rows = "".join(
        f"<tr><td><code>{shown(shorten(key, 200))}</code></td><td>{_value(fact)}</td></tr>"
        for key, fact in facts[:_MOST_ROWS]
    )
    if len(facts) > _MOST_ROWS:
        rows += f"<tr><td colspan=2>and {len(facts) - _MOST_ROWS} more</td></tr>"
    return (
        f"<details><summary>{shown(name)} ({len(facts)})</summary>"
        f'<div class="wide"><table><tbody>{rows}</tbody></table></div></details>'
    )


def _value(fact: Fact) -> str:
    if not fact.is_ok:
        reason = f": {fact.reason}" if fact.reason else ""
        return f'<span class="soft">{shown(shorten(fact.state + reason, 200))}</span>'
    value = fact.value
    if isinstance(value, dict) and "version" in value:
        value = value["version"]
    return f"<code>{shown(value_text(value))}</code>"
