"""Writes an ONNX file by hand: the mean of the input, squeezed between 0 and 1. Enough to be a network that gives hints."""

from collections.abc import Iterable
from pathlib import Path

_FLOAT = 1


def write_network(path: Path, *, name: str = "input_features", operator: str = "Sigmoid") -> Path:
    """Write a network with one input of (1, 80, 800) numbers.

    Args:
        path: Where to.
        name: Of the input.
        operator: What is done with the mean.
    """
    mean = _node("ReduceMean", [name], ["mean"], _integer_attribute("keepdims", 0))
    squeezed = _node(operator, ["mean"], ["probability"])
    graph = [
        _field(1, mean),
        _field(1, squeezed),
        _field(2, b"tiny"),
        _field(11, _tensor(name, (1, 80, 800))),
        _field(12, _tensor("probability", ())),
    ]
    opset = _field(1, b"") + _number(2, 13)
    model = _number(1, 8) + _field(7, b"".join(graph)) + _field(8, opset)
    path.write_bytes(model)
    return path


def _node(
    operator: str, inputs: Iterable[str], outputs: Iterable[str], attribute: bytes = b""
) -> bytes:
    parts = [_field(1, one.encode()) for one in inputs] + [
        _field(2, one.encode()) for one in outputs
    ]
    return (
        b"".join(parts)
        + _field(4, operator.encode())
        + (_field(5, attribute) if attribute else b"")
    )


def _integer_attribute(name: str, value: int) -> bytes:
    return _field(1, name.encode()) + _number(3, value) + _number(20, 2)


def _tensor(name: str, shape: Iterable[int]) -> bytes:
    sizes = b"".join(_field(1, _number(1, size)) for size in shape)
    return _field(1, name.encode()) + _field(2, _field(1, _number(1, _FLOAT) + _field(2, sizes)))


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _number(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    more = value >> 7
    return bytes([value & 127 | 128]) + _varint(more) if more else bytes([value])
