"""The topics of advice, and what other tools say about the same."""

from typing import NamedTuple


class Topic(NamedTuple):
    """text: what the advice is. ncu: the rules of Nsight Compute that are about the same; others: those of GPA, DrGPU
    and GPUscout.
    """

    text: str
    ncu: str
    others: str


TOPICS = {
    "coalesce": Topic("Neighbouring threads touch neighbouring addresses.", "Uncoalesced Global Accesses",
        "GPUscout: non-coalesced access; DrGPU: transactions per request"),
    "vectorize": Topic("Each thread takes several elements with one access.", "-", "GPUscout: vectorised load"),
    "shared_tiling": Topic("What several warps read again and again goes through shared memory.",
        "L1/TEX hit rate, by hand", "GPUscout: use shared memory; DrGPU: L1 miss rate"),
    "locality": Topic("What is read again is read soon, or stays.", "L2 Hit Rate, by hand", "DrGPU: L2 miss rate"),
    "redundant_threads": Topic("Threads share what each of them computes.", "-", "-"),
    "constant_serial": Topic("Lanes that read different constants read them from elsewhere.",
        "Stall: IMC Miss", "DrGPU: constant cache miss"),
    "fences": Topic("Fewer or narrower fences.", "Stall: Membar", "GPA: memory throttle"),
    "bank_conflicts": Topic("Another layout of an array in shared memory.", "Shared Memory Bank Conflicts",
        "DrGPU: bank conflicts"),
    "atomics": Topic("Add up in registers, warp and block before memory.", "Uncoalesced Atomics",
        "GPUscout: use shared atomics"),
    "warp_shuffle": Topic("A reduction by shuffles instead of barriers.", "Stall: Barrier",
        "GPA: warp balance"),
    "barriers": Topic("Fewer or narrower barriers.", "Stall: Barrier", "GPA: warp balance"),
    "register_blocking": Topic("Several results a thread, whose operands stay in registers.",
        "Stall: MIO Throttle", "-"),
    "tensor_cores": Topic("Products of small types on the tensor pipe.", "Tensor pipe, by hand", "-"),
    "divergence": Topic("Lanes of a warp go the same way.", "Thread Divergence",
        "GPA: branch elimination; DrGPU: divergence"),
    "f64": Topic("Single precision where it is enough.", "FP64 Non-Fused, FP32/64 roofline",
        "GPUscout: datatype conversion; GPA: strength reduction"),
    "costly_instructions": Topic("Divisions and functions leave the loop, or become cheaper.",
        "High Pipe Utilisation", "GPA: strength reduction, fast math"),
    "spills": Topic("More registers, or fewer values alive.", "Local Memory Spilling",
        "GPUscout: register spilling; GPA: register reuse"),
    "local_arrays": Topic("Arrays indexed at run time leave local memory.", "Local Memory Usage",
        "GPUscout: local memory"),
    "independent_work": Topic("More loads in flight.", "Stall: Long Scoreboard",
        "GPA: loop unrolling, code reordering; DrGPU: memory dependency"),
    "async_copy": Topic("Copies to shared memory overlap with work.", "Stall: Long Scoreboard",
        "GPUscout: use async copy"),
    "occupancy": Topic("Registers, shared memory or the block's size leave room for more warps.",
        "Theoretical Occupancy", "GPA: occupancy increase, thread increase; DrGPU: occupancy"),
    "more_blocks": Topic("More blocks, each with less work.", "Launch: small grid", "GPA: block increase"),
    "tail": Topic("Blocks fill whole waves.", "Launch: tail effect", "-"),
    "load_balance": Topic("Blocks of equal length.", "Workload imbalance", "GPA: warp balance; DrGPU: load imbalance"),
    "launches": Topic("One launch instead of many.", "-", "-"),
}  # fmt: skip

# Topics of these tools that no rule here is about, and why.
NOT_HERE = {
    "Nsight Compute: FP32 Non-Fused": "the compiler contracts multiplications and sums unless an option forbids it",
    "Nsight Compute: SlowPipeLimiter": "`gpuprof whatif --only twice` measures each unit",
    "Nsight Compute: texture and surface access": "their accesses count as those of global memory",
    "Nsight Compute: NVLink, PCIe topology": "the model has one GPU",
    "GPA: function inlining": "the compilers inline every function that they can",
    "GPA: function splitting": "instruction fetch is modelled; `no_instructions` stalls say where it is slow",
    "GPUscout: read-only cache, texture memory": "since Volta both are the L1: plain loads take the same time",
}
