"""What one fit is trained, validated and tested on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from envcheck.localisation.recording.feeding import Feed
    from envcheck.localisation.recording.session import Session

__all__ = ["WatchedData"]


class WatchedData:
    """The data of one fit: described at once for arrays, batch by batch for streams."""

    def __init__(self, session: Session, place: str, kind: str = "batches") -> None:
        self._session = session
        self._place = f"{place}/data"
        self._kind = kind
        self._described: dict[str, Any] | None = None
        self._batches: Any = None
        self._rows: int | None = None
        self._given: dict[str, Any] = {}

    def take(self, feed: Feed, local: Mapping[str, Any], validation: Any) -> None:
        """Describe the arrays of a fit; `local` are the variables of Keras's `fit`."""
        from envcheck.localisation.recording.data import describe_data

        self._kind = feed.kind
        if feed.arrays:
            self._described = describe_data(
                local.get("x"), local.get("y"), local.get("sample_weight"), validation, feed.kind
            )

    def add_given(self, given: Mapping[str, Any]) -> None:
        """Take arrays that the program has named: `x_train`, `y_train`, and `_val`, `_test`."""
        from envcheck.localisation.recording.data import describe_data

        x, y = given.get("x_train"), given.get("y_train")
        for name in ("validation", "test"):
            other = [given.get(f"{axis}_{name[:3] if name == 'validation' else name}")
                     for axis in "xy"]  # fmt: skip
            if x is not None and other[0] is not None:
                self._given[name] = describe_data(x, y, None, tuple(other), "arrays")["validation"]

    def look_at(self, batch: Any) -> None:
        """Add one batch of a stream."""
        import keras

        if self._batches is None:
            from envcheck.localisation.recording.data import BatchData

            self._batches = BatchData()
        x, y, _ = keras.utils.unpack_x_y_sample_weight(batch)
        self._batches.add(x, y)

    def epoch_ended(self, rows: int | None) -> None:
        """Note how many rows a whole epoch of a stream had."""
        if self._rows is None:
            self._rows = rows

    def close(self) -> None:
        """Describe the batches of a stream and let go of them."""
        if self._batches is not None:
            self._described = self._document_of_batches()
            self._batches = None

    def _document_of_batches(self) -> dict[str, Any] | None:
        described = self._session.guard(self._place, self._batches.describe)
        if described is not None:
            described["kind"] = self._kind
            described["rows"] = self._rows
        return described

    def document(self) -> dict[str, Any] | None:
        """Return the member `data` of a fit."""
        found = self._described if self._batches is None else self._document_of_batches()
        if found is None or not self._given:
            return found
        missing = {name: value for name, value in self._given.items() if found.get(name) is None}
        return found | missing
