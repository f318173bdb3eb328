"""The calls that a program's runtime library forwards, declared once: Python serves them by these names, and the
library is compiled with the header that `header` makes of them.

A message is a head, words of 64 bits and a payload of bytes, little-endian:

    request   u32 number of the call   u32 number of words   u64 nbytes of the payload
              u64 address in the program's code that calls   u64 offset in the library's of what it calls
              u64 ns of the host's made time   u32 thread   u32 1: a part of a call, or none of the program's
    reply     i32 status (cudaError)   u32 number of words   u64 nbytes of the payload   u64 ns of the host's made time
"""

from typing import NamedTuple

WORD_NBYTES = 8
STAGING_NBYTES = 64 << 20  # of the memory for copies; longer ones are several

# What a program waits for. After a host function its stream continues, and the host may rely on nothing.
WAITS = ("everything", "stream", "event", "nothing")


class Call(NamedTuple):
    name: str
    given: tuple[str, ...] = ()  # words of the request
    gives: tuple[str, ...] = ()  # words of the reply
    payload: str = ""  # what the request brings
    answer: str = ""  # what the reply brings
    is_listed: bool = True  # False: it is no call of the program's own, or says nothing of the GPU's work
    nbytes_at: int | None = None  # which word says how many bytes are copied or filled


CALLS = (
    # Where a variable of the module lies that is loaded next.
    Call("place", ("address",), payload="symbol of a variable", is_listed=False),
    Call("module", (), ("module",), payload="key of the module, as in the executable", is_listed=False),
    Call("module_image", (), ("module",), payload="text of PTX", is_listed=False),
    Call("check_image", payload="text of PTX", is_listed=False),  # that will be linked with others
    Call("link_images", payload="texts of PTX, a zero after each", answer="text of PTX", is_listed=False),
    Call("last_text", ("most_nbytes",), answer="what was wrong with the last call that failed", is_listed=False),
    Call(
        "function",
        ("module",),
        ("function", "n_params", "max_threads", "registers", "shared_nbytes", "local_nbytes", "const_nbytes",
         "most_dynamic_nbytes", "arch"),
        payload="symbol of a kernel",
        answer="u32 offset, u32 nbytes of each parameter", is_listed=False,
    ),
    Call("kernels", ("module",), ("n",), answer="their symbols, each with a zero after it", is_listed=False),
    Call("variable", ("module",), ("address", "nbytes"), payload="symbol of a variable", is_listed=False),
    Call("allocate", ("nbytes", "kind"), ("address",), payload="what messages call it"),
    Call("free", ("address",)),
    Call("free_later", ("address", "stream")),  # once what was asked of the stream is done
    Call("reserve", ("nbytes", "alignment"), ("address",)),  # addresses without memory
    Call("unreserve", ("address",)),
    Call("map", ("address", "nbytes")),
    Call("unmap", ("address", "nbytes")),
    Call("copy_in", ("address", "stream"), payload="bytes"),
    Call("copy_out", ("address", "nbytes", "stream"), answer="bytes", nbytes_at=1),
    Call("staged_in", ("address", "nbytes", "stream"), nbytes_at=1),  # what lies in the memory for copies
    Call("staged_out", ("address", "nbytes", "stream"), nbytes_at=1),
    Call("copy_within", ("to", "from_", "nbytes", "stream"), nbytes_at=2),
    Call("fill", ("address", "nbytes", "value", "stream"), nbytes_at=1),
    Call("fill_words", ("address", "nbytes", "value", "element_nbytes", "row_nbytes", "rows", "stream"), nbytes_at=1),
    Call(
        "launch",
        ("function", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "shared_nbytes", "stream",
         "flags", "cluster_x", "cluster_y", "cluster_z"),
        payload="the parameter block",
    ),
    # `<<<>>>` of a kernel that is not there; then an error that the program asks for.
    Call("not_launched", ("is_unchecked",), payload="symbol of a kernel", is_listed=False),
    Call("error_seen", is_listed=False),
    Call("not_supported", is_listed=False),  # what the library itself refuses
    Call("shared_limit", ("function", "nbytes")),
    Call("occupancy", ("function", "threads", "shared_nbytes"), ("blocks",)),
    Call("shared_available", ("function", "blocks", "threads"), ("nbytes",)),
    # largest: blocks of a cluster that fits; active: how many clusters of `blocks` fit at once
    Call("clusters", ("function", "threads", "shared_nbytes", "blocks", "is_nonportable"), ("largest", "active")),
    Call("make_stream", ("priority", "flags"), ("stream",)),
    Call("destroy_stream", ("stream",)),
    Call("synchronize", ("waits", "handle")),  # waits: one of WAITS
    Call("profile", ("is_on",)),
    Call("reset"),  # what a fault has lost is there again, empty
    Call("make_event", (), ("event",)),
    Call("record", ("event", "stream")),
    Call("wait", ("event", "stream")),
    Call("event_time", ("start", "end"), ("nanoseconds",)),
    Call(
        "make_image",
        ("geometry", "bits", "kind", "channels", "layers", "is_surface", "address_x", "address_y", "address_z",
         "filter", "mip_filter", "read", "normalized", "srgb"),
        ("handle",),
        payload="u64 address, width, height, depth and bytes of a row of each level",
    ),
    Call("refuse", payload="name of a function of CUDA's that is not here", is_listed=False),
    Call("lack", payload="what the program wants and is not here", is_listed=False),
    Call("begin_call", is_listed=False),  # what follows, up to end_call, is one call of the program's
    Call("end_call", is_listed=False),
    Call("read_clock", is_listed=False),  # the host's, for the first time after a launch
    Call("begin_task", ("is_nested",), ("task",), payload="name", is_listed=False),
    Call("end_task", ("task",), is_listed=False),
    Call("last_task", (), ("task",), is_listed=False),
    Call("relate", ("task", "other", "address"), payload="kind of relation", is_listed=False),
    Call("parameter", ("task",), payload="name, kind and value, zeros between them", is_listed=False),
    Call("memory", (), ("free_nbytes", "total_nbytes")),
    Call(
        "properties",
        (),
        ("total_nbytes", "shared_block", "shared_optin", "shared_sm", "registers_block", "registers_sm",
         "threads_block", "threads_sm", "blocks_sm", "sms", "clock_khz", "memory_clock_khz", "memory_bits", "l2_nbytes",
         "major", "minor"),
        answer="the chip's name", is_listed=False,
    ),
)  # fmt: skip

NUMBERS = {call.name: number for number, call in enumerate(CALLS)}


def header() -> str:
    """The header that the library is compiled with: the calls' numbers, and the positions of words in their replies."""
    lines = ["#pragma once", "enum class Call : unsigned {"]
    lines += [f"    {call.name} = {number}," for number, call in enumerate(CALLS)]
    lines += ["};", f"enum class Waits : unsigned long long {{ {', '.join(WAITS)} }};"]
    lines += [f"constexpr unsigned long long staging_nbytes = {STAGING_NBYTES};"]
    for call in CALLS:
        if call.gives:
            names = ", ".join(f"{name}" for name in call.gives)
            lines += [f"namespace {call.name}_gives {{ enum {{ {names}, count }}; }}"]
    return "\n".join(lines) + "\n"
