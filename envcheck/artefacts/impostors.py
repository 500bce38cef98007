"""Files that stand where a model should be: pointers of large-file stores, error pages."""

from __future__ import annotations

import re

from envcheck.artefacts.reading import Source, Unreadable

__all__ = ["check_link", "check_stand_in"]

_LFS = (b"version https://git-lfs.github.com/spec/", b"version https://hawser.github.com/spec/")
_LFS_SIZE = re.compile(rb"^size (\d{1,18})$", re.MULTILINE)
_ANNEX = (b"/annex/objects/", b"../.git/annex/objects/", b".git/annex/objects/")
_PAGE = re.compile(
    rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_ERROR = re.compile(rb"\s*(?:<\?xml[^>]*>\s*)?<(?:Error|ErrorResponse)[\s>]", re.DOTALL)


def check_stand_in(source: Source) -> None:
    """Raise Unreadable where the file is none of a model's bytes but stands in for them."""
    if source.size == 0:
        raise Unreadable("is empty")
    head = source.peek(0, 1024)
    if head.startswith(_LFS):
        size = _LFS_SIZE.search(head)
        told = f" of {size.group(1).decode()} bytes" if size else ""
        raise Unreadable(f"is a Git LFS pointer to a file{told}, not the file: run git lfs pull")
    if head.startswith(_ANNEX):
        raise Unreadable("is a git-annex pointer, not the file: run git annex get")
    text = head.removeprefix(b"\xef\xbb\xbf")
    if _PAGE.match(text):
        raise Unreadable("is an HTML page, not a model: the download gave an error or login page")
    if _ERROR.match(text):
        raise Unreadable("is an XML error message, not a model: the download failed")


def check_link(target: str) -> None:
    """Raise Unreadable where a link that leads nowhere is one of git-annex."""
    if ".git/annex/objects" in target.replace("\\", "/"):
        raise Unreadable("is a git-annex link whose content is not here: run git annex get")
