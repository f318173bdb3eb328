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

# What a program waits for.
WAITS = ("everything", "stream", "event")


# Of what a call costs the host: nothing; what the commands cost that it becomes. Else it becomes a HostCall, of this
# kind, besides.
FREE, BY_COMMANDS = "", "commands"


class Call(NamedTuple):
    name: str
    given: tuple[str, ...] = ()  # words of the request
    gives: tuple[str, ...] = ()  # words of the reply
    payload: str = ""  # what the request brings
    answer: str = ""  # what the reply brings
    is_listed: bool = True  # False: it is no call of the program's own, or says nothing of the GPU's work
    nbytes_at: int | None = None  # which word says how many bytes are copied or filled
    cost: str = FREE  # or BY_COMMANDS, or of commands.HOST_CALLS


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
    Call("allocate", ("nbytes", "kind"), ("address",), payload="what messages call it", cost=BY_COMMANDS),
    # In the order of a stream: device memory.
    Call("allocate_later", ("nbytes",), ("address",), payload="what messages call it", cost=BY_COMMANDS),
    Call("free", ("address",), cost=BY_COMMANDS),
    Call("free_later", ("address", "stream"), cost=BY_COMMANDS),  # once what was asked of the stream is done
    Call("reserve", ("nbytes", "alignment"), ("address",), cost="other"),  # addresses without memory
    Call("unreserve", ("address",), cost="other"),
    Call("map", ("address", "nbytes"), cost=BY_COMMANDS),
    Call("unmap", ("address", "nbytes"), cost=BY_COMMANDS),
    Call("copy_in", ("address", "stream", "is_waited"), payload="bytes", cost=BY_COMMANDS),
    Call("copy_out", ("address", "nbytes", "stream"), answer="bytes", nbytes_at=1, cost=BY_COMMANDS),
    # What lies in the memory for copies.
    Call("staged_in", ("address", "nbytes", "stream", "is_waited"), nbytes_at=1, cost=BY_COMMANDS),
    Call("staged_out", ("address", "nbytes", "stream"), nbytes_at=1, cost=BY_COMMANDS),
    Call("copy_within", ("to", "from_", "nbytes", "stream"), nbytes_at=2, cost=BY_COMMANDS),
    Call("fill", ("address", "nbytes", "value", "stream"), nbytes_at=1, cost=BY_COMMANDS),
    Call(
        "fill_words",
        ("address", "nbytes", "value", "element_nbytes", "row_nbytes", "rows", "stream"),
        nbytes_at=1, cost=BY_COMMANDS,
    ),
    Call("prefetch", ("address", "nbytes", "to_host", "stream"), nbytes_at=1, cost=BY_COMMANDS),
    Call("advise", ("address", "nbytes", "advice", "is_on", "to_host"), cost="other"),  # advice: one of ADVICE
    Call("host_touches", payload="u64 address, nbytes of each range", is_listed=False),
    # A word of 4 bytes that the device itself sets or reads when a graph is launched.
    Call("write_word", ("address", "value", "stream"), is_listed=False, cost=BY_COMMANDS),
    Call("read_word", ("address", "stream"), ("value",), is_listed=False, cost=BY_COMMANDS),
    # What follows, up to the end, is one copy or fill of n rows, or the launch of a graph of n nodes.
    Call("begin_rows", ("n",), is_listed=False, cost=BY_COMMANDS),
    Call("end_rows", is_listed=False),
    Call("begin_graph", ("n",), is_listed=False, cost=BY_COMMANDS),
    Call("end_graph", is_listed=False),
    Call("symbol_copy", is_listed=False, cost="symbol_copy"),  # the copy follows
    Call("instantiate", ("n",), is_listed=False, cost="graph_instantiate"),  # a graph of n nodes
    Call("update_graph", ("n",), cost="graph_update"),  # n of its nodes
    Call(
        "launch",
        ("function", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z", "shared_nbytes", "stream",
         "flags", "cluster_x", "cluster_y", "cluster_z"),
        payload="the parameter block", cost=BY_COMMANDS,
    ),
    # `<<<>>>` of a kernel that is not there; then an error that the program asks for.
    Call("not_launched", ("is_unchecked",), payload="symbol of a kernel", is_listed=False),
    Call("error_seen", is_listed=False),
    Call("not_supported", is_listed=False),  # what the library itself refuses
    Call("shared_limit", ("function", "nbytes"), cost="other"),
    Call("occupancy", ("function", "threads", "shared_nbytes"), ("blocks",), cost="other"),
    Call("shared_available", ("function", "blocks", "threads"), ("nbytes",), cost="other"),
    # largest: blocks of a cluster that fits; active: how many clusters of `blocks` fit at once
    Call(
        "clusters",
        ("function", "threads", "shared_nbytes", "blocks", "is_nonportable"), ("largest", "active"), cost="other",
    ),
    Call("make_stream", ("priority", "flags"), ("stream",), cost="other"),
    Call("destroy_stream", ("stream",), cost="other"),
    Call("synchronize", ("waits", "handle"), cost=BY_COMMANDS),  # waits: one of WAITS
    Call("host_function", ("stream",), cost=BY_COMMANDS),  # the program calls it after that
    Call("profile", ("is_on",), cost="other"),
    Call("reset", cost="other"),  # what a fault has lost is there again, empty
    Call("make_event", (), ("event",), cost="other"),
    Call("record", ("event", "stream"), cost=BY_COMMANDS),
    Call("wait", ("event", "stream"), cost=BY_COMMANDS),
    Call("event_time", ("start", "end"), ("nanoseconds",), cost=BY_COMMANDS),
    Call(
        "make_image",
        ("geometry", "bits", "kind", "channels", "layers", "is_surface", "address_x", "address_y", "address_z",
         "filter", "mip_filter", "read", "normalized", "srgb"),
        ("handle",),
        payload="u64 address, width, height, depth and bytes of a row of each level", cost="other",
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
    Call("memory", (), ("free_nbytes", "total_nbytes"), cost="other"),
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
