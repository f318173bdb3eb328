"""Changes of a whole program: commands in, commands out."""

from gpuprof.device import commands as cmd
from gpuprof.records.command_stream.codec import SavedCopyIn, SavedHostWrite, SavedLaunch, SavedLoad
from gpuprof.run.program_changes import (
    COPY_STREAM,
    FEWEST_NODES,
    FIRST_EVENT,
    Changed,
    Program,
    as_graph,
    brought_back,
    overlapped,
    pinned,
    prefetched,
)
from gpuprof.run.stream_run import HostWork

STAGED_NBYTES = 1000  # of the host: copies in up to this size do not keep it
WAIT = cmd.Wait(cmd.EVERYTHING, cmd.HOST)
END = cmd.TogetherEnd()
X, Y, HOST = 0x1000, 0x8000, 0x20000  # addresses


def launch(stream: int = 1, **changes) -> SavedLaunch:
    return SavedLaunch(0, "k", (1, 1, 1), (32, 1, 1), stream=stream, **changes)


def copy_in(address: int, nbytes: int, stream: int = 1) -> cmd.CopyWithin:
    """From page-locked memory."""
    return cmd.CopyWithin(address, HOST, nbytes, stream, "in")


def copy_out(address: int, nbytes: int, stream: int = 1) -> cmd.CopyWithin:
    """To page-locked memory."""
    return cmd.CopyWithin(HOST, address, nbytes, stream, "out")


def listed(*commands) -> list:
    return [(command, False) for command in commands]


def changed(change, *commands, **program) -> tuple[str, list] | None:
    """The change, and the commands after it, none of which has failed."""
    found = change(Program(listed(*commands), STAGED_NBYTES, **program))
    if found is None:
        return None
    assert not any(failed for _, failed in found.commands)
    return found.what, [command for command, _ in found.commands]


# As a graph.


def test_launches_without_a_wait_become_a_graph():
    """The host's own work comes before the graph, its calls are made at the capture."""
    fill = cmd.Fill(X, 64, stream=1)
    row = [cmd.Together("copy", 2), cmd.Fill(X, 8, stream=1), cmd.Fill(Y, 8, stream=1), END]
    part = [SavedLoad(1 << 20), launch(), HostWork(700), launch(), cmd.HostCall(), fill, *row, *[launch()] * 5]
    assert changed(as_graph, copy_in(X, 64, 2), *part, HostWork(5), WAIT) == (
        "7 launches, 2 fills as a graph, instantiated before",
        [copy_in(X, 64, 2), SavedLoad(1 << 20), HostWork(700), cmd.Together("graph", 9), launch(), launch(), fill, *row,
         *[launch()] * 5, END, HostWork(5), WAIT],
    )  # fmt: skip


def test_each_row_between_two_waits_is_a_graph():
    nodes = [launch(0)] * FEWEST_NODES
    graph = [cmd.Together("graph", FEWEST_NODES), *nodes, END]
    assert changed(as_graph, *nodes, WAIT, *nodes, WAIT, *nodes[1:], WAIT) == (
        "16 launches as 2 graphs, instantiated before",
        [*graph, WAIT, *graph, WAIT, *nodes[1:], WAIT],
    )


def test_what_ends_a_row():
    """Four launches on each side of it: no row is long enough."""
    for between in (
        [WAIT],
        [launch(2)],  # on another stream
        [cmd.Event(0, 1)],
        [cmd.Wait(0, 1)],
        [cmd.HostCall("graph_instantiate", 3)],
        [cmd.Together("graph", 1), launch(), END],
        [launch(is_timed=False)],
        [SavedCopyIn(X, 8, (1,), 1)],  # of pageable memory, which the host may change after it
        [SavedCopyIn(X, 8, (1,), 1, True, True)],  # the host waits for it
        [cmd.CopyOut(X, 8, 1)],
        [SavedHostWrite(X, 8, (1,))],
        [cmd.Allocate(8)],
        [cmd.HostFunction(1)],
    ):
        assert changed(as_graph, *[launch()] * 4, *between, *[launch()] * 4) is None, between


# Page-locked memory.


def test_long_copies_of_pageable_memory_become_page_locked():
    """The host still waits for their end. Short ones stay, and rows of a copy count together."""
    row = SavedCopyIn(Y, 600, (3,), 2)
    given = [
        SavedCopyIn(X, 4000, (1, 2), 1), SavedCopyIn(X, 1000, (1,), 1), launch(),
        cmd.Together("copy", 2), row, row, END, cmd.Wait(cmd.EVERYTHING, cmd.HOST, 1), cmd.CopyOut(X, 5000, 1),
        SavedCopyIn(X, 5000, (1,), 1, True),
    ]  # fmt: skip
    waited = {"is_pinned": True, "is_waited": True}
    assert changed(pinned, *given, names={0: "x", 4: "y", 5: "y", 8: "x"}) == (
        "page-locked memory for 3 copies (10,200 bytes, of x and y)",
        [
            SavedCopyIn(X, 4000, (1, 2), 1, **waited), SavedCopyIn(X, 1000, (1,), 1), launch(),
            cmd.Together("copy", 2), *[SavedCopyIn(Y, 600, (3,), 2, **waited)] * 2, END,
            cmd.Wait(cmd.EVERYTHING, cmd.HOST, 1),
            cmd.CopyOut(X, 5000, 1, True), cmd.Wait(cmd.EVERYTHING, cmd.HOST, 1),
            SavedCopyIn(X, 5000, (1,), 1, True),
        ],
    )  # fmt: skip


