"""Messages on the socket: whole ones, ones that break off, and what is no message."""

import socket
import struct

import pytest

from gpuprof.errors import GpuprofError
from gpuprof.program.calls import CALLS, NUMBERS, header
from gpuprof.program.channel import NOWHERE, Channel, Origin, Reply, Request

COPY_IN, FREE = CALLS[NUMBERS["copy_in"]], CALLS[NUMBERS["free"]]


@pytest.fixture
def ends():
    """Our end as a Channel, and the program's."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Channel(ours, most_nbytes=1000), theirs


def test_requests_come_one_after_the_other_until_the_program_ends(ends):
    channel, program = ends
    program.sendall(
        struct.pack("<IIQ3QII3Q", NUMBERS["copy_in"], 3, 3, 10, 11, 12, 13, 0, 0x7_0000_0000, 0, 0) + b"abc"
    )
    program.sendall(struct.pack("<IIQ3QIIQ", NUMBERS["free"], 1, 0, 0, 0, 0, 0, 1, 2**64 - 1))
    program.close()
    assert [channel.receive() for _ in range(3)] == [
        Request(COPY_IN, (0x7_0000_0000, 0, 0), b"abc", Origin(10, 11, 12, 13, is_part=False)),
        Request(FREE, (2**64 - 1,), b"", NOWHERE),
        None,
    ]


WHOLE = struct.pack("<IIQ3QII3Q", NUMBERS["copy_in"], 3, 3, 0, 0, 0, 0, 0, 0, 0, 0) + b"abc"


@pytest.mark.parametrize("nbytes", [0, 1, 15, 16, 47, 48, 52, 64, 72, 74])
def test_a_program_that_ends_within_a_message_has_ended(ends, nbytes):
    channel, program = ends
    program.sendall(WHOLE[:nbytes])
    program.close()
    assert channel.receive() is None


HOSTILE = {
    "no such call": (len(CALLS), 0, 0),
    "the largest number": (2**32 - 1, 0, 0),
    "a word too many": (NUMBERS["free"], 2, 0),
    "a word too few": (NUMBERS["free"], 0, 0),
    "words without end": (NUMBERS["free"], 2**32 - 1, 0),
    "a payload of more than the device's memory": (NUMBERS["copy_in"], 3, 1001),
    "a payload without end": (NUMBERS["copy_in"], 3, 2**64 - 1),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_no_call_is_refused_by_its_head_alone(ends, what):
    channel, program = ends
    program.sendall(struct.pack("<IIQ3QII", *HOSTILE[what], 0, 0, 0, 0, 0))
    with pytest.raises(GpuprofError) as refused:
        channel.receive()
    assert str(refused.value) == ("the program wrote something to gpuprof's socket that is no call; it must not use it")


def test_a_reply_as_it_stands_on_the_socket(ends):
    channel, program = ends
    assert channel.send(Reply(2, (7, -1), b"xy", host_ns=1500))
    assert program.recv(100) == struct.pack("<iIQQ2Q", 2, 2, 2, 1500, 7, 2**64 - 1) + b"xy"


def test_a_reply_to_a_program_that_has_ended(ends):
    channel, program = ends
    program.close()
    assert channel.send(Reply()) is False


def test_the_library_is_compiled_with_the_same_numbers_and_places():
    lines = header().splitlines()
    assert f"    copy_in = {NUMBERS['copy_in']}," in lines
    assert "namespace memory_gives { enum { free_nbytes, total_nbytes, count }; }" in lines
