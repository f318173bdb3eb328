"""The numbers of a chip file: one row per number, with its unit, the range of values that make sense, and its meaning.

A cycle is one of the SM's core clock. "Per partition" is per quarter of an SM that has a scheduler of its own.
"""

from gpuprof.chips.sourced import Field

FIELDS = (
    Field("maker", "text", "", 0, 0, "the chip's maker"),
    Field("notes", "text", "", 0, 0, "the card, and how the model expresses its special parts"),
    Field("arch", "text", "", 0, 0, "architecture name, as in compiler flags"),
    Field("host", "text", "", 0, 0, "the host that it is plugged into unless --host names another"),
    # Geometry.
    Field("sms", "int", "SMs", 1, 1024, "streaming multiprocessors"),
    Field("partitions", "int", "per SM", 1, 8,
        "partitions of an SM, each with its own scheduler, pipes and warp slots"),
    Field("warp_lanes", "int", "lanes", 32, 32, "lanes of a warp"),
    Field("warp_slots", "int", "per SM", 1, 128, "warps that can be resident"),
    Field("max_blocks", "int", "per SM", 1, 64, "blocks that can be resident"),
    Field("registers", "int", "per SM", 1024, 1 << 20, "32-bit registers"),
    Field("register_granularity", "int", "per warp", 1, 4096, "a warp's registers are allocated in multiples of this"),
    Field("max_registers_per_thread", "int", "registers", 16, 255, "limit of registers per thread"),
    Field("shared_nbytes", "int", "bytes per SM", 1024, 1 << 24, "shared memory, largest carve-out"),
    Field("max_shared_nbytes_per_block", "int", "bytes", 1024, 1 << 24, "limit of shared memory per block"),
    Field("shared_granularity", "int", "bytes", 1, 4096, "a block's shared memory is allocated in multiples of this"),
    Field(
        "shared_reserved_nbytes", "int", "bytes per block", 0, 8192, "shared memory of each block that the "
        "system reserves"
    ),
    Field("max_threads_per_block", "int", "threads", 32, 2048, "limit of threads per block"),
    Field("clock_mhz", "float", "MHz", 10, 10000, "core clock"),
    # Issue.
    Field("dispatch_units", "int", "per scheduler", 1, 2,
        "instructions of the selected warp that can issue in one cycle"),
    Field("guard_cycles", "int", "cycles", 0, 64,
        "extra latency of a predicate that guards an instruction or is voted on, not selected by"),
    Field("branch_cycles", "int", "cycles", 1, 100, "from a jump to the first issue at its target"),
    Field("control_cycles", "int", "cycles", 1, 64,
        "from a branch, an exit that a guard prevents, or a place where lanes meet to the warp's next issue, at least"),
    Field("register_word_cycles", "int", "cycles", 0, 4,
        "that a bank of the register file takes to read a word of a warp; 0: reading never holds anything up"),
    Field("register_window_cycles", "int", "cycles", 1, 16,
        "from the cycle in which an instruction reaches the register file to the last in which it may read"),
    Field("meet_cycles", "int", "cycles", 1, 64, "from a place where lanes meet to the warp's next issue, at least"),
    Field("exit_cycles", "int", "cycles", 1, 64,
        "from a warp's exit until it is gone or waits for its stores, at least"),
    Field("barrier_cycles", "int", "cycles", 1, 200,
        "from the last arrival at a barrier to the first issue after it, at least"),
    Field("barrier_lsu_cycles", "float", "cycles per SM", 0.25, 32,
        "a warp's arrival at a barrier in the load/store unit, in turn with accesses to memory"),
    Field("membar_cycles", "int", "cycles", 1, 2000, "a memory barrier of a block"),
    Field("membar_l2_cycles", "int", "cycles", 1, 4000,
        "a memory barrier of the device or the system, without outstanding stores"),
    Field("sleep_cycles", "int", "cycles", 1, 100000, "a nanosleep of unknown time, in estimates of the order"),
    # Instruction fetch.
    Field("instruction_line_nbytes", "int", "bytes", 32, 512, "line of the instruction caches"),
    Field("l0i_lines", "int", "lines per partition", 1, 4096, "L0 instruction cache"),
    Field("l1i_lines", "int", "lines per SM", 1, 16384, "L1 instruction cache"),
    Field("l0i_miss_cycles", "int", "cycles", 1, 500, "fetch from the L1 instruction cache"),
    Field("l1i_miss_cycles", "int", "cycles", 1, 2000, "fetch from the L2"),
    Field("prefetch_lines", "int", "lines", 0, 32, "stream buffer: lines fetched ahead of the last one used"),
    # Tensor pipe.
    Field("mma_share", "float", "of the tensor pipe's rate", 0.05, 1, "share that mma.sync reaches; wgmma reaches all"),
    Field("f32_sum_share", "float", "of the tensor pipe's rate", 0.05, 1,
        "share that products of f16 and of f8 reach where their sums are f32"),
    # The fp64 unit that partitions share.
    Field("fp64_queue_depth", "int", "per partition", 1, 64,
        "instructions that wait for an fp64 unit that the partitions share; not used where each has its own"),
    # Constants.
    Field("constant_lines", "int", "lines per SM", 1, 4096, "constant cache, 64-byte lines"),
    Field("constant_ways", "int", "ways", 1, 64, "associativity of the constant cache"),
    Field("constant_miss_cycles", "int", "cycles", 1, 2000,
        "an operand that misses the constant cache, a hit in the next one"),
    Field("constant_load_miss_cycles", "int", "cycles", 1, 2000, "the same of a load of constants"),
    Field("constant_l15_lines", "int", "lines per SM", 1, 65536, "the second-level constant cache"),
    Field("constant_l15_ways", "int", "ways", 1, 64, "associativity of that cache"),
    Field("constant_l15_line_nbytes", "int", "bytes", 64, 1024, "a line of that cache"),
    Field("constant_cold_cycles", "int", "cycles", 1, 5000, "a parameter that misses both"),
    Field("constant_segment_cycles", "int", "cycles", 1, 5000, "a word of constant memory that misses both"),
    # Memory instructions.
    Field("mio_gap_cycles", "int", "cycles", 1, 64, "from a memory instruction to the warp's next one, at least"),
    Field("queue_depth", "int", "per partition", 1, 64, "memory instructions that wait for the address unit"),
    Field("l1_queue_depth", "int", "per partition", 1, 1024,
        "accesses to global memory that have left the address unit and wait for the load/store unit"),
    Field("mio_queue_depth", "int", "per partition", 1, 1024,
        "other memory instructions that have left the address unit and wait for the load/store unit"),
    Field("queue_hold_cycles", "int", "cycles", 0, 100, "time that a queue entry stays occupied after service"),
    Field("address_cycles", "int", "cycles per partition", 1, 32, "one memory instruction in the address unit"),
    Field("lsu_cycles", "float", "cycles per SM", 0.25, 32,
        "least time of a global access in the load/store unit, for each 4 bytes of a lane"),
    Field("shared_cycles", "float", "cycles per SM", 0.25, 32,
        "least time of an access to shared memory in the load/store unit"),
    Field("tag_pass_cycles", "float", "cycles", 0, 8,
        "a pass through the L1's four tag banks, one 128-byte line in each"),
    Field(
        "tag_lookup_cycles", "float", "cycles", 0, 8, "least time in the tag stage, per distinct line of each "
        "eight lanes"
    ),
    Field("l1_wavefront_cycles", "int", "cycles", 0, 16,
        "added latency per wavefront beyond the first, global and local"),
    Field("shared_wavefront_cycles", "int", "cycles", 0, 16, "added latency per wavefront of a bank conflict, shared"),
    Field("shared_wide_cycles", "int", "cycles", 0, 16, "added latency of 16 bytes a lane, shared"),
    Field("cluster_shared_cycles", "int", "cycles", 0, 5000,
        "load to use, from the shared memory of another block of the cluster; 0: as from the block's own"),
    Field("cluster_nbytes_per_cycle", "float", "bytes per cycle per SM", 0.5, 1024,
        "between an SM and the shared memory of others"),
    Field("copy_cycles", "int", "cycles", 0, 100, "cp.async that hits the L1: added to a load's latency"),
    Field("l1_nbytes", "int", "bytes per SM", 1024, 1 << 24, "L1 and shared memory together"),
    Field("l1_shared_pool", "int", "0 or 1", 0, 1, "1: shared memory is carved out of l1_nbytes"),
    Field("l1_ways", "int", "ways", 1, 64, "L1 associativity"),
    Field("l1_mshrs", "int", "sectors per SM", 8, 8192, "L1 misses in flight"),
    Field("noc_nbytes_per_cycle", "int", "bytes per cycle per SM", 8, 1024, "between an SM and the L2"),
    Field("l2_nbytes", "int", "bytes", 1 << 14, 1 << 31, "L2 size"),
    Field("l2_ways", "int", "ways", 1, 64, "L2 associativity"),
    Field("l2_dirty_ways", "int", "ways", 0, 64,
        "of a set, that keep changed lines; where it has more, the oldest is queued for the DRAM"),
    Field("l2_slices", "int", "slices", 1, 1024, "L2 slices"),
    Field("l2_interleave_nbytes", "int", "bytes", 128, 1 << 20,
        "neighbouring bytes that lie in one slice, a power of two"),
    Field("l2_slice_nbytes_per_cycle", "float", "bytes per cycle", 1, 1024, "throughput of one slice"),
    Field("l2_partial_request_cycles", "float", "cycles", 0, 64,
        "time of a slice for a store that writes sectors in part, beyond those of the sectors"),
    Field("l2_partial_sector_cycles", "float", "cycles per sector", 0, 64,
        "time of a slice to read, change and write back a sector that a store writes in part"),
    Field("l2_join_lines", "int", "lines", 1, 256,
        "lines of a slice to which it joins stores that write sectors in part, before it reads, changes and writes"
        " back what they have left out"),
    Field("l2_fill_cycles", "float", "cycles", 0, 64,
        "time of a slice to evict a line of whose sectors the DRAM gives what stores have left out"),
    Field("l2_fetch_nbytes", "int", "bytes", 32, 128,
        "what a miss fetches of the DRAM, aligned, a power of two: 32 is only the sector"),
    Field("l2_near_cycles", "int", "cycles", 64, 2000, "load to use, L2 hit in the SM's own half"),
    Field("l2_far_cycles", "int", "cycles", 64, 4000,
        "load to use, L2 hit in the other half; as l2_near_cycles when there is one half"),
    Field("l2_spread_cycles", "int", "cycles", 0, 1000,
        "the farthest SM is as much further from the L2 than the nearest"),
    Field("l2_store_cycles", "int", "cycles", 64, 4000,
        "from the issue of a store to its acknowledgement, which fences wait for"),
    Field("store_drain_cycles", "int", "cycles", 64, 4000,
        "from the issue of a store until its warp may end"),
    Field("atomic_cycles", "float", "cycles", 0.1, 64,
        "L2 atomic unit: one lane's operation where several are on one address"),
    Field("atomic_float_cycles", "float", "cycles", 0.1, 64,
        "the same of a float's operation"),
    Field("atomic_sector_cycles", "float", "cycles per sector", 0.1, 64,
        "L2 atomic unit: 32 bytes of lanes' operations on the words of a sector"),
    Field("poll_cycles", "float", "cycles per sector", 0.1, 64,
        "a load of a loop that waits for a word, in its slice of the L2"),
    Field("cas_passes", "int", "passes", 1, 16,
        "time of a compare-and-swap in the atomic units, shared and L2, in units of other atomics"),
    Field("tlb_entries", "int", "per SM", 0, 1024,
        "translations in the TLB of an SM, after its L1; 0: unknown, misses cost nothing"),
    Field("tlb_page_nbytes", "int", "bytes", 4096, 1 << 34, "memory that one translation covers, a power of two"),
    Field("tlb_miss_cycles", "int", "cycles", 0, 5000, "added latency of a miss in the TLB of an SM"),
    Field("l2_tlb_entries", "int", "translations", 0, 65536,
        "translations in the TLB of all SMs; 0: unknown, misses cost nothing"),
    Field("l2_tlb_page_nbytes", "int", "bytes", 4096, 1 << 38, "memory that one translation covers, a power of two"),
    Field(
        "l2_tlb_miss_cycles", "int", "cycles", 0, 50000, "added latency of a page table walk, beyond "
        "tlb_miss_cycles"
    ),
    Field("dram_channels", "int", "channels", 1, 256, "DRAM channels"),
    Field("dram_interleave_nbytes", "int", "bytes", 128, 1 << 20,
        "neighbouring bytes that lie in one channel, a power of two"),
    Field("memory_nbytes", "int", "bytes", 1 << 20, 1 << 44,
        "device memory, that of the card's name; programs cannot allocate more"),
    Field("dram_gbytes_per_s", "float", "10^9 bytes per second", 1, 100000, "DRAM throughput that programs reach"),
    Field("dram_cycles", "int", "cycles", 64, 5000, "load to use, L2 miss, of a row that must be opened"),
    Field("dram_banks", "int", "per channel", 1, 1024, "DRAM banks, of all pseudo-channels of a channel together"),
    Field("dram_masks_writes", "int", "0 or 1", 0, 1,
        "1: the DRAM writes single bytes of a sector; 0: a sector written in part is read before it is written back"),
    Field("dram_masked_line_sectors", "float", "sectors", 0, 8,
        "added time on the bus to write a line with masks, in units of a sector's transfer"),
    Field("dram_row_nbytes", "int", "bytes", 128, 65536, "row of a bank"),
    Field("dram_row_cycle_ns", "float", "ns", 1, 1000, "from opening a row of a bank to opening another (tRC)"),
    Field("dram_activate_ns", "float", "ns", 0, 1000,
        "from opening a row of a channel to opening another, of any bank (a quarter of tFAW, of all pseudo-channels)"),
    Field("dram_row_open_ns", "float", "ns", 0, 1000,
        "closing a row and opening another; an access to an open row saves this (tRP + tRCD)"),
    Field("dram_posted_sectors", "int", "sectors per channel", 1, 1 << 20,
        "sectors that wait for a channel and for which no warp waits, before the L2's slices wait for room"),
    Field("dram_turn_ns", "float", "ns", 0, 1000,
        "a channel's bus turns from reading to writing and back, once for each 64 sectors written among reads"),
    # Launch.
    Field("launch_cycles", "int", "cycles", 64, 100000,
        "from the end of a launch's predecessors, or the host's request, to its first block's turn"),
    Field("grid_overhead_cycles", "int", "cycles", 0, 50000,
        "the cycles of a launch besides its blocks: the front end before the first block, and the end; they overlap "
        "launch_cycles where launches follow each other"),
    Field("graph_node_cycles", "int", "cycles", 64, 100000,
        "launch_cycles of a node of a graph that was launched as a whole"),
    Field("max_active_grids", "int", "grids", 1, 1024,
        "grids that can have running blocks or blocks waiting for room; further grids are pending"),
    Field("block_launch_cycles", "int", "cycles", 64, 5000,
        "from a block's resources being free to the next block's first issue"),
    Field(
        "distributor_cycles", "float", "cycles per block", 0.05, 100, "time of the work distributor to start a "
        "block"
    ),
    # Sampler.
    Field(
        "sampler_drain_cycles", "int", "cycles per record", 1, 10000, "time of an SM's FIFO to release a sample "
        "record"
    ),
)  # fmt: skip

