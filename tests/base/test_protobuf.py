"""Protocol Buffers: bytes that the format's own description gives, both ways, and bytes that are no message."""

import pytest
from hypothesis import given, strategies as st

from gpuprof.base.protobuf.decode import Malformed, decode
from gpuprof.base.protobuf.encode import encode
from gpuprof.base.protobuf.message import Field, Message

INNER = Message("Test1", {"a": Field(1, "int")})
OUTER = Message(
    "Outer",
    {
        "b": Field(2, "string"),
        "c": Field(3, INNER),
        "number": Field(4, "uint"),
        "f": Field(6, "int", repeated=True),
        "children": Field(7, INNER, repeated=True),
        "real": Field(8, "double"),
        "flag": Field(9, "bool"),
        "ids": Field(10, "fixed64", repeated=True),
        "raw": Field(11, "bytes"),
        "short": Field(12, "float"),
    },
)
EMPTY = {"f": [], "children": [], "ids": []}

# (values, bytes): those with a letter come from protobuf.dev/programming-guides/encoding
EXAMPLES = [
    ({"b": "testing"}, "12 07 74 65 73 74 69 6e 67"),
    ({"c": {"a": 150}}, "1a 03 08 96 01"),
    ({"f": [3, 270, 86942]}, "32 06 03 8e 02 9e a7 05"),
    ({"c": {"a": -2}}, "1a 0b 08 fe ff ff ff ff ff ff ff ff 01"),
    ({"number": 0}, "20 00"),
    ({"children": [{"a": 1}, {}]}, "3a 02 08 01 3a 00"),
    ({"real": 1.5, "flag": True}, "41 00 00 00 00 00 00 f8 3f 48 01"),
    ({"ids": [1, 2]}, "52 10 01 00 00 00 00 00 00 00 02 00 00 00 00 00 00 00"),
    ({"raw": b"\xff\x00", "short": 0.5}, "5a 02 ff 00 65 00 00 00 3f"),
    ({"f": []}, ""),
]


@pytest.mark.parametrize("values, data", EXAMPLES)
def test_messages_and_their_bytes(values, data):
    assert encode(OUTER, values) == bytes.fromhex(data)
    assert decode(OUTER, bytes.fromhex(data)) == EMPTY | values


def test_a_name_that_the_message_does_not_have():
    with pytest.raises(KeyError, match="other"):
        encode(INNER, {"other": 1})


@pytest.mark.parametrize(
    "data, values",
    [
        ("98 06 07 08 05", {"a": 5}),  # field 99 is of a newer format
        ("08 01 08 02", {"a": 2}),  # the last one counts
        ("a2 06 01 78 ad 06 01 02 03 04", {}),
    ],
)
def test_what_is_not_known_is_left_out(data, values):
    assert decode(INNER, bytes.fromhex(data)) == values


def test_numbers_that_are_not_packed():
    assert decode(OUTER, bytes.fromhex("30 03 30 8e 02"))["f"] == [3, 270]


@pytest.mark.parametrize(
    "data, why",
    [
        ("08", "a number does not end"),
        ("08 ff ff ff ff ff ff ff ff ff ff 01", "a number does not end"),
        ("12 05 61", "a field of 5 bytes has only 1"),
        ("12 ff ff ff ff 0f 61", "a field of 4,294,967,295 bytes has only 1"),
        ("41 00 00", "a field of 8 bytes has only 2"),
        ("13", "wire type 3 is not known"),
        ("10 01", "field b of Outer has wire type 0, not 2"),
        ("52 03 01 02 03", "packed numbers end in the middle of one"),
    ],
)
def test_bytes_that_are_no_message(data, why):
    with pytest.raises(Malformed, match=why):
        decode(OUTER, bytes.fromhex(data))


@given(st.binary(max_size=60))
def test_any_bytes_are_a_message_or_malformed(data):
    try:
        values = decode(OUTER, data)
    except Malformed:
        return
    assert values.keys() <= OUTER.fields.keys()


VALUES = st.fixed_dictionaries(
    {},
    optional={
        "b": st.text(),
        "number": st.integers(0, 2**64 - 1),
        "f": st.lists(st.integers(-(2**63), 2**63 - 1)),
        "real": st.floats(allow_nan=False),
        "ids": st.lists(st.integers(0, 2**64 - 1)),
        "raw": st.binary(),
    },
)


@given(VALUES)
def test_there_and_back(values):
    assert decode(OUTER, encode(OUTER, values)) == EMPTY | values
