"""PTX that Triton makes of kernels/rows.py and kernels/attention.py, stored in kernels/: for the arguments and warps of
the launches that were measured. `python -m tests.silicon.triton_ptx` compiles it again.
"""

import re
from importlib import import_module
from typing import NamedTuple

from tests.silicon.run import KERNELS
from tests.support.stored_ptx import Stored, made_by_triton

TRITON = {"f32": "*fp32", "f16": "*fp16", "bf16": "*bf16"}
ATTENDED = (("q", "=random"), ("k", "=random"), ("v", "=random"), ("out", ""))
MAPS_NBYTES = 512  # of device memory, for the four maps of a program
FILL_BLOCK = 4096  # elements of 4 bytes that a block of `fill` writes
FILL = Stored("fill", "", (("*i32", ""),), print, {"BLOCK": FILL_BLOCK})  # the launch before a measured one


class Attention(NamedTuple):
    """The kernel of kernels/attention.py, for heads of so many rows and keys."""

    arch: int
    heads: int
    length: int
    width: int
    block: int
    kernel: str = "attention"
    source: str = "attention"

    @property
    def file(self) -> str:
        return f"attention_{self.heads}_{self.length}_{self.width}_sm{self.arch}.ptx"

    def stored(self) -> Stored:
        numbers = (self.heads, self.length, self.width, self.length)
        given = (*((TRITON["f16"], ""),) * 4, *(("i32", str(number)) for number in numbers), ("fp32", ""))
        constants = {"M": self.block, "N": self.block, "WIDTH": self.width}
        return Stored(self.kernel, "", given, print, constants, options={"num_warps": 4, "num_stages": 3})

    def launch(self) -> str:
        matrices = [f"{name}: f16[{self.heads},{self.length},{self.width}]{start}" for name, start in ATTENDED]
        grid = self.length // self.block, self.heads
        maps = f"u8[{grid[0] * grid[1] * MAPS_NBYTES}]"
        numbers = [self.heads, self.length, self.width, self.length, self.width**-0.5, maps, "null"]
        arguments = ", ".join(map(str, [*matrices, *numbers]))
        return f"attention<<<{grid}, 128, {shared_nbytes(self.file)}>>>({arguments})"


class Rows(NamedTuple):
    """A kernel of kernels/rows.py for rows of `n` elements; a `wide` row has twice as many in the matrix it reads.
    `arguments` are those after the two matrices and their pitches: "n", a number, or an array's shape.
    """

    kernel: str
    arch: int
    element: str
    n: int
    warps: int
    arguments: tuple[str, ...] = ("n",)
    wide: bool = False
    n_is_constant: bool = False
    source: str = "rows"

    @property
    def file(self) -> str:
        return f"{self.kernel}_{self.n}_{self.element}_sm{self.arch}.ptx"

    def stored(self) -> Stored:
        """The request to the compiler."""
        given: list[tuple[str, str]] = []
        for pitch in (self.n, self.pitch):
            given += [(TRITON[self.element], ""), ("i32", str(pitch))]
        for argument in self.arguments:
            if argument == "n":
                given += [] if self.n_is_constant else [("i32", str(self.n))]
            elif "[" in argument:
                given += [(TRITON[argument.partition("[")[0]], "")]
            else:
                given += [("fp32", argument)]
        constants = {"B": self.n} | ({"n": self.n} if self.n_is_constant else {})
        return Stored(self.kernel, "", tuple(given), print, constants, options={"num_warps": self.warps})

    @property
    def pitch(self) -> int:
        return 2 * self.n if self.wide else self.n

    def launch(self, rows: int) -> str:
        """The launch for so many rows, a block each."""
        matrices = f"{self.element}[{rows},{self.n}], {self.n}, {self.element}[{rows},{self.pitch}]=ones, {self.pitch}"
        texts = [str(self.n) if text == "n" else text.format(rows=rows, n=self.n) for text in self.arguments]
        rest = [] if self.n_is_constant else texts
        arguments = ", ".join([matrices, *rest, "null", "null"])
        return f"{self.kernel}<<<{rows}, {32 * self.warps}, {shared_nbytes(self.file)}>>>({arguments})"


