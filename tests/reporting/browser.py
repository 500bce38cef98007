"""A headless Chromium, spoken to over the WebDriver protocol with the standard library."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any, Self
from urllib.request import Request, urlopen

import pytest

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Browser", "needs_browser"]

_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def needs_browser() -> tuple[str, str]:
    """Return Chromium and its driver, or skip; CI must have them."""
    found = shutil.which("chromium"), shutil.which("chromedriver")
    if found[0] and found[1]:
        return found[0], found[1]
    if os.environ.get("CI"):
        pytest.fail("CI must have chromium and chromedriver")
    pytest.skip("no chromium and chromedriver on PATH")


class Browser:
    """One browser window."""

    def __init__(self, *, width: int = 1100, dark: bool = False) -> None:
        self._chromium, driver = needs_browser()
        self._driver = subprocess.Popen(
            [driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._base = ""
        self._options = {
            "binary": self._chromium,
            "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                f"--window-size={width},900", *(["--force-dark-mode"] if dark else []),
            ],
        }  # fmt: skip

    def __enter__(self) -> Self:
        assert self._driver.stdout
        for line in self._driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                self._base = f"http://127.0.0.1:{found[1]}"
                break
        wanted = {"goog:chromeOptions": self._options,
                  "goog:loggingPrefs": {"browser": "ALL"}}  # fmt: skip
        made = self._ask("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._base += f"/session/{made['sessionId']}"
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None,
                 trace: TracebackType | None) -> None:  # fmt: skip
        """Close the window and end the driver."""
        try:
            self._ask("DELETE", "")
        finally:
            self._driver.terminate()
            self._driver.communicate(timeout=30)

    def _ask(self, method: str, path: str, data: Any = None) -> Any:
        body = json.dumps({} if data is None else data).encode() if method == "POST" else None
        request = Request(self._base + path, body, {"Content-Type": "application/json"},
                          method=method)  # fmt: skip
        with urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def open(self, address: str) -> None:
        """Load a page."""
        self._ask("POST", "/url", {"url": address})

    def click(self, selector: str) -> None:
        """Click an element, which has to be visible."""
        found = self._ask("POST", "/element", {"using": "css selector", "value": selector})
        self._ask("POST", f"/element/{found[_ELEMENT]}/click")

    def text(self, selector: str) -> str:
        """Return the text of an element as it is rendered; nothing while it is hidden."""
        found = self._ask("POST", "/element", {"using": "css selector", "value": selector})
        return str(self._ask("GET", f"/element/{found[_ELEMENT]}/text"))

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression."""
        return self._ask("POST", "/execute/sync", {"script": f"return {expression}", "args": []})

    def complaints(self) -> list[str]:
        """Return what the console shows since the last time."""
        return [str(entry["message"]) for entry in self._ask("POST", "/se/log",
                                                             {"type": "browser"})]  # fmt: skip
