"""Random command streams, and what is observed of them beside a replay that knows of every byte who wrote it last.

The replay takes each lane's address from a trace generator, so it shares nothing with the footprint of a launch.
"""

import random
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from gpuprof.correlate.database import ensure_database
from gpuprof.device import commands as cmd
from gpuprof.records.writer import RecordWriter
from gpuprof.relate.task_kinds import NEEDS
from gpuprof.run.run_settings import Settings
from gpuprof.run.session import open_device
from gpuprof.trace.generator import TraceGenerator
from tests.relate.test_data_flow import replay
from tests.support.matrices import long_from

KERNELS = """\
#define KERNEL(name) __global__ void name(unsigned char *to, const unsigned char *from, int first, int step, int n)
#define WORDS unsigned *out = (unsigned *)to; const unsigned *in = (const unsigned *)from
#define NUMBER int i = blockIdx.x * blockDim.x + threadIdx.x
// Copies n words to every step-th word, from a place on.
KERNEL(words) { WORDS; NUMBER; if (i < n) out[first + i * step] = in[i] + i; }
// The same of single bytes, by lanes that fall.
KERNEL(bytes) { NUMBER; if (i < n) to[first + (n - 1 - i) * step] = from[i] + 1; }
// Adds to a few words, and to one of them from all lanes.
KERNEL(sums) {
    WORDS; NUMBER;
    if (i < n) { atomicAdd(out + first, in[i]); out[first + 1 + i % 3] += step; }
}
// Writes, and reads what it has written itself.
KERNEL(twice) {
    WORDS; NUMBER;
    if (i < n) { volatile unsigned *p = out + first + i; *p = in[i]; *p = *p + step; }
}
// Vectors of four words, aligned.
KERNEL(vectors) { NUMBER; if (i < n / 4) ((uint4 *)to)[first / 4 + i] = ((const uint4 *)from)[i]; }
// Through shared and local memory, which are nobody else's.
KERNEL(rooms) {
    WORDS; NUMBER;
    __shared__ unsigned room[32];
    volatile unsigned own[8];
    for (int k = 0; k < 8; k++) own[k] = i * k;
    room[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    if (i < n) out[first + i * step] = room[31 - threadIdx.x] + own[(first + i) % 8];
}
// Its constants are read as a whole, by every kernel of the module.
__constant__ unsigned table[16];
KERNEL(scaled) { WORDS; NUMBER; if (i < n) out[first + i * step] = in[i] * table[i % 16]; }
// A kernel that launches one, and reads.
KERNEL(above) {
    WORDS; NUMBER;
    if (i == 0) words<<<2, 32>>>(to, from, first, step, n);
    if (i < n) atomicMax((unsigned *)to + i % 2, in[n]);
}
// Bytes from the fourth on, through a texture.
__global__ void fetched(unsigned char *to, cudaTextureObject_t from, int first, int n)
{
    NUMBER;
    if (i < n) to[first + i] = tex1Dfetch<unsigned char>(from, 3 + i);
}
"""
# Bulk copies of n words, rounded down to four of them, there and back.
BULK = """
KERNEL(bulk) {
    __shared__ __align__(16) unsigned char room[1024];
    __shared__ __align__(8) unsigned long long barrier;
    unsigned at = __cvta_generic_to_shared(room), bar = __cvta_generic_to_shared(&barrier), nbytes = n / 4 * 16;
    if (threadIdx.x != 0 || blockIdx.x != 0 || nbytes == 0) return;
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(bar));
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(bar), "r"(nbytes));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(at), "l"(__cvta_generic_to_global(from)), "r"(nbytes), "r"(bar) : "memory");
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra again; }"
                 ::"r"(bar) : "memory");
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                 ::"l"(__cvta_generic_to_global(to + first / 4 * 16)), "r"(at), "r"(nbytes) : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
"""
NAMES = ("words", "bytes", "sums", "twice", "vectors", "rooms", "scaled", "above")
NBYTES = 1024
N_CONSTANTS = 16
WRITES = {"store": (False, True), "load": (True, False), "atomic": (True, True), "reduction": (True, True)}


