"""Numbered names that rows without a better place refer to."""

TESTP = ("finite", "infinite", "number", "notanumber", "normal", "subnormal")

# Special registers, by the number in `imm`.
SPECIAL = (
    "tid.x", "tid.y", "tid.z", "ntid.x", "ntid.y", "ntid.z", "ctaid.x", "ctaid.y", "ctaid.z", "nctaid.x", "nctaid.y",
    "nctaid.z",
    "laneid", "warpid", "nwarpid", "smid", "nsmid", "gridid", "clock", "clock_hi", "clock64", "globaltimer",
    "globaltimer_lo",
    "globaltimer_hi", "lanemask_eq", "lanemask_lt", "lanemask_le", "lanemask_gt", "lanemask_ge", "dynamic_smem_size",
    "total_smem_size", "localbase", *(f"envreg{n}" for n in range(32)),
    "aggr_smem_size", "reserved_smem_offset_begin", "reserved_smem_offset_end", "reserved_smem_offset_cap",
    "reserved_smem_offset_0",
    "reserved_smem_offset_1", "current_graph_exec", *(f"pm{n}" for n in range(8)), *(f"pm{n}_64" for n in range(8)),
    "clusterid.x", "clusterid.y", "clusterid.z", "nclusterid.x", "nclusterid.y", "nclusterid.z", "cluster_ctaid.x",
    "cluster_ctaid.y",
    "cluster_ctaid.z", "cluster_nctaid.x", "cluster_nctaid.y", "cluster_nctaid.z", "cluster_ctarank",
    "cluster_nctarank",
    "is_explicit_cluster",
)  # fmt: skip

# Extents of the launch: words after the parameter block, which no kernel's parameters reach (CUDA 12.1 and later:
# 32764 bytes), so that instructions read them as constants, as they do on hardware. There they are just before the
# parameters: so they must not share their place in a small direct-mapped cache with the first of these, and lie 31 of
# its lines of 64 bytes further on.
LAUNCH_WORDS_AT = 0x8000 + 31 * 64
LAUNCH_WORDS = {
    name: LAUNCH_WORDS_AT + 4 * index for index, name in enumerate(("ntid.x", "ntid.y", "ntid.z", "nctaid.x",
        "nctaid.y", "nctaid.z"))
}  # fmt: skip

# 64-bit constants of the program text that no immediate can hold: `Program.literals`, after the extents. ptxas gives
# them a bank of their own, c[2]. Here they lie half way round that cache from the first parameters.
LITERALS_AT = 0x8000 + 48 * 64

# The variables in constant memory, as constant operands read them: after all literals that there may be. ptxas gives
# them a bank of their own, c[3]. Here they lie a quarter round that cache from the first parameters.
CONSTANTS_AT = 0x20000 + 8 * 64

# The variable whose address %envreg1 and %envreg2 hold, where a module has it.
GRID_WORKSPACE = "gpuprof_grid_workspace"
# The number of the system call that ends a launch because an assertion does not hold.
ASSERT_SERVICE = 4
# The number of the system call that launches a grid: what it means to timing, too.
LAUNCH_SERVICE = 6
SPECIAL_INDEX = {name: index for index, name in enumerate(SPECIAL)}
