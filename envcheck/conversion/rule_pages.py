"""What each conversion rule means, for `envcheck explain`."""

from __future__ import annotations

from envcheck.conversion.rules import RULES

__all__ = ["page", "pages"]

_PAGES: dict[str, tuple[str, str, str]] = {
    "CNV001": (
        "The converter gave no file.",
        "There is nothing to deploy.",
        "Replace the layer that is named, or raise the limit that ended the converter.",
    ),
    "CNV002": (
        "The runtime refuses to load the converted file.",
        "The converter can return normally and write operators that no runtime knows.",
        "Replace the operation by ones that the converter supports; known ways are named.",
    ),
    "CNV003": (
        "The converted file loads and fails when it runs.",
        "The first request fails, often only for some batch sizes.",
        "Look at the layer named: often a shape fixed at export.",
    ),
    "CNV004": (
        "The candidate takes other inputs, or gives other outputs, than the reference.",
        "It cannot be called in the reference's place; often it belongs to another model.",
        "Convert the reference again; captured constants are folded through a SavedModel.",
    ),
    "CNV005": (
        "The converter complained and wrote a file all the same.",
        "What it could not convert may be missing from the file.",
        "Read the line, and look at the layer in the table of calls.",
    ),
    "CNV010": (
        "A layer computes something else in the candidate, given the reference's own inputs.",
        "Replacing its value healed what follows, so the layers behind it are innocent.",
        "Do what the evidence says: weights, attribute, activation, layout.",
    ),
    "CNV011": (
        "A layer computes something else, and the outputs agree on these inputs all the same.",
        "Pooling, clipping or saturation hid the difference; on other inputs it can show.",
        "Do what the evidence says, and compare on more samples.",
    ),
    "CNV012": (
        "All weighted layers are off by what rounding to a narrower type makes.",
        "No layer is at fault by itself, and the model as a whole is less precise.",
        "Convert without lowering the precision, or measure the task's own metric.",
    ),
    "CNV013": (
        "The outputs differ by more than 10 times the reference's own rounding.",
        "Nothing stands out; thresholds that sit closer than that may flip.",
        "Usually nothing.",
    ),
    "CNV014": (
        "Fed other values (channel order, scale, axes), the candidate agrees with the reference.",
        "The layers are innocent; the two expect different preprocessing.",
        "Put the preprocessing on one side, and the same on both.",
    ),
    "CNV015": (
        "The outputs differ and no layer can be named.",
        "One of the sides shows no layers.",
        "Compare the Keras model with an ONNX file.",
    ),
    "CNV016": (
        "On another number of samples the candidate's outputs differ from the reference's.",
        "A size fixed at export or an operation that mixes samples shows at some batch sizes only.",
        "Convert with an unknown batch size; look for a Reshape or Tile that holds a number.",
    ),
    "CNV017": (
        "The file computes the same function, and the runtime's own optimisations change it.",
        "Deployed with its default settings, the runtime rewrites the graph before it runs.",
        "Deploy at the level that is named, or without the optimiser that is named.",
    ),
    "CNV020": (
        "The outputs agree and many layers have no counterpart in the candidate.",
        "A comparison that sees little proves little.",
        "Compare on samples of your own.",
    ),
    "CNV030": (
        "A side gives other outputs for the same inputs.",
        "No difference between the sides means anything then.",
        "Remove the randomness at inference, or fix its seed.",
    ),
}


def pages() -> list[str]:
    """Return the ids of the rules that have a page."""
    return sorted(_PAGES)


def page(rule: str) -> str:
    """Return the page of a rule as text. Raises KeyError."""
    what, why, fix = _PAGES[rule]
    fault, severity = RULES[rule]
    return f"{rule} {fault} ({severity}, conversion)\n\n{what}\n\nwhy  {why}\nfix  {fix}\n"
