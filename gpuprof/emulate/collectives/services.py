"""SYSCALL: the requests of a kernel to the runtime. 1 vprintf, 2 malloc, 3 free, 4 assertion failed, 5 a parameter
buffer, 6 launch it (isa.special has some of them), 7 a new stream, 8 room for parameters, 9 what they are for.

Lanes are served in ascending order. Text goes to `LaunchCounters.output`.
"""

import re
import struct

import numpy as np

from gpuprof.device.memory import LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW, WINDOW_NBYTES
from gpuprof.emulate.collectives.control import End, fall_through, split_by_guard
from gpuprof.emulate.core.device_launches import (
    REQUEST,
    describe_launch,
    launch_device,
    new_stream,
    parameter_buffer,
    parameter_room,
)
from gpuprof.emulate.core.faults import fault_of_element
from gpuprof.emulate.core.lanes import WARP, Lanes
from gpuprof.emulate.core.late_accesses import refuse_one
from gpuprof.emulate.core.operands import TRASH, U32, U64, destination, source
from gpuprof.emulate.core.operation import Env, full_row
from gpuprof.errors import DeviceMemoryError
from gpuprof.isa.flow.graph import BasicBlock
from gpuprof.isa.special import ASSERT_SERVICE, LAUNCH_SERVICE

LONGEST_TEXT, STRETCH_NBYTES = 4096, 64
DIRECTIVE = re.compile(r"%([-+ #0]*)(\d+|\*)?(\.(?:\d+|\*))?(hh|h|ll|l|j|z|t|L)?([diouxXcsfFeEgGaAp%])")


SAME_FOR_ALL = ("global", "param")  # spaces in which an address is the same byte for all lanes


def space_of(address: int) -> tuple[str, int]:
    """The name of the state space that a generic address is in, and where its window begins."""
    for name, base in (("shared", SHARED_WINDOW), ("local", LOCAL_WINDOW), ("param", PARAM_WINDOW)):
        if base <= address < base + WINDOW_NBYTES:
            return name, base
    return "global", 0


def read_bytes(lanes: Lanes, at: int, element: int, address: int, nbytes: int) -> bytes:
    """Memory at a generic address as the thread of `element` sees it. Raises KernelFault outside of what there is;
    where that is refused, the bytes are 0.
    """
    content = find_bytes(lanes, at, element, address, nbytes)
    return bytes(nbytes) if content is None else content