def norm(arch: int, kernel: str, element: str, n: int, warps: int, statistics: int, *numbers: str) -> Rows:
    """`statistics`: arrays of a number a row that it writes; a layer norm has as many arrays of weights."""
    weights = (f"{element}[{{n}}]=ones",) * statistics
    return Rows(kernel, arch, element, n, warps, (*weights, *("f32[{rows}]",) * statistics, "n", *numbers))


ATTENTION = Attention(120, 12, 128, 64, 32)
ROWS = {
    rows.file: rows
    for rows in (
        norm(80, "layer_norm", "f32", 1024, 4, 2, "1e-6"),
        norm(80, "layer_norm", "f32", 4096, 8, 2, "1e-6"),
        norm(80, "layer_norm", "f32", 16384, 16, 2, "1e-6"),
        norm(80, "rms_norm", "bf16", 4096, 8, 1, "1e-6", "0.0"),
        norm(80, "rms_norm", "bf16", 16384, 16, 1, "1e-6", "0.0"),
        Rows("softmax", 86, "f32", 1024, 4),
        Rows("softmax", 86, "bf16", 1024, 4),
        Rows("softmax", 86, "f32", 4096, 8),
        Rows("softmax", 86, "bf16", 4096, 8),
        norm(90, "layer_norm_of_any", "f32", 1024, 4, 2, "1e-6"),
        norm(90, "layer_norm_of_any", "f32", 4096, 8, 2, "1e-6"),
        norm(90, "layer_norm_of_any", "f32", 16384, 16, 2, "1e-6"),
        Rows("relu_squared", 90, "bf16", 1024, 4, n_is_constant=True),
        Rows("relu_squared", 90, "bf16", 4096, 8, n_is_constant=True),
        Rows("relu_squared", 90, "bf16", 16384, 16, n_is_constant=True),
        norm(90, "rms_norm", "bf16", 4096, 8, 1, "1e-6", "0.0"),
        norm(90, "rms_norm", "bf16", 16384, 16, 1, "1e-6", "0.0"),
        Rows("swiglu", 90, "bf16", 1024, 4, wide=True, n_is_constant=True),
        Rows("swiglu", 90, "bf16", 4096, 8, wide=True, n_is_constant=True),
        Rows("swiglu", 90, "bf16", 16384, 16, wide=True, n_is_constant=True),
    )
}
FILES: dict[str, Rows | Attention] = {ATTENTION.file: ATTENTION, **ROWS}


def compiled(name: str) -> str:
    """The text of a file, compiled again: its kernel, and those that come between. Its first line has the bytes of
    shared memory that a launch asks for. Needs Triton.
    """
    from gpuprof.interop.numba_runtime import linked
    from tests.silicon.kernels import rows

    asked = FILES[name]
    kernels = import_module(f"tests.silicon.kernels.{asked.source}")
    made = made_by_triton(getattr(kernels, asked.kernel), asked.stored(), asked.arch)
    fill = linked(["", made_by_triton(rows.fill, FILL, asked.arch).asm["ptx"]], [], str)
    return f"// shared memory: {made.metadata.shared} bytes\n{_plain(made.asm['ptx'])}{_plain(fill)}"


def _plain(ptx: str) -> str:
    """Without comments and lines of a source, which name this machine's folders."""
    text = re.sub(r"^\s*\.section\s+\.debug_\w+\s*\{.*?\}\n?", "", ptx, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^\s*\.(file|loc)\b.*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"[ \t]*//.*$", "", text, flags=re.MULTILINE)
    return re.sub(r"\n\s*\n+", "\n", text).strip() + "\n"


def shared_nbytes(name: str) -> int:
    """Bytes of shared memory that a launch of a stored file's kernel asks for."""
    with (KERNELS / name).open() as file:
        return int(re.search(r"\d+", file.readline())[0])


def main() -> None:
    for name in FILES:
        (KERNELS / name).write_text(compiled(name))


if __name__ == "__main__":
    main()