BY_NAME = {field.name: field for field in FIELDS}

# Lanes of each pipe, per partition: a warp instruction occupies the pipe for 32 / lanes cycles. `imad` is not a pipe of
# its own: it is the number of lanes of the `fma` pipe that multiply integers.
LANES = ("alu", "fma", "imad", "fp64", "half", "xu", "uniform", "cbu")
LANES_FIELD = Field(
    "lanes", "float", "lanes per partition", 0.25, 64, "width of a pipe; less than one where partitions share a unit"
)

# Cycles from an instruction's last issue slot to the first issue of one that uses its result, by the table's latency
# class.
LATENCIES = (
    "alu", "fma", "imad", "imad_hi", "fp64", "half", "xu", "conversion", "s2r", "vote", "division", "iterative",
    "iterative64",
    "shuffle", "memory", "shared", "constant", "atomic", "atomic_shared", "texture", "tensor", "tensor_long",
    "tensor64",
)  # fmt: skip
LATENCY_FIELD = Field("latency", "int", "cycles", 1, 4000, "result latency")

# Cycles that a result of fixed latency takes beyond it, by its reader (a pipe, a memory instruction's data or address),
# for some by maker and reader.
BYPASSES = (
    "math", "half", "fp64", "xu", "memory", "tensor", "half_to_half", "half_to_math", "half_to_xu", "half_to_memory",
    "fp64_to_math", "fp64_to_memory",
    "tensor_to_math", "tensor_to_memory", "high_to_high",
)  # fmt: skip
BYPASS_FIELD = Field("bypass", "int", "cycles", -8, 8, "added latency to a reader of another kind")

