"""Decompresses Zstandard frames (RFC 8878), in which nvcc keeps PTX: Python has no module for them before 3.14.

A frame is a row of blocks. A compressed block has literals, most often in a Huffman code, and sequences that say how
many literals to take and what to repeat. Codes of the sequences, and the weights of a Huffman tree, are coded by FSE,
whose streams are read from their end.
"""

import struct
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gpuprof.errors import UsageError

MAGIC = b"\x28\xb5\x2f\xfd"
MOST_NBYTES = 256 << 20  # of a frame's content; a damaged one must not fill the memory
MOST_WEIGHT_LOG = 6  # of the FSE table of a tree's weights
MOST_WEIGHTS = 255  # of a tree; the last symbol's follows from the others
MOST_CODE_BITS = 11  # of a Huffman code
MOST_BITS_BELOW = 64  # that are read before the beginning of a stream
LITERALS_RAW, LITERALS_RLE, LITERALS_COMPRESSED = 0, 1, 2
BLOCK_RAW, BLOCK_RLE, BLOCK_COMPRESSED = 0, 1, 2
PREDEFINED, RLE, FSE = 0, 1, 2


class Field(NamedTuple):
    """A field of a sequence: base and number of extra bits of each code; the table that is known beforehand."""

    bases: tuple[int, ...]
    extra_bits: tuple[int, ...]
    accuracy_log: int
    probabilities: tuple[int, ...]
    most_log: int


def _bases(first: int, extra_bits: Sequence[int]) -> tuple[int, ...]:
    """Each code begins where the one before ends."""
    found = [first]
    for bits in extra_bits[:-1]:
        found.append(found[-1] + (1 << bits))
    return tuple(found)


