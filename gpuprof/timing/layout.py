"""The state of a simulated GPU: record layouts, what their fields mean, and the arrays a launch needs.

Times are GPU cycles from power-on, int64. NEVER is later than any cycle. A cycle from TOKEN on is one that is not known yet: it stands
for load number `cycle - TOKEN` of the current quantum and is replaced when the quantum's memory requests are served. Ports count in
ticks, 64 to the cycle, since some are busy for a fraction of one.
"""

import numpy as np

from gpuprof.isa.opcodes import PIPES
from gpuprof.isa.stalls import INDEX

QUANTUM = 64  # cycles that an SM runs alone; less than any round trip to the L2 and than a block's launch
TICK_BITS = 6
TICKS = 1 << TICK_BITS
TOKEN = 1 << 50
NEVER = 1 << 60
N_BARRIERS = 16  # of a block
N_BUCKETS = 4096  # cycles from a quantum's start in which the L2 keeps the order of requests; what arrives later shares the last

# Ports of a partition: its pipes; "lsu" is the queue of memory instructions.
PORTS = tuple(pipe for pipe in PIPES if pipe != "tex")
PORT_INDEX = {name: index for index, name in enumerate(PORTS)}
N_PORTS = len(PORTS)
PORT_LSU, PORT_NONE = PORT_INDEX["lsu"], PORT_INDEX["none"]

# Why a warp is not ready, in order of priority. Each class has an end cycle; the class holds before it.
CLASS_WAIT, CLASS_LONG, CLASS_SHORT, CLASS_CONSTANT, CLASS_FETCH, CLASS_BRANCH = range(6)
N_CLASSES = 6
REASON_OF_CLASS = np.array(
    [INDEX[name] for name in ("wait", "long_scoreboard", "short_scoreboard", "imc_miss", "no_instructions", "branch_resolving")], np.int64
)

# A scoreboard entry packs the cycle its register is ready, the port that makes it and the class of the wait:
#
#     63                        6 5      2 1     0
#    +---------------------------+--------+-------+
#    | cycle                     | port   | class |
#    +---------------------------+--------+-------+
ENTRY_SHIFT, ENTRY_PORT_SHIFT, ENTRY_PORT_MASK, ENTRY_CLASS_MASK = 6, 2, 15, 3

# Warp states.
EMPTY, STARTING, WAITING, READY, HOLDING = range(5)

INSTRUCTION = np.dtype(
    [
        ("first_dep", "i4"),
        ("n_deps", "i4"),
        ("n_writes", "i4"),
        ("kind", "i4"),
        ("operation", "i4"),
        ("has_access", "i4"),
        ("is_local", "i4"),
        ("slots", "i4"),
        ("chain", "i4"),  # cycles between slots
        ("mixed", "i4"),  # 1: only every third slot uses the port
        ("latency", "i4"),
        ("result_class", "i4"),
        ("port", "i4"),
        ("port_ticks", "i4"),
        ("throttle", "i4"),  # reason while the port is busy
        ("bypass_l1", "i4"),
        ("constant_line", "i4"),  # 64-byte line of the constant bank, -1 none
        ("barrier", "i4"),
        ("barrier_threads", "i4"),  # 0: the whole block
        ("line", "i8"),  # instruction cache line
    ],
    align=True,
)

WARP = np.dtype(
    [
        ("state", "i4"),
        ("pc", "i4"),  # instruction it waits to issue, or that holds it
        ("block_end", "i4"),  # end of the basic block it is in
        ("slots_left", "i4"),
        ("partition", "i4"),  # of the whole GPU
        ("lane", "i4"),  # slot in its partition
        ("block_slot", "i4"),  # of the whole GPU
        ("in_block", "i4"),  # number in its block
        ("hold_reason", "i4"),
        ("barrier", "i4"),  # it waits at
        ("alias", "i4"),  # 1: a folded instruction copied a token
        ("mask", "u4"),
        ("block", "u4"),
        ("step", "i8"),  # next step, access, sector of the live trace
        ("step_end", "i8"),
        ("access", "i8"),
        ("sector", "i8"),
        ("start", "i8"),  # first resident cycle
        ("last", "i8"),  # last cycle accounted for: that of the last issue, or of the end of a hold
        ("ready", "i8"),  # first cycle without a dependency; end of a hold
        ("busy_mark", "i8"),  # busy cycles of the port it needs, at `ready`
        ("stores_done", "i8"),  # all its stores so far are acknowledged
        ("stores_quantum", "i8"),  # the last quantum in which it stored and that is not served yet, -1 none
        ("line", "i8"),  # instruction line it fetched last
    ],
    align=True,
)

