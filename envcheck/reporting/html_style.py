"""The look of the HTML report: one style sheet, light and dark, from phone to desk."""

from __future__ import annotations

__all__ = ["FRAGMENT_STYLE", "PAGE_STYLE"]

_COLORS = """
--bg:#fff;--fg:#1c2128;--soft:#57606a;--line:#d0d7de;--card:#f6f8fa;--code:#eaeef2;
--link:#0550ae;--error:#b42318;--warning:#8a4b00;--info:#1f5fa8;--good:#1a6b33;
"""
_DARK = """
--bg:#0d1117;--fg:#e6edf3;--soft:#9da7b3;--line:#30363d;--card:#161b22;--code:#21262d;
--link:#7ab7ff;--error:#ff8b82;--warning:#f0b354;--info:#7ab7ff;--good:#6fdd8b;
"""
_PARTS = """
.envcheck{color-scheme:light dark;color:var(--fg);background:var(--bg);
font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
.envcheck h1,.envcheck h2,.envcheck h3{line-height:1.25;margin:1.6em 0 .5em}
.envcheck h1{font-size:1.5rem;margin:0}.envcheck h2{font-size:1.15rem}
.envcheck h3{font-size:1rem;margin:1.1em 0 .3em}.envcheck p{margin:.4em 0}
.envcheck a{color:var(--link)}
.envcheck .verdict{border-left:.5rem solid var(--tone);background:var(--card);padding:1rem;
border-radius:.4rem}
.envcheck .verdict h1{color:var(--tone)}
.envcheck .error{--tone:var(--error)}.envcheck .warning{--tone:var(--warning)}
.envcheck .info{--tone:var(--info)}.envcheck .good{--tone:var(--good)}
.envcheck .badge{color:var(--tone);border:1px solid var(--tone);border-radius:1rem;
padding:0 .5rem;font-size:.8rem;font-weight:600;white-space:nowrap}
.envcheck .counts{display:flex;flex-wrap:wrap;gap:.4rem 1rem;margin:.6rem 0 0;padding:0;
list-style:none;color:var(--soft)}
.envcheck .counts b{color:var(--fg)}
.envcheck details{border:1px solid var(--line);border-radius:.4rem;margin:.6rem 0;
padding:0 .8rem}
.envcheck details[open]{padding-bottom:.8rem}
.envcheck details details{background:var(--card)}
.envcheck summary{cursor:pointer;padding:.6rem 0;font-weight:600}
.envcheck :target{outline:2px solid var(--link);outline-offset:2px}
.envcheck code,.envcheck pre{background:var(--code);border-radius:.25rem;
font:.875em/1.5 ui-monospace,monospace}
.envcheck code{padding:.1em .3em}
.envcheck pre{padding:.6rem;overflow-x:auto;white-space:pre-wrap;margin:.4em 0}
.envcheck .wide{overflow-x:auto}.envcheck header .wide{margin-top:.6rem}
.envcheck table{border-collapse:collapse;width:100%;font-size:.9rem}
.envcheck th,.envcheck td{text-align:left;vertical-align:top;padding:.3rem .5rem;
border-bottom:1px solid var(--line);min-width:4.5rem}
.envcheck th{color:var(--soft);font-weight:600;white-space:nowrap;width:1%}
.envcheck thead th{width:auto}
.envcheck .soft{color:var(--soft);font-size:.9rem}
.envcheck ul.tree,.envcheck ul.tree ul{list-style:none;margin:0;padding-left:.9rem;
border-left:2px solid var(--line)}
.envcheck ul.tree li{margin:.25rem 0}
.envcheck .calls td,.envcheck .calls th{white-space:nowrap;min-width:0}
.envcheck .marked td{color:var(--error);font-weight:600}
.envcheck .plots{display:flex;flex-wrap:wrap;gap:.5rem 1.5rem}
.envcheck .plot{margin:.8rem 0;max-width:38rem}
.envcheck .plot.small{width:20rem;max-width:100%;margin:.4rem 0}
.envcheck svg{display:block;width:100%;height:auto}
.envcheck svg text{fill:var(--soft);font:11px system-ui,sans-serif}
.envcheck svg line,.envcheck svg path{fill:none;stroke-width:1.8}
.envcheck svg .grid{stroke:var(--line);stroke-width:1}
.envcheck svg path.natural{stroke:var(--link)}
.envcheck svg circle.natural{fill:var(--link)}
.envcheck svg .local{stroke:var(--warning);fill:none;stroke-width:1.6}
.envcheck svg .noise{stroke:var(--soft);stroke-dasharray:4 3}
.envcheck svg .culprit{stroke:var(--error);stroke-dasharray:1 3}
.envcheck .key{white-space:nowrap;margin-right:.9rem}
.envcheck .key::before{content:"";display:inline-block;width:1.3rem;height:0;
margin-right:.35rem;vertical-align:.25em;border-top:.15rem solid var(--link)}
.envcheck .key.local::before{width:.5rem;height:.5rem;vertical-align:-.05em;
border:.12rem solid var(--warning);border-radius:50%}
.envcheck .key.noise::before{border-top:.15rem dashed var(--soft)}
.envcheck .key.culprit::before{border-top:.15rem dotted var(--error)}
"""

FRAGMENT_STYLE = (
    f".envcheck{{{_COLORS}}}@media(prefers-color-scheme:dark){{.envcheck{{{_DARK}}}}}{_PARTS}"
)
"""For a report inside another page: everything is scoped to the class `envcheck`."""
PAGE_STYLE = (
    FRAGMENT_STYLE
    + """
:root{color-scheme:light dark}
body{margin:0}
main{max-width:60rem;margin:0 auto;padding:1rem;min-height:100vh;box-sizing:border-box}
@media(prefers-color-scheme:dark){body{background:#0d1117}}
@media print{.envcheck details{break-inside:avoid}}
"""
)