# Cycles from the first arrival at a barrier to the first issue after it, when this number of warps of a block arrive as
# fast as they can.
BARRIERS = ("warps_1", "warps_2", "warps_4", "warps_8", "warps_16")
BARRIER_FIELD = Field("barrier", "float", "cycles", 1, 500, "round of a barrier")

# Cycles between the issue slots of an instruction that takes several; "other" is for the classes not named.
CHAINS = ("other", "division", "iterative", "iterative64", "atomic_shared")
CHAIN_FIELD = Field("chain", "int", "cycles", 1, 100, "distance between issue slots of one instruction")

# Multiply-adds of the tensor pipe by the kind of elements (isa.families.tensor): a shape takes as long as its products
# need at that rate.
TENSOR = ("f16", "tf32", "f8", "s8", "s4", "b1", "f64")
TENSOR_FIELD = Field("tensor", "int", "multiply-adds per cycle per partition", 1, 1 << 16, "rate of the tensor pipe")

# The fixed-function units of a graphics pipeline, all of them together: rates, and the places of the buffers between
# them. A wave is at most 32 pixels that are shaded as one warp; a batch is at most 32 such vertices, and from assembly
# on at most 32 primitives.
GRAPHICS = (
    Field("draw_cycles", "float", "cycles", 0, 100000, "time of the command processor to begin a draw"),
    Field("state_cycles", "float", "cycles", 0, 100000, "time of the command processor for a change of state"),
    Field("indices_per_cycle", "float", "indices per cycle", 0.01, 1024, "index fetch, with the search for reuse"),
    Field("tessellated_vertices_per_cycle", "float", "vertices per cycle", 0.01, 1024, "tessellation of patches"),
    Field("primitives_per_cycle", "float", "primitives per cycle", 0.01, 1024, "assembly, clipping and culling"),
    Field("triangles_per_cycle", "float", "triangles per cycle", 0.01, 1024, "set-up of triangles that are drawn"),
    Field("tiles_per_cycle", "float", "tiles per cycle", 0.01, 1024, "tiles that the scan looks at"),
    Field("pixels_per_cycle", "float", "pixels per cycle", 0.01, 65536, "pixels of quads that the scan brings"),
    Field("depth_samples_per_cycle", "float", "samples per cycle", 0.01, 65536, "depth and stencil tests"),
    Field("depth_nbytes_per_cycle", "float", "bytes per cycle", 0.01, 1 << 20, "depths and stencils read and written"),
    Field("color_pixels_per_cycle", "float", "pixels per cycle", 0.01, 65536, "colors written, or blended"),
    Field("color_nbytes_per_cycle", "float", "bytes per cycle", 0.01, 1 << 20, "colors read and written"),
    Field("batches_in_flight", "int", "batches", 1, 65536, "from index fetch to assembly: being shaded, or waiting"),
    Field("control_points_in_flight", "int", "points", 32, 1 << 24, "from the vertex shader to tessellation"),
    Field("tessellated_vertices_in_flight", "int", "vertices", 32, 1 << 24, "from tessellation to assembly"),
    Field("emitted_vertices_in_flight", "int", "vertices", 32, 1 << 24, "of geometry shaders, to assembly"),
    Field("assembled_batches", "int", "batches", 1, 65536, "from assembly to set-up"),
    Field("set_up_batches", "int", "batches", 1, 65536, "from set-up to the scan"),
    Field("scanned_waves", "int", "waves", 1, 65536, "from the scan to depth tests"),
    Field("waves_in_flight", "int", "waves", 1, 65536, "from depth tests to the write: being shaded, or waiting"),
    Field("writes_in_flight", "int", "waves", 1, 65536, "from the write to the answer of L2 or DRAM"),
)  # fmt: skip

TABLES = {
    "lanes": (LANES, LANES_FIELD),
    "latency": (LATENCIES, LATENCY_FIELD),
    "bypass": (BYPASSES, BYPASS_FIELD),
    "barrier": (BARRIERS, BARRIER_FIELD),
    "chain": (CHAINS, CHAIN_FIELD),
    "tensor": (TENSOR, TENSOR_FIELD),
}

# Tables that a chip may lack: it has no such units then.
OPTIONAL_TABLES = {"graphics": GRAPHICS}
