"""What each call does, on a real device that emulates: numbers of errors, kinds of allocations, handles."""

import inspect
import struct

import pytest

from gpuprof.device import commands as cmd
from gpuprof.errors import FAULTS, CompileError, DeviceMemoryError, KernelFault, UsageError
from gpuprof.program import errors
from gpuprof.program.api_server import ApiServer
from gpuprof.program.arena import Arena
from gpuprof.program.build import Executable, module_number
from gpuprof.program.calls import BY_COMMANDS, CALLS, FREE, NUMBERS
from gpuprof.program.channel import NOWHERE, Origin, Request
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device

PTX = """\
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .b8 counter[12];
.visible .entry add(.param .u64 to, .param .u32 value)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [value];
    ld.global.u32 %r2, [%rd1];
    add.u32 %r2, %r2, %r1;
    st.global.u32 [%rd1], %r2;
    ret;
}
"""
PLAIN, MANAGED, PINNED = range(3)


class Program:
    """Calls as a program makes them, and what the user is told."""

    def __init__(self, folder, arena, reports_writes=False):
        (folder / "k.ptx").write_text(PTX)
        self.told, self.commands, self.arena = [], [], arena
        device = open_device(Settings(is_timed=False, has_host=True), memory=arena.memory)
        carry_out = device.executor.submit

        def submit(command):
            self.commands.append(command)
            return carry_out(command)

        device.executor.submit = submit
        self.handlers = ApiServer(
            device,
            arena,
            Executable(folder / "program", (folder / "k.ptx",), ()),
            [device.executor.compile(folder / "k.ptx")],
            blocks_per_sm=lambda chip, function, threads, shared_nbytes: 2 if threads <= 512 else 0,
            notice=self.told.append,
            reports_writes=reports_writes,
        )

    def __call__(self, name, *words, payload=b""):
        """Status, words, payload of the reply."""
        given = tuple(word % 2**64 for word in words)
        call = CALLS[NUMBERS[name]]
        assert len(given) == len(call.given)
        reply = self.handlers.serve(Request(call, given, payload, NOWHERE))
        return reply.status, reply.words, reply.payload

    def launch(self, address, value, grid=(1, 1, 1), block=(1, 1, 1), shared_nbytes=0, stream=0, flags=0):
        params = struct.pack("<QI", address, value)
        return self("launch", 0, *grid, *block, shared_nbytes, stream, flags, 0, 0, 0, payload=params)[0]


@pytest.fixture
def program(tmp_path):
    with Arena(1 << 20) as arena:
        yield Program(tmp_path, arena)


def loaded(program):
    assert program("module", payload=b"gpuprof module 0") == (0, (0,), b"")
    return program("function", 0, payload=b"add")


def test_a_kernel_runs_on_what_was_copied(program):
    status, words, parameters = loaded(program)
    assert (status, words[:3]) == (0, (0, 2, 1024))
    assert struct.unpack("<4I", parameters) == (0, 8, 8, 4)  # offset and bytes of each parameter
    status, (address,), _ = program("allocate", 4, PLAIN, payload=b"cudaMalloc")
    assert (status, address) == (0, 0x7_0000_1000)  # the module's variable lies before it
    assert program("copy_in", address, 0, 0, payload=struct.pack("<I", 40)) == (0, (), b"")
    assert program.launch(address, 2) == 0
    assert program("copy_out", address, 4, 0) == (0, (), struct.pack("<I", 42))
    assert program("fill", address, 4, 0xFFFF01, 0)[0] == 0
    assert program("copy_out", address, 4, 0) == (0, (), b"\1\1\1\1")
    assert program("variable", 0, payload=b"counter") == (0, (0x7_0000_0000, 12), b"")
    assert program.told == []


