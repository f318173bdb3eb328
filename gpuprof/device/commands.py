"""The command stream: all requests of a program to the GPU, one plain value each, in their order.

Each command's text says what it returns when it is carried out. Streams are numbers, 0 the default one.
"""

from dataclasses import dataclass
from typing import TypeAlias

from gpuprof.base.block_order import linear_block
from gpuprof.device.graphics_state.draw_state import Buffers, DrawState, Interface, Targets
from gpuprof.device.images import Image
from gpuprof.device.module import LoadedModule, Placed
from gpuprof.isa.program import Function, Program

HOST = -1  # as the stream of a Wait: the host waits
EVERYTHING = -1  # as the event of a Wait: all that was asked so far, on every stream
EVERY_STREAM, NO_STREAM = -1, -2  # as what a Wait is `of`
# Of a copy: within the device, host to device, device to host, within the host's page-locked memory.
COPY_DIRECTIONS = ("within", "in", "out", "host")
TOGETHER = ("graph", "copy")
# Of an allocation: the host cannot touch it; both sides touch it, and its pages go to where they are used; it is the
# host's own, page-locked, and the GPU touches it over the link.
MEMORIES = ("device", "managed", "pinned")
ADVICE = ("read mostly", "preferred location", "accessed by")  # of managed memory
# Calls that ask nothing of the GPU. The times of graph_instantiate and graph_update are by node.
HOST_CALLS = ("other", "symbol_copy", "graph_instantiate", "graph_update")


@dataclass(frozen=True)
class Allocate:
    """Gives device.memory.Allocation. is_undefined: the program may not rely on the zeros that are in it.
    is_later: it is allocated in the order of a stream (cudaMallocAsync). memory: of MEMORIES.
    """

    nbytes: int
    name: str = ""
    is_undefined: bool = False
    is_later: bool = False
    memory: str = "device"


@dataclass(frozen=True)
class Free:
    """Frees the allocation that starts at `address`."""

    address: int


@dataclass(frozen=True)
class FreeLater:
    """The allocation that starts at `address` is no longer the program's once all earlier requests on a stream are done
    (cudaFreeAsync). A Free gives it back.
    """

    address: int
    stream: int = 0


@dataclass(frozen=True)
class Map:
    """Memory of virtual memory management, of undefined content, at an address that the program has reserved. What is
    mapped next to it becomes one allocation with it.
    """

    address: int
    nbytes: int


@dataclass(frozen=True)
class Unmap:
    """The opposite of Map, also for a part of what is mapped there."""

    address: int
    nbytes: int


@dataclass(frozen=True)
class MakeImage:
    """Gives the image's number (int), which handles of textures and surfaces hold."""

    image: Image


@dataclass(frozen=True)
class CopyIn:
    """Host to device. `data` is used up when the command is carried out. is_pinned: the host's memory is page-locked,
    so the host need not wait until it has been read. is_waited: the host waits for the end of the copy.
    """

    address: int
    data: bytes | memoryview
    stream: int = 0
    is_pinned: bool = False
    is_waited: bool = False


@dataclass(frozen=True)
class HostWrite:
    """The host has written `data` itself, to memory that is open to it (managed, page-locked). Nothing is asked of the
    GPU, and it takes no time: a saved stream has the bytes, so that it can be run again.
    """

    address: int
    data: bytes | memoryview


@dataclass(frozen=True)
class HostTouch:
    """The host has read or written managed memory since the last of these: ranges are (address, nbytes) each, whole
    pages of the host, ascending.
    """

    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Prefetch:
    """Managed memory is brought to the GPU, or to the host (cudaMemPrefetchAsync)."""

    address: int
    nbytes: int
    to_host: bool = False
    stream: int = 0


@dataclass(frozen=True)
class Advise:
    """How managed memory will be used (cudaMemAdvise). advice: of ADVICE; to_host: its location is the host."""

    address: int
    nbytes: int
    advice: str
    is_on: bool = True
    to_host: bool = False


@dataclass(frozen=True)
class CopyOut:
    """Device to host. Gives bytes. is_pinned: the host's memory is page-locked, so the host need not wait."""

    address: int
    nbytes: int
    stream: int = 0
    is_pinned: bool = False


@dataclass(frozen=True)
class CopyWithin:
    """A copy between two places of the address space, which may overlap. direction: of COPY_DIRECTIONS; page-locked
    memory of the host has addresses, too.
    """

    destination: int
    source: int
    nbytes: int
    stream: int = 0
    direction: str = "within"


