"""Evidence paths as text, Mermaid and SVG."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from envcheck.errors import UsageError
from envcheck.knowledge.drawing import to_mermaid, to_svg, to_text
from envcheck.knowledge.evidence import Node, Path, evidence_path
from tests.knowledge.conftest import HOSTILE, Compared

SVG = "{http://www.w3.org/2000/svg}"


def test_path_ends_at_what_the_probes_saw(older_reader: Compared) -> None:
    """The leaves below the finding name both versions with side and key."""
    path = evidence_path(older_reader.graph, older_reader.judgement, "ENV031")

    seen = {node.text for node in path.nodes if node.kind == "seen"}
    assert seen == {
        "train: package.scikit-learn = 1.5.2",
        "deploy: package.scikit-learn = 1.3.2",
    }
    assert path.nodes[0].text.startswith("error: scikit-learn 1.3.2 reads models that 1.5.2")


def test_a_finding_is_named_by_rank_or_by_rule_and_subject(older_reader: Compared) -> None:
    """Rank 1, the rule alone and the rule with its subject name the same finding."""
    paths = [
        evidence_path(older_reader.graph, older_reader.judgement, wanted)
        for wanted in ("1", "ENV031", "ENV031 package.scikit-learn")
    ]

    assert paths[0] == paths[1] == paths[2]


@pytest.mark.parametrize("wanted", ["ENV020", "99", "ENV031 package.numpy", ""])
def test_unknown_finding_is_a_usage_error(older_reader: Compared, wanted: str) -> None:
    """The message lists what there is."""
    with pytest.raises(UsageError) as caught:
        evidence_path(older_reader.graph, older_reader.judgement, wanted)

    assert "ENV031" in caught.value.hint


def test_text_is_a_tree_from_finding_to_reading(older_reader: Compared) -> None:
    """Each level is indented by two; the finding is first, readings are deepest."""
    lines = to_text(
        evidence_path(older_reader.graph, older_reader.judgement, "ENV031")
    ).splitlines()

    assert not lines[0].startswith(" ")
    assert lines[1] == "  by rule ENV031"
    assert any(re.fullmatch(r" {6}seen train: package\.scikit-learn = 1\.5\.2", x) for x in lines)


def hostile_path() -> Path:
    """Return a path whose texts try to break out."""
    return Path((Node("n0", "finding", HOSTILE), Node("n1", "seen", HOSTILE)), (("n0", "n1"),))


def test_mermaid_keeps_hostile_text_inside_its_label() -> None:
    """Nothing but the quotes around each label is left of what Mermaid or HTML would read."""
    text = to_mermaid(hostile_path())

    labels = re.findall(r'"([^"\n]*)"', text)
    assert len(labels) == 2
    assert all(not set(label) & set("<>`|[]{}\x1b\u202e&") for label in labels)
    assert text.count("\n") == 4


def test_svg_is_well_formed_and_draws_every_box_and_arrow(older_reader: Compared) -> None:
    """An XML parser finds one rectangle a node and one path an edge, all inside the picture."""
    path = evidence_path(older_reader.graph, older_reader.judgement, "ENV031")
    picture = ET.fromstring(to_svg(path))
    width, height = (int(picture.attrib[name]) for name in ("width", "height"))

    boxes = picture.findall(f"{SVG}rect")
    assert len(boxes) == len(path.nodes)
    assert len(picture.findall(f"{SVG}path")) == len(path.edges)
    for box in boxes:
        assert int(box.attrib["x"]) + int(box.attrib["width"]) <= width
        assert int(box.attrib["y"]) + int(box.attrib["height"]) <= height


def test_svg_escapes_hostile_text() -> None:
    """Markup in a fact is text in the picture: no element of its own, no control character."""
    text = to_svg(hostile_path())
    picture = ET.fromstring(text)

    assert {element.tag for element in picture.iter()} == {
        f"{SVG}{name}"
        for name in ("svg", "title", "defs", "marker", "path", "rect", "text", "tspan")
    }
    assert "\x1b" not in text
    assert "\u202e" not in text