# call, words, payload -> cudaError, what the user is told; the device holds one allocation of 64 bytes
MISTAKES = {
    "memory that nobody has": ("allocate", (1 << 40, PLAIN), b"cudaMalloc", 2, "out of device memory"),
    "a negative size": ("allocate", (-1, PLAIN), b"cudaMalloc", 2, "out of device memory"),
    "a free within": ("free", (0x7_0000_1001,), b"", 1, "0x700001001"),
    "a copy behind the end": ("copy_in", (0x7_0000_1000, 0, 0), bytes(65), 1, "0x700001000"),
    "a copy of a negative size": ("copy_out", (0x7_0000_1000, -4, 0), b"", 1, "0x700001000"),
    "a fill behind the end": ("fill", (0x7_0000_1000, 65, 0, 0), b"", 1, "0x700001000"),
    "a kernel that is not there": ("function", (0,), b"subtract", 98, "k.ptx has no kernel subtract"),
    "a variable that is not there": ("variable", (0,), b"count", 13, "k.ptx has no variable count"),
    "a name that is no text": ("variable", (0,), b"\xff\0", 13, "has no variable"),
    "a module that is not there": ("function", (7,), b"add", 400, "there is no module 7"),
    "a launch of no kernel": ("launch", (9, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0), b"", 400, "there is no kernel 9"),
    "no threads": ("launch", (0, 1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0), bytes(12), 9, "an extent is 0"),
    "too many threads": ("launch", (0, 1, 1, 1, 2048, 1, 1, 0, 0, 0, 0, 0, 0), bytes(12), 9, "2048"),
    "an extent without end": ("launch", (0, -1, 1, 1, 32, 1, 1, 0, 0, 0, 0, 0, 0), bytes(12), 9, "add"),
    "shared memory": ("launch", (0, 1, 1, 1, 32, 1, 1, 50_000, 0, 0, 0, 0, 0), bytes(12), 1, "50000 bytes of dynamic"),
    "too large for a cooperative launch": (
        "launch",
        (0, 217, 1, 1, 32, 1, 1, 0, 0, 1, 0, 0, 0),
        bytes(12),
        720,
        "217 blocks",
    ),
    "a stream": ("copy_in", (0x7_0000_1000, 99, 0), b"a", 400, "there is no stream 99"),
    "a stream of nobody": ("destroy_stream", (16 + 1000,), b"", 400, "there is no stream 1016"),
    "event 0": ("record", (0, 0), b"", 400, "there is no event 0"),
    "an event": ("event_time", (-1, 1), b"", 400, "there is no event"),
    "a texture of no geometry": ("make_image", (9, 32, 2, 1, 1, *[0] * 9), bytes(40), 1, "no textures of this kind"),
    "a texture without texels": ("make_image", (1, 32, 2, 1, 1, *[0] * 9), bytes(40), 1, "no such image"),
    "a texture with half a level": ("make_image", (1, 32, 2, 1, 1, *[0] * 9), bytes(20), 1, "no textures of this kind"),
    "channels of 64 bits": ("make_image", (1, 64, 2, 1, 1, *[0] * 9), bytes(40), 1, "channels of f64"),
    "words of 3 bytes": ("fill_words", (0x7_0000_1000, 6, 1, 3, 0, 1, 0), b"", 1, "3 bytes"),
    "a task that is not open": ("end_task", (7,), b"", 1, "no open task 7"),
    "a relation of no task": ("relate", (7, 8, 0), b"depends on", 1, "identifier 7"),
    "half a parameter": ("parameter", (0,), b"name", 1, "a name, a kind and a value"),
    "PTX that is none": ("module_image", (), b"nothing", 218, ".target"),
    "more than there is for copies": ("staged_in", (0x7_0000_1000, 1 << 40, 0, 0), b"", 1, "memory for copies"),
    "no threads to count for": ("occupancy", (0, 0, 0), b"", 1, ""),
    "advice that there is not": ("advise", (0x7_0000_1000, 64, 3, 1, 0), b"", 1, "no advice 3"),
    "a prefetch on no stream": ("prefetch", (0x7_0000_1000, 64, 0, 99), b"", 400, "there is no stream 99"),
    "half a range": ("host_touches", (), bytes(24), 1, "24 bytes of ranges"),
    "too much shared memory": ("shared_limit", (0, 1 << 30), b"", 1, "1073741824 bytes"),
    "negative shared memory": ("shared_limit", (0, -1), b"", 1, "-1 bytes"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_has_cudas_number_and_is_told_once(program, mistake):
    name, words, payload, number, told = MISTAKES[mistake]
    loaded(program)
    program("allocate", 64, PLAIN, payload=b"cudaMalloc")
    assert [program(name, *words, payload=payload)[0] for _ in range(2)] == [number, number]
    assert len(program.told) == (told != "")
    assert told in "".join(program.told)
    assert program("memory") == (0, ((1 << 20) - 64 - 12, 1 << 20), b""), "nothing has changed"


def test_a_fault_loses_the_context(program):
    loaded(program)
    assert program.launch(0x7_0000_F000, 1) == 700
    assert "out of bounds" in str(program.handlers.fault)
    assert program.told == [str(program.handlers.fault)]


# a kernel's line -> the error; what it does decides, not its name
FAULTS_OF = {
    "p[1 << 20] = 1;": 700,
    "*(int *)((char *)p + 1) = 1;": 716,
    'assert(p[0] == 1 && "out of bounds");': 710,
    "while (!p[0]) atomicAdd(p + 1, 1);": 702,
    "__trap();": 719,
}


@pytest.mark.long
@pytest.mark.parametrize("line", FAULTS_OF)
def test_numbers_of_faults(tmp_path, line):
    (tmp_path / "misaligned.cu").write_text(f"__global__ void misaligned(int *p) {{ {line} }}\n")
    gpu = open_device(Settings(is_timed=False, max_cycles=1000))
    module, array = gpu.load(tmp_path / "misaligned.cu"), gpu.device_array(4, "i4")
    with pytest.raises(KernelFault) as fault:
        module.misaligned[1, 1](array)
    assert errors.number_of(fault.value) == FAULTS_OF[line]


def test_each_kind_of_fault_has_a_number():
    assert tuple(errors.FAULTS) == FAULTS


def test_numbers_of_other_errors():
    kinds = (DeviceMemoryError, CompileError, UsageError)
    assert [errors.number_of(kind("no")) for kind in kinds] == [1, 209, 1]


def test_streams_and_events(program):
    assert program("make_stream", -3, 0) == (0, (17,), b"")
    assert program("make_event") == (0, (1,), b"")
    assert program("event_time", 1, 1)[0] == 400  # before it is recorded
    assert program("wait", 1, 17)[0] == 0  # CUDA: then nobody waits
    assert program("record", 1, 17)[0] == 0
    assert program("event_time", 1, 1)[:2] == (0, (0,))
    assert program("destroy_stream", 17)[0] == 0
    assert program("record", 1, 17)[0] == 400
    assert [program("copy_in", 0x7_0000_0000, stream, 0, payload=b"")[0] for stream in (3, 15)] == [400, 400]


def test_what_the_host_waits_for(program):
    """All waits take as long; what the program may rely on differs."""
    assert [program("make_stream", 0, flags)[0] for flags in (0, 1)] == [0, 0]
    program("make_event")
    program("record", 1, 17)
    given = [(0, 0), (1, 18), (2, 1)]
    assert [program("synchronize", *words)[0] for words in given] == [0, 0, 0]
    assert program("host_function", 18)[0] == 0
    assert [program("synchronize", *words)[0] for words in ((1, 99), (2, 2))] == [400, 400]
    told = [each for each in program.commands if isinstance(each, cmd.NonBlocking | cmd.Wait | cmd.HostFunction)]
    everything, host = cmd.EVERYTHING, cmd.HOST
    assert told == [
        cmd.NonBlocking(2),
        cmd.Wait(everything, host, cmd.EVERY_STREAM),
        cmd.Wait(everything, host, 2),
        cmd.Wait(0, host),
        cmd.Wait(everything, host, cmd.NO_STREAM),
        cmd.HostFunction(2),
    ]


@pytest.mark.parametrize("kind, copies", [(PLAIN, 0), (MANAGED, 1), (PINNED, 1)])
def test_what_the_host_writes_is_told_before_a_launch(tmp_path, kind, copies):
    """Only where the host can write: there a stream of commands has to hold it."""
    with Arena(1 << 20) as arena:
        program = Program(tmp_path, arena, reports_writes=True)
        loaded(program)
        _, (address,), _ = program("allocate", 4, kind, payload=b"cudaMallocManaged")
        arena.memory.write(address, struct.pack("<I", 5))  # as the program does, without a call
        assert program.launch(address, 1) == 0
        told = [command for command in program.commands if isinstance(command, cmd.HostWrite)]
        assert [(each.address, each.data) for each in told] == [(address, struct.pack("<I", 5))] * copies
        assert program("free", address)[0] == 0
        assert program("copy_in", address, 0, 0, payload=b"a")[0] == 1


def served(program, name, *words, host_ns=0, is_part=False, payload=b""):
    """A call at `host_ns` of the program's clock: its reply, and the commands that it became."""
    n_before = len(program.commands)
    origin = Origin(0, 0, host_ns, 0, is_part=is_part)
    reply = program.handlers.serve(Request(CALLS[NUMBERS[name]], words, payload, origin))
    return reply, program.commands[n_before:]


def test_the_program_has_the_clock_of_the_session(program):
    reply, asked = served(program, "make_event", host_ns=5_000)
    assert asked == [cmd.HostTime(5_000), cmd.HostCall("other")]
    assert 5_000 + reply.host_ns == program.handlers.device.executor.host_ns > 5_000
    now_ns = 5_000 + reply.host_ns
    reply, asked = served(program, "record", 1, 0, host_ns=now_ns)
    assert asked == [cmd.Event(0)]  # the program's clock is not ahead
    reply, asked = served(program, "destroy_stream", 99, host_ns=now_ns + 7_000)
    assert (reply.status, reply.host_ns) == (400, 0)  # it only waited for its turn: 7 us are more than a record takes
    assert asked == [cmd.HostTime(now_ns + 7_000)]


# call, words -> what it costs the host besides its commands
COSTS = {
    ("make_stream", 0, 0): [cmd.HostCall()],
    ("memory",): [cmd.HostCall()],
    ("symbol_copy",): [cmd.HostCall("symbol_copy")],
    ("instantiate", 3): [cmd.HostCall("graph_instantiate", 3)],
    ("update_graph", 1): [cmd.HostCall("graph_update", 1)],
    ("fill", 0x7_0000_0000, 4, 1, 0): [],
    ("synchronize", 0, 0): [],
    ("properties",): [],
    ("read_clock",): [],
}


@pytest.mark.parametrize("call", COSTS)
def test_what_a_call_costs(program, call):
    program("allocate", 4, PLAIN, payload=b"cudaMalloc")
    name, *words = call
    reply, asked = served(program, name, *words)
    assert reply.status == 0
    assert [each for each in asked if isinstance(each, cmd.HostCall)] == COSTS[call]


# the parts of a call -> what they cost together
WHOLE = {
    "nothing of the GPU's": ([("destroy_stream", 17), ("make_event",)], [cmd.HostCall()]),
    "no parts": ([], [cmd.HostCall()]),
    "a graph": ([("make_event",), ("instantiate", 2)], [cmd.HostCall("graph_instantiate", 2)]),
    "a fill": ([("fill", 0x7_0000_0000, 4, 1, 0), ("make_event",)], []),
    "rows": ([("begin_rows", 2), ("end_rows",)], []),
}


@pytest.mark.parametrize("what", WHOLE)
def test_what_a_call_of_several_messages_costs(program, what):
    parts, costs = WHOLE[what]
    program("allocate", 4, PLAIN, payload=b"cudaMalloc")
    program("make_stream", 0, 0)
    asked = []
    for name, *words in [("begin_call",), *parts, ("end_call",)]:
        reply, commands = served(program, name, *words, is_part=True)
        assert reply.status == 0
        asked += commands
    assert [each for each in asked if isinstance(each, cmd.HostCall)] == costs


def test_the_cost_of_each_call_is_a_kind_that_there_is():
    assert {call.cost for call in CALLS} == {FREE, BY_COMMANDS, *cmd.HOST_CALLS}


@pytest.mark.parametrize("kind", [PLAIN, MANAGED, PINNED])
def test_kinds_of_allocations(program, kind):
    program("allocate", 64, kind, payload=b"a")
    assert program.commands == [cmd.Allocate(64, "a 1", kind == PLAIN, memory=cmd.MEMORIES[kind])]


# call, words, payload -> commands
MANAGED_CALLS = {
    ("prefetch", 0x7_0000_0000, 64, 0, 17): [cmd.Prefetch(0x7_0000_0000, 64, to_host=False, stream=1)],
    ("prefetch", 0x7_0000_0040, 32, 1, 0): [cmd.Prefetch(0x7_0000_0040, 32, to_host=True)],
    ("advise", 0x7_0000_0000, 64, 0, 0, 0): [cmd.Advise(0x7_0000_0000, 64, "read mostly", False), cmd.HostCall()],
    ("advise", 0x7_0000_0000, 64, 1, 1, 1): [
        cmd.Advise(0x7_0000_0000, 64, "preferred location", to_host=True), cmd.HostCall(),
    ],
    ("advise", 0x7_0000_0000, 64, 2, 1, 0): [cmd.Advise(0x7_0000_0000, 64, "accessed by"), cmd.HostCall()],
}  # fmt: skip


@pytest.mark.parametrize("call", MANAGED_CALLS)
def test_calls_about_managed_memory(program, call):
    program("allocate", 128, MANAGED, payload=b"a")
    program("make_stream", 0, 0)
    name, *words = call
    reply, asked = served(program, name, *words)
    assert (reply.status, asked) == (0, MANAGED_CALLS[call])


def test_what_the_host_touches_is_no_call_and_takes_the_time_of_its_command(program):
    program("allocate", 128, MANAGED, payload=b"a")
    ranges = ((0x7_0000_0000, 64), (0x7_0000_0060, 8))
    reply, asked = served(program, "host_touches", payload=struct.pack("<4Q", *ranges[0], *ranges[1]))
    assert (reply.status, asked) == (0, [cmd.HostTouch(ranges)])


# kinds of the source and of the destination -> direction
SIDES = {
    (PLAIN, PLAIN): "within",
    (MANAGED, PLAIN): "within",
    (PINNED, PLAIN): "in",
    (PINNED, MANAGED): "in",
    (PLAIN, PINNED): "out",
    (MANAGED, PINNED): "out",
    (PINNED, PINNED): "host",
}


@pytest.mark.parametrize("kinds", SIDES)
def test_directions_of_copies(program, kinds):
    source, target = (program("allocate", 64, kind, payload=b"a")[1][0] for kind in kinds)
    program("make_stream", 0, 0)
    assert program("copy_within", target + 8, source + 16, 32, 17)[0] == 0
    assert program.commands[-1] == cmd.CopyWithin(target + 8, source + 16, 32, 1, SIDES[kinds])


def test_freed_page_locked_memory_is_no_more_so(program):
    _, (address,), _ = program("allocate", 64, PINNED, payload=b"a")
    program("free", address)
    assert program("allocate", 64, PLAIN, payload=b"b")[1] == (address,)
    program("copy_within", address, address + 32, 16, 0)
    assert program.commands[-1] == cmd.CopyWithin(address, address + 32, 16)


def test_rows_are_asked_together_and_waited_for_once(program):
    program("allocate", 64, PLAIN, payload=b"cudaMalloc")
    address, n_before = 0x7_0000_0000, len(program.commands)
    for name, *words in [
        ("begin_rows", 2),
        ("copy_out", address, 4, 0),
        ("copy_out", address + 8, 4, 0),
        ("end_rows",),
    ]:
        assert program(name, *words)[0] == 0
    program("copy_out", address, 4, 0)
    program("fill_words", address, 4, 258, 2, 16, 2, 0)
    program("fill_words", address, 4, 258, 2, 16, 1, 0)
    wait = cmd.Wait(cmd.EVERYTHING, cmd.HOST, 0)
    assert program.commands[n_before:] == [
        cmd.Together("copy", 2), wait, cmd.CopyOut(address, 4), cmd.CopyOut(address + 8, 4), cmd.TogetherEnd(),
        wait, cmd.CopyOut(address, 4),
        cmd.Together("copy", 2), cmd.Fill(address, 4, b"\2\1"), cmd.Fill(address + 16, 4, b"\2\1"), cmd.TogetherEnd(),
        cmd.Fill(address, 4, b"\2\1"),
    ]  # fmt: skip


def test_rows_that_do_not_fit_have_an_end(program):
    program("allocate", 64, PLAIN, payload=b"cudaMalloc")
    assert program("fill_words", 0x7_0000_0000, 4, 1, 2, 4096, 2, 0)[0] == 1
    assert program.commands[-1] == cmd.TogetherEnd()


def test_words_of_graphs_are_the_devices(program):
    """The host does not wait for them."""
    _, (address,), _ = program("allocate", 4, PLAIN, payload=b"a")
    program("make_stream", 0, 0)
    n_before = len(program.commands)
    assert program("write_word", address, 7, 17)[0] == 0
    assert program("read_word", address, 17) == (0, (7,), b"")
    assert program.commands[n_before:] == [
        cmd.CopyIn(address, b"\7\0\0\0", 1, is_pinned=True),
        cmd.CopyOut(address, 4, 1, is_pinned=True),
    ]


KEYS = {b"gpuprof module 0": 0, b"gpuprof module 12": 12}
WRONG_KEYS = [
    b"",
    b"gpuprof module ",
    b"gpuprof module 13",
    b"gpuprof module -1",
    b"gpuprof module \xff",
    b"\x50\xed\x55\xba",
]


@pytest.mark.parametrize("key", KEYS)
def test_keys_of_modules(key):
    assert module_number(key, 13) == KEYS[key]


@pytest.mark.parametrize("key", WRONG_KEYS)
def test_keys_that_are_no_modules(key):
    with pytest.raises(UsageError, match="device code that gpuprof did not put there"):
        module_number(key, 13)


def test_every_call_has_a_handler_of_its_words(program):
    handlers = program.handlers._handlers
    assert set(handlers) == {call.name for call in CALLS}
    for call in CALLS:
        inspect.signature(handlers[call.name]).bind(b"", **dict.fromkeys(call.given, 0))


def test_a_kernel_that_is_not_there_counts_until_the_program_asks_for_errors(program):
    assert program("not_launched", 0, payload=b"_Z5scalePf")[0] == 98
    assert program.handlers.unchecked == ""  # a call gives the error back
    assert program("not_launched", 1, payload=b"_Z5scalePf")[0] == 98
    assert program.handlers.unchecked == "scale"
    assert program("error_seen")[0] == 0
    assert program.handlers.unchecked == ""
    assert program.told == ["scale is not launched"]


def test_what_the_library_does_not_support_is_told_once(program):
    for _ in range(2):
        assert program("not_supported")[0] == 0
    assert program.told == ["gpuprof does not support this: cudaErrorNotSupported"]
