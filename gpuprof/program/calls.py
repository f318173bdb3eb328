"""The calls that a program's runtime library forwards, declared once: Python serves them by these names, and the
library is compiled with the header that `header` makes of them.

A message is a head, words of 64 bits and a payload of bytes, little-endian:

    request   u32 number of the call   u32 number of words   u64 nbytes of the payload
    reply     i32 status (cudaError)   u32 number of words   u64 nbytes of the payload   u64 ns of the host's made time
"""

import struct
from typing import NamedTuple

HEAD = struct.Struct("<iIQ")
WORD_NBYTES = 8


class Call(NamedTuple):
    name: str
    given: tuple[str, ...] = ()  # words of the request
    gives: tuple[str, ...] = ()  # words of the reply
    payload: str = ""  # what the request brings
    answer: str = ""  # what the reply brings


CALLS = (
    Call("module", (), ("module",), payload="key of the module, as it stands in the executable"),
    Call(
        "function",
        ("module",),
        ("function", "n_params", "max_threads", "registers", "shared_nbytes", "local_nbytes", "const_nbytes",
         "most_dynamic_nbytes", "arch"),
        payload="symbol of a kernel",
        answer="u32 offset, u32 nbytes of each parameter",
    ),
    Call("variable", ("module",), ("address", "nbytes"), payload="symbol of a variable"),
    Call("allocate", ("nbytes", "kind"), ("address",), payload="what messages call it"),
    Call("free", ("address",)),
    Call("copy_in", ("address", "stream"), payload="bytes"),
    Call("copy_out", ("address", "nbytes", "stream"), answer="bytes"),
    Call("copy_within", ("to", "from_", "nbytes", "stream")),
    Call("fill", ("address", "nbytes", "value", "stream")),
    Call(
        "launch",
        ("function", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "shared_nbytes", "stream",
         "cooperative"),
        payload="the parameter block",
    ),
    Call("shared_limit", ("function", "nbytes")),
    Call("occupancy", ("function", "threads", "shared_nbytes"), ("blocks",)),
    Call("make_stream", ("priority",), ("stream",)),
    Call("destroy_stream", ("stream",)),
    Call("synchronize"),
    Call("make_event", (), ("event",)),
    Call("record", ("event", "stream")),
    Call("wait", ("event", "stream")),
    Call("event_time", ("event",), ("nanoseconds",)),
    Call("memory", (), ("free_nbytes", "total_nbytes")),
    Call(
        "properties",
        (),
        ("total_nbytes", "shared_block", "shared_optin", "shared_sm", "registers_block", "registers_sm",
         "threads_block", "threads_sm", "blocks_sm", "sms", "clock_khz", "memory_clock_khz", "memory_bits", "l2_nbytes",
         "major", "minor"),
        answer="the chip's name",
    ),
)  # fmt: skip

NUMBERS = {call.name: number for number, call in enumerate(CALLS)}


def header() -> str:
    """What the library is compiled with: the calls' numbers, and the places of the words in their replies."""
    lines = ["#pragma once", "enum class Call : unsigned {"]
    lines += [f"    {call.name} = {number}," for number, call in enumerate(CALLS)]
    lines += ["};"]
    for call in CALLS:
        if call.gives:
            names = ", ".join(f"{name}" for name in call.gives)
            lines += [f"namespace {call.name}_gives {{ enum {{ {names}, count }}; }}"]
    return "\n".join(lines) + "\n"
