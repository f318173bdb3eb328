"""Bulk copies and tensor copies (sm_90): one lane moves up to the whole of shared memory.

Operands that do not fit into slots are in consecutive registers, as the hardware has them in uniform registers:

    BULK.*  b = destination or source in shared memory, bytes, mbarrier in shared memory, block mask or byte mask
    TMA.*   b = shared memory, mbarrier, block mask, coordinates 0 to 4; a = address of the tensor map;
            c = im2col offsets

Slots are estimates: the instruction itself and what fills the uniform registers.
"""

from collections.abc import Iterator

from gpuprof.isa.row import Opcode, row


def rows() -> Iterator[Opcode]:
    to_global = {"space": "global", "nbytes": 16, "slots": 4}
    between_blocks = {"space": "shared", "nbytes": 16, "slots": 4}
    yield row("BULK.LOAD", "bulk_load", "=A,R4", "lsu", "memory", "bulk_load", "b8", **to_global)
    yield row("BULK.STORE", "bulk_store", "=A,R4", "lsu", "store", "bulk_store", "b8", **to_global)
    yield row("BULK.PREFETCH", "bulk_prefetch", "=A,R", "lsu", "store", "bulk_prefetch", "b8", **to_global)
    # a: source in this block's shared memory
    yield row("BULK.COPY", "bulk_copy", "=A,R4", "lsu", "store", "bulk_copy", "b8", **between_blocks)
    yield row(
        "BULK.RED", "bulk_reduction", "=A,R4", "lsu", "store", "bulk_red", "b8", ("redop", "redtype"), **to_global
    )
    yield row(
        "BULK.RED.SHARED",
        "bulk_reduction_shared",
        "=A,R4",
        "lsu",
        "store",
        "bulk_red_shared",
        "b8",
        ("redop", "redtype"),
        **between_blocks,
    )
    tensor = {"space": "global", "nbytes": 16, "slots": 8}
    yield row(
        "TMA.LOAD", "bulk_load", "=A,R8,D", "lsu", "memory", "bulk_tensor_load", "b8", ("dim", "im2col"), **tensor
    )
    yield row(
        "TMA.STORE", "bulk_store", "=A,R8", "lsu", "store", "bulk_tensor_store", "b8", ("dim", "im2col"), **tensor
    )
    yield row(
        "TMA.RED",
        "bulk_reduction",
        "=A,R8",
        "lsu",
        "store",
        "bulk_tensor_red",
        "b8",
        ("dim", "im2col", "redop"),
        **tensor,
    )
    yield row(
        "TMA.PREFETCH",
        "bulk_prefetch",
        "=A,R8,D",
        "lsu",
        "store",
        "bulk_tensor_prefetch",
        "b8",
        ("dim", "im2col"),
        **tensor,
    )
    yield row("BULK.COMMIT", "bulk_commit", "", "none", "alu", "bulk_commit")
    yield row("BULK.WAIT", "bulk_wait", "", "none", "alu", "bulk_wait")  # imm: groups that may be on their way
    yield row(
        "BULK.WAIT.READ", "bulk_wait_read", "", "none", "alu", "bulk_wait_read"
    )  # until shared memory has been read