@dataclass(frozen=True)
class Fill:
    """Repeats `pattern` over `nbytes` bytes; their number is a multiple of the pattern's length."""

    address: int
    nbytes: int
    pattern: bytes = b"\0"
    stream: int = 0


@dataclass(frozen=True, eq=False)
class Load:
    """Loads a module, where the session's load map says or at a code address of its own. Gives
    device.module.LoadedModule.
    """

    program: Program
    load_base: int | None = None
    placed: tuple[Placed, ...] = ()  # variables that have memory already


@dataclass(frozen=True, eq=False)
class Launch:
    """Runs a kernel. `params` is its parameter block, laid out by function.params."""

    index: int  # launches so far, from 0
    module: LoadedModule
    function: Function
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic_shared_nbytes: int
    params: bytes
    stream: int
    name: str  # the launch as written, or as a script made it
    cluster: tuple[int, int, int] = (1, 1, 1)  # blocks of a cluster; the grid is made of whole ones
    # it may start when the launch before it on the stream lets it (programmatic dependent launch)
    dependent: bool = False
    cache: str = ""  # of base.cache_control; "" as the run says
    repeat: int = 0  # timings of it, 0 as the run says
    is_timed: bool = True  # False: it is only emulated, between the requests before and after it, and takes no time

    @property
    def n_blocks(self) -> int:
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def blocks_of_cluster(self) -> int:
        return self.cluster[0] * self.cluster[1] * self.cluster[2]

    def grid_blocks(self, numbers):
        """The linear index in the grid of blocks (int or array) numbered in the order they run."""
        grid_x, grid_y, _ = self.grid
        cluster_x, cluster_y, _ = self.cluster
        return linear_block(numbers, grid_x // cluster_x, grid_y // cluster_y, *self.cluster)

    @property
    def threads_per_block(self) -> int:
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def shared_nbytes(self) -> int:
        """Per block, static and dynamic."""
        return self.function.shared_nbytes + self.dynamic_shared_nbytes


@dataclass(frozen=True, eq=False)
class Shader:
    """A kernel of a module. `params` is its parameter block, whose first parameter, the stage, is filled in when the
    draw is carried out.
    """

    module: LoadedModule
    function: Function
    params: bytes
    interface: Interface


@dataclass(frozen=True, eq=False)
class Draw:
    """Draws primitives into targets. shaders: one of each stage that there is, from the first to the last; without one
    of pixels, only depth and stencil are drawn. Gives graphics.counts.DrawCounts.
    """

    shaders: tuple[Shader, ...]
    buffers: Buffers
    state: DrawState
    targets: Targets
    name: str = ""

    def shader(self, stage: str) -> Shader | None:
        return next((shader for shader in self.shaders if shader.interface.stage == stage), None)

    vertex = property(lambda self: self.shader("vertex"))
    hull = property(lambda self: self.shader("hull"))
    domain = property(lambda self: self.shader("domain"))
    geometry = property(lambda self: self.shader("geometry"))
    pixel = property(lambda self: self.shader("pixel"))


@dataclass(frozen=True)
class Resolve:
    """The mean of each pixel's samples. `targets` has one color target, which `color` becomes: one sample a pixel, of
    the same format.
    """

    targets: Targets
    color: int


@dataclass(frozen=True)
class Event:
    """Marks the present end of a stream: the event happens when all earlier requests on that stream are done."""

    event: int
    stream: int = 0


@dataclass(frozen=True)
class EventTime:
    """Waits for a recorded event. Gives the GPU cycle (int) in which it happened."""

    event: int


@dataclass(frozen=True)
class Priority:
    """Launches asked of a stream from now on have this priority: the smaller, the sooner their blocks start."""

    stream: int
    priority: int


@dataclass(frozen=True)
class NonBlocking:
    """The program may not rely on any order between a stream and the default one (cudaStreamNonBlocking)."""

    stream: int


@dataclass(frozen=True)
class Wait:
    """Later work on `stream` (or on the host, when HOST) waits for the event (or for EVERYTHING). Of EVERYTHING, the
    program may rely only on the requests on stream `of`. When the host waits, gives the current GPU cycle (int).
    """

    event: int
    stream: int = 0
    of: int = EVERY_STREAM


@dataclass(frozen=True)
class HostTime:
    """The host's clock shows at least `ns` nanoseconds since the program began: for what it did besides calls."""

    ns: int


@dataclass(frozen=True)
class HostCall:
    """The host makes a call that asks nothing of the GPU. kind: of HOST_CALLS. n: nodes of the graph that it makes or
    sets.
    """

    kind: str = "other"
    n: int = 1


@dataclass(frozen=True)
class HostFunction:
    """The host runs a function once all earlier requests on a stream are done, and the stream waits for its end."""

    stream: int = 0


@dataclass(frozen=True)
class Together:
    """The requests up to the matching TogetherEnd are one call of the host. what: of TOGETHER.

    "graph": the launch of a graph; each request is one of its nodes, or an order between these. n: nodes, those of
    child graphs in place of their node; those of conditional nodes once, however often they run. A node that is a copy
    or fill of several rows is a "copy" in it; nothing else nests.
    "copy": one copy or fill of n rows, of all slices. A row of more bytes than the runtime library stages at once is
    several requests. A pageable copy to the host waits once, within it, before its first row.
    While a host function runs within the launch of a graph, other threads' requests fall between the two, too.
    """

    what: str
    n: int


@dataclass(frozen=True)
class TogetherEnd:
    """The call that Together began has ended."""


@dataclass(frozen=True)
class SetSampler:
    """Sets registers of the sampler, by name, for later launches; a filter is text. Returns all settings (dict)."""

    registers: tuple[tuple[str, int | str], ...]


NO_TASK = -1  # as an identifier: no task has it


@dataclass(frozen=True)
class TaskBegin:
    """Begins a task: the requests up to the matching TaskEnd are parts of it. Tasks nest.

    identifier: what later commands call the task. parent: the identifier of the task that it is a part of, in place of
    the innermost one that is open. row: the name of its row, "" the host's. A virtual task holds nothing by itself:
    others are related to it as its parts, by Relate or by a rule (relate.rules): a key and a regular expression. A
    command buffer is a task of draws and launches that are handed to the GPU together; it holds no other one.
    """

    name: str
    identifier: int = NO_TASK
    parent: int = NO_TASK
    row: str = ""
    is_virtual: bool = False
    rule: str = ""
    pattern: str = ""
    is_command_buffer: bool = False


@dataclass(frozen=True)
class TaskEnd:
    """Ends the innermost task, or the virtual one with the identifier."""

    name: str
    identifier: int = NO_TASK


@dataclass(frozen=True)
class CallBegin:
    """Begins a call of a program: the requests up to its CallEnd are parts of it.

    file, line: its source location, "" and 0 where that is unknown. thread: of the host, from 0. begin_ns: of the
    host's time. identifier: what later commands call its task.
    """

    name: str
    file: str
    line: int
    thread: int
    begin_ns: int
    identifier: int = NO_TASK


@dataclass(frozen=True)
class CallEnd:
    """The call that is open ends. waited_ns: of its time, what it has waited for the GPU. nbytes: that it was asked to
    copy or fill. status: a cudaError.
    """

    end_ns: int
    waited_ns: int
    nbytes: int
    status: int


@dataclass(frozen=True)
class Identify:
    """Gives the most recently requested launch, copy, fill or wait an identifier."""

    identifier: int


@dataclass(frozen=True)
class Relate:
    """States relations of a task to others, by their identifiers, through a buffer where its address is given; or only
    to buffers, for the kinds that relate to them (relate.kinds).
    """

    kind: str
    identifier: int
    others: tuple[int, ...] = ()
    buffers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Parameter:
    """A value that belongs to a task. kind: "number", "text" or "structure", whose value is JSON."""

    identifier: int
    name: str
    kind: str
    value: str


Command: TypeAlias = (
    Allocate
    | Free
    | FreeLater
    | Map
    | Unmap
    | MakeImage
    | CopyIn
    | HostWrite
    | HostTouch
    | Prefetch
    | Advise
    | CopyOut
    | CopyWithin
    | Fill
    | Load
    | Launch
    | Draw
    | Resolve
    | Event
    | EventTime
    | Priority
    | NonBlocking
    | Wait
    | HostTime
    | HostCall
    | HostFunction
    | Together
    | TogetherEnd
    | SetSampler
    | TaskBegin
    | TaskEnd
    | CallBegin
    | CallEnd
    | Identify
    | Relate
    | Parameter
)