PARTITION = np.dtype(
    [
        ("next_event", "i8"),
        ("next_wake", "i8"),
        ("issued", "i8"),  # last cycle with an issue
        ("address_free", "i8"),
        ("queued", "i8"),  # memory instructions so far
        ("current", "i4"),  # lane of the warp it issued from last
        ("n_ready", "i4"),
        ("sm", "i4"),
    ],
    align=True,
)

# One lane (warp slot) of a partition, as the scheduler sees it.
LANE = np.dtype([("wake", "i8"), ("age", "i8"), ("port", "i4"), ("ready", "i4")], align=True)

PORT = np.dtype([("free", "i8"), ("tick", "i8"), ("busy", "i8")], align=True)  # `free` in cycles, `tick` in ticks

SM = np.dtype(
    [
        ("next_event", "i8"),
        ("next_sample", "i8"),
        ("block_free", "i8"),  # earliest cycle a free block slot was freed, NEVER when none is free
        ("lsu_tick", "i8"),
        ("noc_tick", "i8"),
        ("active_since", "i8"),
        ("active_cycles", "i8"),
        ("l1_use", "i8"),
        ("misses", "i8"),
        ("records", "i8"),  # sample records put into its FIFO
        ("warps", "i4"),
        ("blocks", "i4"),
        ("half", "i4"),  # of the L2 it is near to
    ],
    align=True,
)

BLOCK = np.dtype([("free", "i8"), ("start", "i8"), ("index", "i8"), ("live", "i4"), ("waiting", "i4"), ("used", "i4")], align=True)

CACHE_LINE = np.dtype([("pending_until", "i8"), ("request", "i4"), ("valid", "i1"), ("pending", "i1"), ("dirty", "i1")], align=True)

READ, WRITE, ATOMIC_REQUEST, MERGE = range(4)
REQUEST = np.dtype(
    [
        ("arrival", "i8"),
        ("line", "i8"),
        ("done", "i8"),
        ("next", "i4"),  # next request of the same cycle
        ("target", "i4"),  # load it belongs to, or -1 - warp
        ("place", "i4"),  # L1 line that it fills, -1 none; for MERGE the request it waits for
        ("sm", "i4"),
        ("slot", "i4"),  # miss register
        ("kind", "i1"),
        ("sectors", "i1"),
        ("conflicts", "i1"),
    ],
    align=True,
)
LOAD_RECORD = np.dtype([("done", "i8"), ("warp", "i4"), ("pc", "i4")], align=True)

GPU = np.dtype(
    [
        ("now", "i8"),  # start of the current quantum
        ("quantum", "i8"),  # its number
        ("next_block", "i8"),  # next block to start, and one past the last that is there
        ("known_blocks", "i8"),
        ("total_blocks", "i8"),
        ("done_blocks", "i8"),
        ("first_block", "i8"),  # of the live trace
        ("distributor_tick", "i8"),
        ("ages", "i8"),
        ("max_cycle", "i8"),
        ("end_cycle", "i8"),
        ("n_requests", "i8"),
        ("n_loads", "i8"),
        ("n_blocked", "i8"),
        ("n_samples", "i8"),
        ("l2_use", "i8"),
        ("issue_slots", "i8"),
        ("resident_warp_cycles", "i8"),
        ("samples_due", "i8"),
        ("samples_dropped", "i8"),
        ("l1_sectors", "i8"),
        ("l1_hits", "i8"),
        ("l2_sectors", "i8"),
        ("l2_hits", "i8"),
        ("dram_read_sectors", "i8"),
        ("dram_write_sectors", "i8"),
        ("shared_wavefronts", "i8"),
    ],
    align=True,
)
