"""Messages from a program's process and back. See `calls` for their form."""

import socket
import struct
from typing import NamedTuple

from gpuprof.errors import GpuprofError
from gpuprof.program.calls import CALLS, WORD_NBYTES, Call

REQUEST = struct.Struct("<IIQQQQII")
REPLY = struct.Struct("<iIQQ")
PIECE_NBYTES = 1 << 30  # that a payload is received in
MASK = (1 << 64) - 1
ROOM_NBYTES = 1 << 14  # for messages; what a payload has more is received by itself
WORDS = [struct.Struct(f"<{n}Q") for n in range(1 + max(len(call.given) for call in CALLS))]


class Origin(NamedTuple):
    """The place in the program that a call comes from. `caller`: an address in its code; `function`: the offset in the
    library's code of a place in the function that it calls; `host_ns`: of the simulated time; `is_part`: it is a part
    of another call, or none of the program's own.
    """

    caller: int
    function: int
    host_ns: int
    thread: int
    is_part: bool


NOWHERE = Origin(0, 0, 0, 0, is_part=True)


class Request(NamedTuple):
    call: Call
    words: tuple[int, ...]  # unsigned
    payload: bytes
    origin: Origin

    @property
    def named_words(self) -> dict[str, int]:
        return dict(zip(self.call.given, self.words, strict=True))

    @property
    def nbytes(self) -> int:
        """The number of bytes that are copied or filled."""
        at = self.call.nbytes_at
        if self.call.name == "copy_in":
            return len(self.payload)
        return 0 if at is None else self.words[at]


class Reply(NamedTuple):
    """`status`: a cudaError. `host_ns`: what the call takes of the host's made time."""

    status: int = 0
    words: tuple[int, ...] = ()
    payload: bytes = b""
    host_ns: int = 0


class Channel:
    """Our end of the socket."""

    def __init__(self, connection: socket.socket, most_nbytes: int):
        """`most_nbytes`: of a payload; more is no message of our library."""
        self.connection, self.most_nbytes = connection, most_nbytes
        self._room = memoryview(bytearray(ROOM_NBYTES))  # the bytes [begin, end) are received, and not read yet
        self._begin = self._end = 0

    def receive(self) -> Request | None:
        """The next request; None when the program has ended. Raises GpuprofError for what is no request."""
        if not self._has(REQUEST.size):
            return None
        number, n_words, nbytes, caller, function, host_ns, thread, is_part = REQUEST.unpack_from(
            self._room, self._begin
        )
        if number >= len(CALLS) or n_words != len(CALLS[number].given) or nbytes > self.most_nbytes:
            raise GpuprofError("the program wrote something to gpuprof's socket that is no call; it must not use it")
        self._begin += REQUEST.size
        if not self._has(n_words * WORD_NBYTES):
            return None
        words = WORDS[n_words].unpack_from(self._room, self._begin)
        self._begin += n_words * WORD_NBYTES
        payload = self._payload(nbytes) if nbytes else b""
        if payload is None:
            return None
        return Request(CALLS[number], words, payload, Origin(caller, function, host_ns, thread, is_part != 0))

    def send(self, reply: Reply) -> bool:
        """Sends a reply. False if the program is gone."""
        head = REPLY.pack(reply.status, len(reply.words), len(reply.payload), reply.host_ns)
        if reply.words:
            head += struct.pack(f"<{len(reply.words)}Q", *(word & MASK for word in reply.words))
        try:
            self.connection.sendall(head)
            if reply.payload:
                self.connection.sendall(reply.payload)
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    def _has(self, nbytes: int) -> bool:
        """True once the next `nbytes`, which are few, are in the room; False when the program ends before it has sent
        them. A message comes at once, as a rule: it takes one call of the system.
        """
        if self._begin == self._end:
            self._begin = self._end = 0
        elif self._begin + nbytes > len(self._room):
            rest = bytes(self._room[self._begin : self._end])
            self._room[: len(rest)] = rest
            self._begin, self._end = 0, len(rest)
        while self._end - self._begin < nbytes:
            try:
                came = self.connection.recv_into(self._room[self._end :])
            except ConnectionResetError:
                return False
            if not came:
                return False
            self._end += came
        return True

    def _payload(self, nbytes: int) -> bytes | None:
        """None when the program ends before it has sent so much."""
        there = min(nbytes, self._end - self._begin)
        payload = bytes(self._room[self._begin : self._begin + there])
        self._begin += there
        if there == nbytes:
            return payload
        rest = self._read(nbytes - there)
        return None if rest is None else payload + rest

    def _read(self, nbytes: int) -> bytes | None:
        """None when the program ends before it has sent so much."""
        pieces, left = [], nbytes
        while left:
            try:
                piece = self.connection.recv(min(left, PIECE_NBYTES), socket.MSG_WAITALL)
            except ConnectionResetError:
                return None
            if not piece:
                return None
            pieces.append(piece)
            left -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word
