"""Copies from global to shared memory that pass the registers by."""

from collections.abc import Iterator

from gpuprof.isa.row import Opcode, row


def rows() -> Iterator[Opcode]:
    """a is the address in global memory, b the one in shared memory; .Z: c counts the bytes to take, zeros follow."""
    for nbytes in (4, 8, 16):
        for name, form in (("", "=A,R"), (".Z", "=A,R,R")):
            yield row(
                f"CP.ASYNC.{nbytes}{name}",
                "copy",
                form,
                "lsu",
                "memory",
                "copy_async",
                fields=("cache",),
                space="global",
                nbytes=nbytes,
            )
    yield row(
        "CP.ASYNC.COMMIT", "copy_commit", "", "none", "alu", "copy_commit"
    )  # the copies since the last one are a group
    yield row(
        "CP.ASYNC.WAIT", "copy_wait", "", "none", "alu", "copy_wait"
    )  # until only the imm newest groups are on their way
