"""Files made to harm whoever reads them, each with what must be said about it."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass

MEBIBYTE = 1 << 20


@dataclass(frozen=True)
class Attack:
    """A hostile file: its name, its bytes, and a part of the reason that must be given."""

    name: str
    make: Callable[[], bytes]
    reason: str


def varint(value: int) -> bytes:
    """Return a protobuf varint."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(number: int, content: bytes | int) -> bytes:
    """Return a protobuf field: a varint or a length-delimited one."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def onnx(graph: bytes, *, opset: int = 17) -> bytes:
    """Return an ONNX model around the bytes of a graph."""
    return field(1, 8) + field(7, graph) + field(8, field(2, opset))


def initialiser(location: str, *, length: int = 4) -> bytes:
    """Return a graph with one initialiser in a file outside the model."""
    entries = {"location": location, "length": str(length)}
    tensor = b"".join(
        field(13, field(1, key.encode()) + field(2, value.encode()))
        for key, value in entries.items()
    )
    return field(5, field(2, 1) + field(8, b"w") + tensor + field(14, 1))


def archive(
    entries: dict[str, bytes], method: int = zipfile.ZIP_STORED, *, complete: bool = True
) -> bytes:
    """Return a zip archive; `complete` adds what makes it a Keras model."""
    buffer = io.BytesIO()
    keras = {"config.json": b'{"class_name": "Sequential", "config": {"layers": []}}',
             "metadata.json": b'{"keras_version": "3.0.0"}'}  # fmt: skip
    with zipfile.ZipFile(buffer, "w", method) as file:
        for name, data in {**(keras if complete else {}), **entries}.items():
            file.writestr(name, data)
    return buffer.getvalue()


def _two_entries() -> bytes:
    return archive({"config.jsox": b"{}"}).replace(b"config.jsox", b"config.json")


def _many_entries() -> bytes:
    return b"PK\x03\x04" + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 65535, 65535, 9, 0, 0)


def _directory_of_4_gigabytes() -> bytes:
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 1, 1, 0xFFFFFFFE, 0, 0)
    return b"PK\x03\x04" + end


def _nested_messages() -> bytes:
    graph = b""
    for _ in range(3000):
        graph = field(1, field(5, field(6, graph)))
    return onnx(graph)


def _shape(count: int) -> bytes:
    shape = b"".join(field(1, field(1, (1 << 63) - 1)) for _ in range(count))
    return onnx(field(11, field(1, b"x") + field(2, field(1, field(1, 1) + field(2, shape)))))


def _safetensors(header: bytes, data: bytes = b"") -> bytes:
    return struct.pack("<Q", len(header)) + header + data


def _lzma_dictionary() -> bytes:
    return b"]\0\0" + struct.pack("<I", 0xFFFFFF00)[1:] + b"\xff" * 8 + b"\0" * 64


def _encrypted() -> bytes:
    data = bytearray(archive({}))
    for marker, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = 0
        while (start := data.find(marker, start)) >= 0:
            data[start + at] |= 1
            start += 4
    return bytes(data)


ZEROS = 100 * MEBIBYTE


def _long_pickle() -> bytes:
    return pickle.dumps(bytes(ZEROS), 4)


def _hdf5_loop() -> bytes:
    """Return a file whose object header continues in itself."""
    superblock = b"\x89HDF\r\n\x1a\n" + bytes([0, 0, 0, 0, 0, 8, 8, 0]) + bytes(8)
    superblock += struct.pack("<QQQQ", 0, 0, 0, 0) + struct.pack("<QQQQQ", 0, 96, 0, 0, 0)
    header = struct.pack("<BBHIII", 1, 0, 1, 1, 24, 0)
    return superblock + header + struct.pack("<HHBBBBQQ", 0x10, 16, 0, 0, 0, 0, 112, 24)


ATTACKS = (
    Attack("bomb.keras", lambda: archive({"a": bytes(ZEROS)}, zipfile.ZIP_DEFLATED), "bomb"),
    Attack("twice.keras", _two_entries, "two entries of one name"),
    Attack("many.keras", _many_entries, "65535 entries"),
    Attack("directory.keras", _directory_of_4_gigabytes, "directory of 4294967294 bytes"),
    Attack("packed.keras", lambda: archive({}, zipfile.ZIP_LZMA), "compression 14"),
    Attack("encrypted.keras", _encrypted, "encrypted"),
    Attack("deep.keras", lambda: archive({"config.json": b"[" * 200_000}), "config.json"),
    Attack("digits.keras", lambda: archive({"config.json": b"1" * MEBIBYTE}), "config.json"),
    Attack("large.keras", lambda: archive({"config.json": bytes(9 * MEBIBYTE)}), "larger than"),
    Attack("list.keras", lambda: archive({"config.json": b"[]"}), "no JSON object"),
    Attack("varint.onnx", lambda: b"\x08" + b"\xff" * 11, "more than 64 bits"),
    Attack("long_varint.onnx", lambda: b"\x08" + b"\xff" * 9 + b"\x7f", "more than 64 bits"),
    Attack("negative.onnx", lambda: b"\x3a" + varint((1 << 64) - 1), "are left"),
    Attack("length.onnx", lambda: b"\x3a" + varint(4 << 30) + b"x", "needs 4294967296 bytes"),
    Attack("group.onnx", lambda: b"\x0b\x0c", "deprecated group"),
    Attack("deep.onnx", _nested_messages, "nested more than 64"),
    Attack("shape.onnx", lambda: _shape(65), "more than 64 dimensions"),
    Attack("fields.onnx", lambda: onnx(b"\x50\x00" * 1_100_000), "more than 1000000 fields"),
    Attack("graphless.onnx", lambda: field(1, 8), "no graph"),
    Attack("text.pkl", lambda: b"\x80\x05\x8d" + struct.pack("<Q", 1 << 62), "cut off"),
    Attack("bytes.pkl", lambda: b"\x80\x05\x8e" + struct.pack("<Q", 4 << 30) + b"x", "cut off"),
    Attack("string.pkl", lambda: b"\x80\x02T\xff\xff\xff\xff", "cut off"),
    Attack("opcode.pkl", lambda: b"\x80\x04\xff.", "no pickle opcode"),
    Attack("protocol.pkl", lambda: b"\x80\x63N.", "protocol 99"),
    Attack("underflow.pkl", lambda: b"\x80\x04R.", "no value"),
    Attack("mark.pkl", lambda: b"\x80\x04t.", "no mark"),
    Attack("memo.pkl", lambda: b"\x80\x04" + b"".join(b"Nr" + struct.pack("<I", i * 2 + 1) + b"0"
                                                   for i in range(100_001)) + b".", "numbers"),
    Attack("zlib.joblib", lambda: zlib.compress(bytes(ZEROS)), "no pickle opcode"),
    Attack("gzip.joblib", lambda: gzip.compress(_long_pickle()), "bomb"),
    Attack("bz2.joblib", lambda: bz2.compress(_long_pickle()), "bomb"),
    Attack("xz.joblib", lambda: lzma.compress(_long_pickle(), preset=0), "bomb"),
    Attack("dictionary.joblib", _lzma_dictionary, "cannot be decompressed"),
    Attack("header.safetensors", lambda: struct.pack("<Q", 1 << 63) + b"{", "more than any"),
    Attack("announced.safetensors", lambda: struct.pack("<Q", 15 << 20) + b"{", "truncated"),
    Attack("deep.safetensors", lambda: _safetensors(b"[" * MEBIBYTE), "not JSON"),
    Attack("offsets.safetensors", lambda: _safetensors(json.dumps(
        {"a": {"dtype": "F32", "shape": [1 << 60], "data_offsets": [0, 1 << 62]}}).encode()),
        "truncated"),
    Attack("reverse.safetensors", lambda: _safetensors(json.dumps(
        {"a": {"dtype": "F32", "shape": [1], "data_offsets": [8, 4]}}).encode()), "nothing usable"),
    Attack("hidden.safetensors", lambda: _safetensors(b"{}", b"cargo"), "belong to no tensor"),
    Attack("root.tflite", lambda: b"\xff\xff\xff\xffTFL3", "truncated"),
    Attack("loop.tflite", lambda: struct.pack("<I", 8) + b"TFL3" + bytes(64), "TFLite"),
    Attack("magic.h5", lambda: b"\x89HDF\r\n\x1a\n", "truncated"),
    Attack("version.h5", lambda: b"\x89HDF\r\n\x1a\n\x09" + bytes(90), "superblock version 9"),
    Attack("loop.h5", _hdf5_loop, "object header has no end"),
)  # fmt: skip