def test_the_buffers_with_the_most_bytes_are_named():
    copies = [SavedCopyIn(X, nbytes, (1,)) for nbytes in (2000, 4000, 3000)]
    what, _ = changed(pinned, *copies, names={0: "a", 1: "b", 2: "c"})
    assert what == "page-locked memory for 3 copies (9,000 bytes, most of b and c)"


def test_short_copies_stay_pageable():
    assert changed(pinned, SavedCopyIn(X, 1000, (1,)), launch(), cmd.CopyOut(X, 1000)) is None


# Overlap.


def test_copies_after_launches_move_to_a_stream_of_their_own():
    """The first copy has nothing before it. In the other order all of them come first, up to the host's wait."""
    first, second = copy_in(X, 4000), copy_in(Y, 4000)
    out = cmd.CopyWithin(HOST, X, 4000, 1, "out")
    moved = [cmd.CopyWithin(Y, HOST, 4000, COPY_STREAM, "in"), cmd.Event(FIRST_EVENT, COPY_STREAM)]
    wait = cmd.Wait(FIRST_EVENT, 1)
    commands = listed(first, launch(), out, HostWork(9), second, launch(), WAIT, first, launch())
    assert overlapped(Program(commands, STAGED_NBYTES, {4: "y"})) == Changed(
        "1 copy (4,000 bytes, of y) to the device on another stream",
        listed(
            cmd.NonBlocking(COPY_STREAM), first, launch(), out, HostWork(9), *moved, wait, launch(), WAIT, first,
            launch(),
        ),
        listed(
            cmd.NonBlocking(COPY_STREAM), first, HostWork(9), *moved, launch(), out, wait, launch(), WAIT, first,
            launch(),
        ),
    )  # fmt: skip


def test_copies_that_overlap_or_cannot():
    for commands in (
        [copy_in(X, 8, 1), launch(2), copy_in(Y, 8, 3)],  # nothing is before them on their streams
        [launch(), WAIT, copy_in(X, 8)],
        [launch(), SavedCopyIn(X, 8, (1,), 1)],  # of pageable memory
        [launch(), SavedCopyIn(X, 8, (1,), 1, True, True)],
        [launch(), cmd.Together("graph", 1), copy_in(X, 8), END],
    ):
        assert changed(overlapped, *commands) is None, commands


# Back and forth.


def test_copies_of_what_was_copied_out_are_left_out():
    """Only copies of the same bytes, once a run has shown which."""
    given = [
        cmd.CopyOut(X, 64), SavedCopyIn(X, 64, (1,)), SavedCopyIn(X, 32, (1,)), launch(),
        copy_out(Y, 80), copy_in(Y, 80), cmd.CopyOut(X, 64), SavedCopyIn(X, 64, (2,)),
    ]  # fmt: skip
    names = {1: "x", 5: "y", 7: "x"}
    assert changed(brought_back, *given, names=names) == (
        "without 3 copies (208 bytes, of x and y) back to where the bytes came from if the host does not change the "
        "bytes",
        [*given[:1], *given[2:5], *given[6:7]],
    )
    assert changed(brought_back, *given, names=names, copied_back=frozenset({5})) == (
        "without 1 copy (80 bytes, of y) back to where the bytes came from",
        [*given[:5], *given[6:]],
    )
    assert changed(brought_back, *given, names=names, copied_back=frozenset()) is None


# Managed memory.


def test_what_the_host_has_touched_is_prefetched_before_the_next_launch():
    touch = cmd.HostTouch(((X, 0x1000), (Y, 0x1000)))
    graph = [cmd.Together("graph", 1), launch(2), END]
    more = cmd.HostTouch(((X + 0x1000, 0x1000),))
    assert changed(prefetched, launch(), touch, more, cmd.Fill(X, 8), *graph, launch(), touch) == (
        "2 prefetches of 12,288 bytes that the host has touched",
        [
            launch(), touch, more, cmd.Fill(X, 8), cmd.Prefetch(X, 0x2000, stream=2),
            cmd.Prefetch(Y, 0x1000, stream=2), *graph, launch(), touch,
        ],
    )  # fmt: skip


def test_what_the_program_prefetches_itself_stays():
    touch = cmd.HostTouch(((X, 0x1000),))
    assert changed(prefetched, touch, cmd.Prefetch(X, 0x1000), launch()) is None
    assert changed(prefetched, touch) is None
    what, _ = changed(prefetched, touch, cmd.Prefetch(X, 0x1000, to_host=True), launch())
    assert what == "1 prefetch of 4,096 bytes that the host has touched"