_LITERAL_BITS = (0,) * 16 + (1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
_MATCH_BITS = (0,) * 32 + (1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
# The distributions are those of section 3.1.1.3.2.2.
LITERAL_LENGTHS = Field(
    _bases(0, _LITERAL_BITS), _LITERAL_BITS, 6,
    (4, 3, *(2,) * 11, 1, 1, 1, *(2,) * 9, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1), 9,
)  # fmt: skip
OFFSETS = Field(
    tuple(1 << code for code in range(32)), tuple(range(32)), 5,
    (1, 1, 1, 1, 1, 1, 2, 2, 2, *(1,) * 15, -1, -1, -1, -1, -1), 8,
)  # fmt: skip
MATCH_LENGTHS = Field(
    _bases(3, _MATCH_BITS), _MATCH_BITS, 6, (1, 4, 3, 2, 2, 2, 2, 2, 2, *(1,) * 37, *(-1,) * 7), 9
)  # fmt: skip


class State(NamedTuple):
    """Of an FSE table: what it stands for, and how the next one is found."""

    symbol: int
    n_bits: int
    base: int


class Tree(NamedTuple):
    """A Huffman code: for every `n_bits` next bits, a symbol and the length of its code."""

    n_bits: int
    entries: list[tuple[int, int]]


def decompress(data: bytes) -> bytes:
    """The content of one frame. Raises UsageError for what is no frame, or a damaged one."""
    try:
        return _frame(data)
    except (IndexError, struct.error, ValueError) as error:
        raise UsageError(f"Zstandard data are damaged: {error}") from None


def _frame(data: bytes) -> bytes:
    if not data.startswith(MAGIC):
        raise ValueError("they do not begin as a frame does")
    descriptor = data[4]
    is_single = descriptor >> 5 & 1
    size_flag = descriptor >> 6
    at = 5 + (not is_single) + (0, 1, 2, 4)[descriptor & 3]
    at += (1 if is_single else 0, 2, 4, 8)[size_flag]
    out, blocks = bytearray(), Blocks()
    is_last = False
    while not is_last:
        head = int.from_bytes(_part(data, at, 3), "little")
        is_last, kind, nbytes = bool(head & 1), head >> 1 & 3, head >> 3
        at += 3
        if kind == BLOCK_RLE:
            out += _part(data, at, 1) * nbytes
            at += 1
        elif kind == BLOCK_RAW:
            out += _part(data, at, nbytes)
            at += nbytes
        elif kind == BLOCK_COMPRESSED:
            blocks.decode(_part(data, at, nbytes), out)
            at += nbytes
        else:
            raise ValueError("a block of a reserved kind")
        if len(out) > MOST_NBYTES:
            raise ValueError("their content is too long")
    return bytes(out)


class Blocks:
    """What compressed blocks leave to the next one: the tree, tables of sequences, the last three offsets."""

    def __init__(self) -> None:
        self.tree: Tree | None = None
        self.tables: dict[Field, list[State]] = {}
        self.log: dict[Field, int] = {}
        self.offsets = [1, 4, 8]

    def decode(self, data: bytes, out: bytearray) -> None:
        """Appends the content of a block to `out`."""
        literals, at = self._literals(data)
        n_sequences = data[at]
        at += 1
        if n_sequences == 255:
            n_sequences = int.from_bytes(_part(data, at, 2), "little") + 0x7F00
            at += 2
        elif n_sequences > 127:
            n_sequences = (n_sequences - 128 << 8) + data[at]
            at += 1
        taken = 0
        for n_literals, offset, n_match in self._sequences(data, at, n_sequences) if n_sequences else ():
            out += literals[taken : taken + n_literals]
            taken += n_literals
            if not 0 < offset <= len(out):
                raise ValueError("a repetition of what is not there")
            start = len(out) - offset
            if n_match <= offset:
                out += out[start : start + n_match]
            else:
                out += (out[start:] * (n_match // offset + 1))[:n_match]
            if len(out) > MOST_NBYTES:
                break
        out += literals[taken:]

    def _literals(self, data: bytes) -> tuple[bytes, int]:
        """The literals, and where the sequences begin."""
        kind, form = data[0] & 3, data[0] >> 2 & 3
        if kind in (LITERALS_RAW, LITERALS_RLE):
            head_nbytes, shift = {0: (1, 3), 2: (1, 3), 1: (2, 4), 3: (3, 4)}[form]
            n = int.from_bytes(_part(data, 0, head_nbytes), "little") >> shift
            stored = n if kind == LITERALS_RAW else 1
            return _part(data, head_nbytes, stored) * (1 if kind == LITERALS_RAW else n), head_nbytes + stored
        head_nbytes, bits = ((3, 10), (3, 10), (4, 14), (5, 18))[form]
        head = int.from_bytes(_part(data, 0, head_nbytes), "little") >> 4
        n, nbytes = head & (1 << bits) - 1, head >> bits & (1 << bits) - 1
        end = head_nbytes + nbytes
        coded = _part(data, head_nbytes, nbytes)
        if kind == LITERALS_COMPRESSED:
            self.tree, used = _tree(coded)
            coded = coded[used:]
        if self.tree is None:
            raise ValueError("literals without a tree")
        if form == 0:
            return _symbols(coded, self.tree, n), end
        sizes = struct.unpack_from("<3H", coded)
        each, found, at = (n + 3) // 4, b"", 6
        for size in (*sizes, len(coded) - 6 - sum(sizes)):
            found += _symbols(_part(coded, at, size), self.tree, min(each, n - len(found)))
            at += size
        return found, end

    def _sequences(self, data: bytes, at: int, n: int) -> Iterator[tuple[int, int, int]]:
        """Number of literals, offset and length of each match."""
        modes = data[at]
        at += 1
        for field, shift in ((LITERAL_LENGTHS, 6), (OFFSETS, 4), (MATCH_LENGTHS, 2)):
            at = self._learn(field, modes >> shift & 3, data, at)
        bits = Backward(data[at:])
        tables = [self.tables[field] for field in (LITERAL_LENGTHS, OFFSETS, MATCH_LENGTHS)]
        states = [table[bits.read(self.log[field])] for table, field in zip(tables, self.log_order(), strict=True)]
        for index in range(n):
            literal, offset, match = states
            value = (1 << offset.symbol) + bits.read(offset.symbol)
            n_match = MATCH_LENGTHS.bases[match.symbol] + bits.read(MATCH_LENGTHS.extra_bits[match.symbol])
            n_literals = LITERAL_LENGTHS.bases[literal.symbol] + bits.read(LITERAL_LENGTHS.extra_bits[literal.symbol])
            yield n_literals, self._offset(value, n_literals), n_match
            if index + 1 < n:
                literal = tables[0][literal.base + bits.read(literal.n_bits)]
                match = tables[2][match.base + bits.read(match.n_bits)]
                states = [literal, tables[1][offset.base + bits.read(offset.n_bits)], match]

    @staticmethod
    def log_order() -> tuple[Field, ...]:
        """The order in which the first states are read."""
        return LITERAL_LENGTHS, OFFSETS, MATCH_LENGTHS

    def _learn(self, field: Field, mode: int, data: bytes, at: int) -> int:
        """Sets a field's table; gives where the next one begins."""
        if mode == PREDEFINED:
            self.tables[field], self.log[field] = _table(field.probabilities, field.accuracy_log), field.accuracy_log
        elif mode == RLE:
            self.tables[field], self.log[field] = [State(data[at], 0, 0)], 0
            at += 1
        elif mode == FSE:
            probabilities, log, used = _probabilities(data[at:], field.most_log)
            self.tables[field], self.log[field] = _table(probabilities, log), log
            at += used
        elif field not in self.tables:
            raise ValueError("a table is repeated that is not there")
        return at

    def _offset(self, value: int, n_literals: int) -> int:
        """An offset of its own, or one of the last three, which come first next time."""
        if value > 3:
            self.offsets = [value - 3, *self.offsets[:2]]
            return value - 3
        which = value - 1 + (n_literals == 0)
        found = self.offsets[which] if which < 3 else self.offsets[0] - 1
        self.offsets = [found, *(each for index, each in enumerate(self.offsets) if index != min(which, 2))]
        return found


class Backward:
    """Bits from the end of a stream, whose highest set bit is a mark; below its beginning there are zeros."""

    def __init__(self, data: bytes):
        if not data or not data[-1]:
            raise ValueError("a stream without its mark")
        self.data, self.left = data, len(data) * 8 - 9 + data[-1].bit_length()

    def read(self, n: int) -> int:
        self.left -= n
        if self.left < -MOST_BITS_BELOW:
            raise ValueError("a stream ends early")
        first = max(self.left, 0)
        found = int.from_bytes(self.data[first >> 3 : (first >> 3) + 9], "little") >> (first & 7)
        return (found << first - self.left) & (1 << n) - 1


def _part(data: bytes, at: int, nbytes: int) -> bytes:
    found = data[at : at + nbytes]
    if len(found) < nbytes:
        raise ValueError("they end early")
    return found


def _probabilities(data: bytes, most_log: int) -> tuple[list[int], int, int]:
    """The probabilities of an FSE table (-1: less than one), its accuracy log, and how many bytes they take."""
    value, at = int.from_bytes(data[:512], "little"), 4
    log = (value & 15) + 5
    if log > most_log:
        raise ValueError("a table is too fine")
    left, found = 1 << log, []
    while left > 0:
        bits = (left + 1).bit_length()
        chunk = value >> at & (1 << bits) - 1
        low, short = chunk & (1 << bits - 1) - 1, (1 << bits) - 2 - left
        if low < short:
            at, chunk = at + bits - 1, low
        else:
            at, chunk = at + bits, chunk - short if chunk >= 1 << bits - 1 else chunk
        found.append(chunk - 1)
        left -= abs(chunk - 1)
        while chunk == 1:  # a probability of zero tells how many more follow
            more = value >> at & 3
            found += [0] * more
            at += 2
            if more < 3:
                break
    if left < 0 or at > len(data) * 8:
        raise ValueError("a table's probabilities are wrong")
    return found, log, (at + 7) // 8


def _table(probabilities: Sequence[int], log: int) -> list[State]:
    size = 1 << log
    symbols, high = [0] * size, size - 1
    for symbol, probability in enumerate(probabilities):
        if probability == -1:
            symbols[high] = symbol
            high -= 1
    step, at = (size >> 1) + (size >> 3) + 3, 0
    for symbol, probability in enumerate(probabilities):
        for _ in range(probability):
            symbols[at] = symbol
            at = (at + step) % size
            while at > high:
                at = (at + step) % size
    nexts = [abs(probability) for probability in probabilities]
    states = []
    for symbol in symbols:
        n_bits = log + 1 - nexts[symbol].bit_length()
        states.append(State(symbol, n_bits, (nexts[symbol] << n_bits) - size))
        nexts[symbol] += 1
    return states


def _tree(data: bytes) -> tuple[Tree, int]:
    """The Huffman tree at the beginning of coded literals, and how many bytes it takes."""
    head = data[0]
    if head >= 128:
        n = head - 127
        used = 1 + (n + 1) // 2
        coded = _part(data, 1, used - 1)
        weights = [coded[index // 2] >> (0 if index % 2 else 4) & 15 for index in range(n)]
    else:
        used = 1 + head
        weights = _weights(_part(data, 1, head))
    total = sum(1 << weight - 1 for weight in weights if weight)
    n_bits = total.bit_length()
    last = (1 << n_bits) - total
    if not total or last & last - 1 or n_bits > MOST_CODE_BITS:
        raise ValueError("a tree's weights are wrong")
    weights.append(last.bit_length())
    entries: list[tuple[int, int]] = []
    for weight in range(1, n_bits + 1):
        for symbol, own in enumerate(weights):
            if own == weight:
                entries += [(symbol, n_bits + 1 - weight)] * (1 << weight - 1)
    return Tree(n_bits, entries), used


def _weights(data: bytes) -> list[int]:
    """Weights coded by FSE: two states take turns until the stream is used up."""
    probabilities, log, used = _probabilities(data, MOST_WEIGHT_LOG)
    table, bits = _table(probabilities, log), Backward(data[used:])
    states, found, turn = [table[bits.read(log)], table[bits.read(log)]], [], 0
    while len(found) < MOST_WEIGHTS:
        state = states[turn]
        found.append(state.symbol)
        if bits.left < state.n_bits:
            return [*found, states[1 - turn].symbol]
        states[turn] = table[state.base + bits.read(state.n_bits)]
        turn = 1 - turn
    raise ValueError("a tree has too many weights")


def _symbols(data: bytes, tree: Tree, n: int) -> bytes:
    bits, found = Backward(data), bytearray()
    while len(found) < n:
        symbol, used = tree.entries[bits.read(tree.n_bits)]
        bits.left += tree.n_bits - used
        found.append(symbol)
    return bytes(found)