class Lanes(TraceGenerator):
    """What each launch reads before it has written it, and writes: sets of addresses."""

    kinds = ("load", "store", "atomic", "reduction")
    spaces = ("global",)

    def __init__(self):
        super().__init__()
        self.found: dict[int, tuple[set, set]] = {}

    def event(self, event) -> None:
        reads, writes = self.found.setdefault(event.kernel.launch, (set(), set()))
        for access in event.accesses:
            does_read, does_write = WRITES[access.operation]
            each = access.addresses[access.active]
            touched = {address + k for address in each.tolist() for k in range(access.nbytes)}
            if does_read:
                reads |= touched - writes
            if does_write:
                writes |= touched


class Stream:
    """Asks a GPU for commands at random, and notes what they do."""

    def __init__(self, gpu, module, rng: random.Random):
        self.gpu, self.module, self.rng = gpu, module, rng
        self.names = (*NAMES, "bulk", "bulk") if "bulk" in module.kernels else NAMES
        self.others = [gpu.stream() for _ in range(2)]
        self.streams = [0, 0, *self.others]
        self.arrays = [gpu.device_array(NBYTES, np.uint8, name=f"a{k}") for k in range(3)]
        self.textures = [gpu.texture(array, "1d") for array in self.arrays]
        self.table = module.symbol("table", np.uint32)
        # Of each task that the host asks for: what it reads and writes; of a launch, None where its lanes tell.
        self.noted: list[tuple[set, set] | None] = []

    def step(self) -> None:
        others = (self.copy_in, self.copy_out, self.within, self.fill, self.constants, self.fetched, self.event)
        self.rng.choice((*[self.launch] * 5, *others))()

    def part(self):
        """An array's rows, aligned to a word, and their addresses."""
        array = self.rng.choice(self.arrays)
        first = 4 * self.rng.randrange(NBYTES // 4 - 1)
        end = min(first + 4 * self.rng.randrange(1, 40), NBYTES)
        return array[first:end], bytes_of(array, first, end)

    def launch(self) -> None:
        target, source = self.rng.sample(self.arrays, 2)
        n, step = self.rng.randrange(1, 60), self.rng.randrange(1, 4)
        first = self.rng.randrange(NBYTES // 4 - 1 - n * step)
        name = self.rng.choice(self.names)
        self.module[name][2, 32, self.rng.choice(self.streams)](target, source, first, step, n)
        start, nbytes = first // 4 * 16, n // 4 * 16
        bulk = bytes_of(source, 0, nbytes), bytes_of(target, start, start + nbytes)
        self.noted.append(bulk if name == "bulk" else None)

    def fetched(self) -> None:
        source, target = self.rng.sample(range(3), 2)
        n = self.rng.randrange(1, 60)
        first = self.rng.randrange(NBYTES - n)
        kernel = self.module["fetched"]
        kernel[2, 32, self.rng.choice(self.streams)](self.arrays[target], self.textures[source], first, n)
        self.noted.append((bytes_of(self.arrays[source], 3, 3 + n), bytes_of(self.arrays[target], first, first + n)))

    def event(self) -> None:
        """What is asked of one stream from now on waits for the other."""
        one, other = self.rng.sample(self.others, 2)
        event = self.gpu.event()
        event.record(one)
        event.wait(other)
        self.noted.append((set(), set()))

    def constants(self) -> None:
        self.table.copy_to_device(np.full(N_CONSTANTS, self.rng.randrange(256), np.uint32))
        self.noted.append((set(), bytes_of(self.table, 0, self.table.nbytes)))

    def copy_in(self) -> None:
        array, addresses = self.part()
        array.copy_to_device(np.full(len(array), self.rng.randrange(256), np.uint8), self.rng.choice(self.streams))
        self.noted.append((set(), addresses))

    def copy_out(self) -> None:
        array, addresses = self.part()
        array.copy_to_host()
        self.noted.append((addresses, set()))

    def within(self) -> None:
        (source, _), (target, _) = self.part(), self.part()
        n = min(len(source), len(target))
        direction = self.rng.choice(("within", "within", "in", "out"))  # of the host's side nothing is noted
        self.gpu.submit(cmd.CopyWithin(target.address, source.address, n, self.rng.choice((0, 1, 2)), direction))
        reads = bytes_of(source, 0, n) if direction != "in" else set()
        self.noted.append((reads, bytes_of(target, 0, n) if direction != "out" else set()))

    def fill(self) -> None:
        array, addresses = self.part()
        self.gpu.submit(cmd.Fill(array.address, len(array), b"\7", self.rng.choice((0, 1, 2))))
        self.noted.append((set(), addresses))


def bytes_of(array, first: int, end: int) -> set[int]:
    return set(range(array.address + first, array.address + end))


def in_order(database, stream: Stream, lanes: Lanes) -> list[tuple[int, set, set]]:
    """(task, reads, writes), as they were carried out: what a kernel launches comes behind it. The parameters of such
    launches are in memory that is freed again, which is nobody's.
    """
    rows = database.execute(
        "SELECT t.task, t.launch, m.value FROM tasks t LEFT JOIN launch_metrics m ON m.launch = t.launch AND "
        "m.metric = 'parent' ORDER BY t.task"
    ).fetchall()
    constants = bytes_of(stream.table, 0, stream.table.nbytes)
    there = constants.union(*(bytes_of(array, 0, NBYTES) for array in stream.arrays))

    def of_lanes(launch):
        return tuple(touched & there for touched in lanes.found.get(launch, (set(), set())))

    children: dict[int, list[tuple]] = {}
    for task, launch, parent in rows:
        if parent is not None:
            children.setdefault(parent, []).append((task, launch))
    found = []
    asked = [row[:2] for row in rows if row[2] is None]
    for (task, launch), noted in zip(asked, stream.noted, strict=False):  # the last waits are nobody's
        reads, writes = of_lanes(launch) if noted is None else noted
        found.append((task, reads | (constants if launch is not None else set()), writes))
        for child, its_launch in children.get(launch, ()):
            reads, writes = of_lanes(its_launch)
            found.append((child, reads | constants, writes))
    return found


def observed(folder: Path, seed: int, n_commands: int) -> tuple[Counter, Counter]:
    """Bytes by (kind, source, target), as the database has them and as the replay finds them. Every third stream is of
    a chip with bulk copies.
    """
    has_bulk = seed % 3 == 0
    (folder / "k.cu").write_text(KERNELS + BULK * has_bulk)
    rng, lanes = random.Random(seed), Lanes()
    with RecordWriter(folder / "a.gprec") as recorder:
        gpu = open_device(Settings(chip_name="h200" if has_bulk else "a100", recorder=recorder, observe=True))
        gpu.add_trace_generator(lanes)
        stream = Stream(gpu, gpu.load(folder / "k.cu"), rng)
        for _ in range(n_commands):
            stream.step()
        gpu.synchronize()
        gpu.executor.finish()
    with closing(ensure_database(folder / "a.gprec")) as db:
        expected, _ = replay(in_order(db, stream, lanes))
        rows = db.execute(
            "SELECT kind, source, target, SUM(nbytes) FROM stored_relations WHERE origin = 'observed' "
            "GROUP BY kind, source, target"
        ).fetchall()
    return Counter({tuple(row[:3]): row[3] for row in rows}), expected


@pytest.mark.parametrize("seed", long_from(1, range(4)))
def test_random_streams(tmp_path, seed):
    found, expected = observed(tmp_path, seed, 24)
    assert found == expected
    assert {kind for kind, _, _ in found} == set(NEEDS)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 115))
def test_more_random_streams(tmp_path, seed):
    found, expected = observed(tmp_path, seed, 60)
    assert found == expected


def test_constants_that_are_read_through_a_pointer_too(tmp_path):
    """All of them are noted as read anyway: one entry, not two that contradict each other."""
    (tmp_path / "k.cu").write_text(
        "__constant__ unsigned table[16];\n"
        "__global__ void both(unsigned *to, const unsigned *from) { to[threadIdx.x] = table[threadIdx.x] + *from; }\n"
    )
    with RecordWriter(tmp_path / "a.gprec") as recorder:
        gpu = open_device(Settings(recorder=recorder, observe=True))
        module = gpu.load(tmp_path / "k.cu")
        module["both"][1, 16](gpu.device_array(16, np.uint32, name="to"), module.symbol("table", np.uint32))
        gpu.executor.finish()
    with closing(ensure_database(tmp_path / "a.gprec")) as db:
        rows = db.execute(
            "SELECT p.name LIKE 'constants of %', is_write, first, end, is_exact FROM accesses_by_task "
            "JOIN parameters p USING (parameter) ORDER BY is_write"
        ).fetchall()
    assert rows == [(1, 0, 0, 64, 0), (0, 1, 0, 64, 1)]