def find_bytes(lanes: Lanes, at: int, element: int, address: int, nbytes: int) -> bytes | None:
    """Like `read_bytes`; None where the bytes are refused."""
    name, base = space_of(address)
    space, offset = lanes.chunk.spaces[name], address - base
    if name in SAME_FOR_ALL and space.holds(offset, offset + nbytes):
        start = offset - space.layout.place[0]
        return space.views[1][start : start + nbytes].tobytes()
    warp, lane = lanes.of_warp(element // WARP), element % WARP
    offset = np.full(WARP, address - base, np.int64)
    if not space.inside(warp, offset, nbytes)[lane]:
        text = f"out of bounds read of {nbytes} bytes in {name} memory at 0x{address:x}; {space.describe(address)}"
        refuse_one(lanes, at, element, "outside", name, address - base, text)
        return None
    start = int(space.flat(warp, offset)[lane])
    return space.views[1][start : start + nbytes].tobytes()


def read_text(lanes: Lanes, at: int, element: int, address: int) -> str:
    """A string up to its zero byte."""
    name, base = space_of(address)
    raw = b""
    while len(raw) < LONGEST_TEXT:
        here = address + len(raw)
        # A text may end with its memory.
        nbytes = max(1, min(STRETCH_NBYTES, lanes.chunk.spaces[name].nbytes_from(here - base)))
        text, zero, _ = read_bytes(lanes, at, element, here, nbytes).partition(b"\0")
        raw += text
        if zero:
            break
    return raw.decode("utf-8", "replace")


class Arguments:
    """The argument block of vprintf: values in order, each at its natural alignment."""

    def __init__(self, lanes: Lanes, at: int, element: int, address: int):
        self.place = (lanes, at, element)
        self.address, self.offset = address, 0

    def take(self, code: str):
        nbytes = struct.calcsize(code)
        self.offset = -(-self.offset // nbytes) * nbytes
        raw = read_bytes(*self.place, self.address + self.offset, nbytes)
        self.offset += nbytes
        return struct.unpack("<" + code, raw)[0]


def convert(match: re.Match, arguments: Arguments) -> str:
    """Formats one directive of the format string with its argument."""
    flags, width, precision, length, letter = match.groups()
    if letter == "%":
        return "%"
    width = str(arguments.take("i")) if width == "*" else width or ""
    if precision == ".*":
        precision_argument = arguments.take("i")
        precision = f".{precision_argument}" if precision_argument >= 0 else ""  # C: a negative one counts as not given
    spec = f"%{flags}{width}{precision or ''}"
    if letter == "o" and "#" in flags:
        return alternative_octal(flags, width, precision, integer(arguments, length, signed=False))
    if letter in "diuoxX":
        return (spec + ("d" if letter in "diu" else letter)) % integer(arguments, length, signed=letter in "di")
    if letter == "c":
        return (spec + "s") % chr(arguments.take("i") & 0xFF)
    if letter == "p":
        return (f"%{flags}{width}s") % f"0x{arguments.take('Q'):x}"
    if letter == "s":
        return (spec + "s") % read_text(*arguments.place, arguments.take("Q"))
    value = arguments.take("d")
    return hexadecimal(value, letter) if letter in "aA" else (spec + letter) % value


def integer(arguments: Arguments, length: str | None, signed: bool) -> int:
    """A char or short comes as the int it was promoted to."""
    code = "q" if length in ("l", "ll", "j", "z", "t") else "i"
    value = arguments.take(code if signed else code.upper())
    nbits = {"hh": 8, "h": 16}.get(length, 64)
    if nbits == 64:
        return value
    value &= (1 << nbits) - 1
    return value - (1 << nbits) if signed and value >> nbits - 1 else value


def alternative_octal(flags: str, width: str, precision: str | None, value: int) -> str:
    """%#o: C raises the precision until the first digit is 0, where Python would write 0o."""
    least_digits = int(precision[1:] or 0) if precision else 1
    n_digits = max(least_digits, len(f"{value:o}") + 1 if value else 1)
    return f"%{flags.replace('#', '')}{width}.{n_digits}o" % value


def hexadecimal(value: float, letter: str) -> str:
    text = value.hex()
    return text.upper() if letter == "A" else text


def print_formatted(lanes: Lanes, at: int, element: int, a: int, b: int) -> int:
    arguments = Arguments(lanes, at, element, b)
    text = read_text(lanes, at, element, a)
    lanes.chunk.tally.counters.output.append(DIRECTIVE.sub(lambda match: convert(match, arguments), text))
    return sum(match.group(5) != "%" for match in DIRECTIVE.finditer(text))


def allocate(lanes: Lanes, at: int, element: int, a: int, b: int) -> int:
    """Device malloc: a null pointer when there is no room."""
    space = lanes.chunk.spaces["global"]
    try:
        address = space.memory.allocate(a, "malloc in a kernel", is_undefined=True).address
    except DeviceMemoryError:
        return 0
    space.refresh()
    return address


def release(lanes: Lanes, at: int, element: int, a: int, b: int) -> int:
    space = lanes.chunk.spaces["global"]
    if a == 0:
        return 0
    kind = "double_free" if space.memory.was_freed(a) else "invalid_free"
    try:
        space.memory.free(a)
    except DeviceMemoryError as error:
        refuse_one(lanes, at, element, kind, "global", a, str(error))
    space.refresh()
    return 0


def fail_assertion(lanes: Lanes, at: int, element: int, a: int, b: int) -> int:
    """a: address of {message, file, line, function, character size}."""
    block = Arguments(lanes, at, element, a)
    message, file, line, function = block.take("Q"), block.take("Q"), block.take("I"), block.take("Q")
    texts = [read_text(lanes, at, element, address) for address in (message, file, function)]
    text = f"assertion `{texts[0]}' failed in {texts[2]} ({texts[1]}:{line})"
    raise fault_of_element(lanes, at, element, text, "assertion")


def buffer_for_launch(lanes: Lanes, at: int, element: int, a: int, b: int) -> int:
    """a: address of what is to be launched."""
    return parameter_buffer(lanes, at, element, read_bytes(lanes, at, element, a, REQUEST.size))


def room_for_launch(lanes: Lanes, at: int, element: int, a: int, b: int) -> int:
    """Reserves a parameter buffer for a launch. a: bytes of parameters."""
    return parameter_room(lanes, a)


def name_launch(lanes: Lanes, at: int, element: int, a: int, b: int) -> int:
    """a: address of what is to be launched; b: its parameters."""
    describe_launch(lanes, at, element, read_bytes(lanes, at, element, a, REQUEST.size), b)
    return 0


def make_stream(lanes: Lanes, at: int, element: int, a: int, b: int) -> int:
    return new_stream(lanes)


SERVICES = {
    1: print_formatted, 2: allocate, 3: release, ASSERT_SERVICE: fail_assertion, 5: buffer_for_launch,
    LAUNCH_SERVICE: launch_device, 7: make_stream,
    8: room_for_launch, 9: name_launch,
}  # fmt: skip


def build_service(block: BasicBlock, env: Env) -> End:
    inst = block.last
    after, at = fall_through(block, env), block.after - 1
    service = SERVICES[inst.imm]
    ka, a = source(inst, "a", U64, env.pool)
    kb, b = source(inst, "b", U64, env.pool)
    kd, d = destination(inst, U64 if inst.op.dst == "D" else U32)

    def act(lanes: Lanes) -> None:
        first, second = full_row(lanes, lanes.v[ka][a]), full_row(lanes, lanes.v[kb][b])
        for element in range(lanes.n) if lanes.active is None else np.flatnonzero(lanes.active):
            result = service(lanes, at, int(element), int(first[element]), int(second[element]))
            if d != TRASH:
                lanes.v[kd][d][element] = result
        lanes.chunk.push(lanes, after)

    return split_by_guard(block, env, act)


ENDS = {"syscall": build_service}
