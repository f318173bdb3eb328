"""The dimensions of a launch."""

from gpuprof.tables.table import Column, Table
from gpuprof.trace.generator import TraceGenerator
from gpuprof.trace.kernel import Kernel

LAUNCHES = Table(
    "launches",
    "dimensions of the launch",
    (
        Column("kernel", "text", "", "name as written in the source"),
        *(Column(f"grid_{axis}", "integer", "blocks", f"in {axis}") for axis in "xyz"),
        *(Column(f"block_{axis}", "integer", "threads", f"in {axis}") for axis in "xyz"),
        *(Column(f"cluster_{axis}", "integer", "blocks", f"of a cluster in {axis}") for axis in "xyz"),
        Column("blocks", "integer", "blocks", "of the grid"),
        Column("warps", "integer", "warps", "of the grid"),
        Column("threads", "integer", "threads", "of the grid"),
        Column("registers", "integer", "registers", "of a thread"),
        Column("shared_nbytes", "integer", "bytes", "of shared memory of a block, static and dynamic"),
        Column("parameter_nbytes", "integer", "bytes", "of parameters"),
        Column("instructions", "integer", "instructions", "of the kernel's own code, without called functions"),
        Column("basic_blocks", "integer", "basic blocks", "of the kernel's own code"),
    ),
)


class Dimensions(TraceGenerator):
    """Lists the dimensions of launches: grid, blocks, threads, registers, shared memory and code."""

    name = "dimensions"
    tables = (LAUNCHES,)

    def initialize(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def finish(self) -> None:
        kernel, function = self.kernel, self.kernel.function
        own = kernel.instructions[function.first : function.first + function.count]
        self.add_row(
            "launches",
            kernel.name,
            *kernel.grid,
            *kernel.block,
            *kernel.cluster,
            kernel.n_blocks,
            kernel.n_blocks * kernel.warps_per_block,
            kernel.n_blocks * kernel.threads_per_block,
            function.registers,
            kernel.shared_nbytes,
            sum(len(parameter.value) for parameter in kernel.parameters),
            len(own),
            len({instruction.basic_block for instruction in own}),
        )
