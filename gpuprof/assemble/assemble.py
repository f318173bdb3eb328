"""PTX to a program: the order of the stages, and the linking of functions into one code array.

Functions are assembled one after the other, so that the instructions of only one are in memory at a time; those that
call others wait until all are known.
"""

import math
from dataclasses import replace

import numpy as np

from gpuprof.assemble.abi.device_runtime import with_device_runtime, with_workspace
from gpuprof.assemble.abi.layout import Layout
from gpuprof.assemble.abi.limits import check_variables
from gpuprof.assemble.abi.params import kernel_params
from gpuprof.assemble.assembled import Assembled, Registers, assembled
from gpuprof.assemble.debug_registers import DebugRegisters
from gpuprof.assemble.function_cache import FunctionCache
from gpuprof.assemble.ir import cfg
from gpuprof.assemble.ir.body import Body, Clobbers
from gpuprof.assemble.ir.callgraph import bottom_up
from gpuprof.assemble.lower.lowering import check_supported, lower_function
from gpuprof.assemble.object.encode import MOVI64, drop_branches_to_next, drop_identity_moves
from gpuprof.assemble.optimize.pipeline import optimize
from gpuprof.assemble.ptx import ast
from gpuprof.assemble.ptx.parse import parse
from gpuprof.assemble.registers.allocate import LIMITS, RESERVED_WORDS, Allocation
from gpuprof.assemble.registers.fit import MOST_REGISTERS, fit
from gpuprof.assemble.registers.spill import DoesNotFit
from gpuprof.assemble.warpgroups import hazards_of
from gpuprof.base.stages import counted
from gpuprof.errors import PtxError
from gpuprof.isa.encoding import INSTRUCTION_DTYPE, INSTRUCTION_NBYTES
from gpuprof.isa.facts import RegisterHazard
from gpuprof.isa.kinds import CALLS
from gpuprof.isa.modifiers import FIELDS
from gpuprof.isa.program import Function, Location, Param, Program, Relocation
from gpuprof.isa.special import CONSTANTS_AT, LITERALS_AT

_FEWEST_REGISTERS = 16
_FEWEST_WITH_CALLS = 24  # ptxas 13.0, sm_75 and later: its lower bound for a kernel that calls
_REGISTER_FILE = 65536  # 32-bit registers of an SM, every chip since Kepler
_MOST_THREADS = (1 << 63) - 1  # of a block: what a gpubin can hold; .maxntid may say more
_CONST = FIELDS["const"].put(1)


def assemble_program(
    module,
    *,
    max_registers: int | None = None,
    debug_registers: DebugRegisters | None = None,
    cache: FunctionCache | None = None,
) -> Program:
    """A `compile.PtxModule` as a program. `max_registers` limits the 32-bit registers of each kernel; what does not fit
    is spilled. `debug_registers`: gets the places of the PTX's registers. `cache`: functions that are there are not
    assembled again, with the same result.

    Raises PtxError (place in the text) and UnsupportedInstruction (all such instructions, before anything runs).
    """
    tree = with_device_runtime(with_workspace(parse(module.ptx, module.name), module.ptx))
    check_variables(tree)
    layout = Layout(tree)
    if debug_registers is not None:
        debug_registers.shared = layout.shared_offsets
        cache = None  # it has no bodies, and they have the places
    functions = _Functions(module, tree, layout, max_registers, debug_registers, cache)
    functions.assemble()
    return _linked(module, tree, functions)


def _most_threads(function: ast.Function) -> int:
    """Threads of a block, as .maxntid or else .reqntid bounds them; 0 when neither is given."""
    extents = function.directives.get("maxntid") or function.directives.get("reqntid") or ()
    return min(math.prod(extents), _MOST_THREADS) if extents else 0


class _Functions:
    """Assembles functions bottom-up. `made`: those that have their code, in the end in the order of the PTX text."""

    def __init__(
        self,
        module,
        tree: ast.Module,
        layout: Layout,
        max_registers: int | None,
        debug_registers: DebugRegisters | None,
        cache: FunctionCache | None,
    ):
        self.module, self.tree, self.layout = module, tree, layout
        self.max_registers, self.debug_registers, self.cache = max_registers, debug_registers, cache
        self.made: dict[str, Assembled] = {}
        self.params: dict[str, tuple[Param, ...]] = {}
        self.hazards: dict[str, list[RegisterHazard]] = {}
        self.unsupported: list[str] = []
        self.indirect: set[str] = set()
        self.recursive: set[str] = set()
        self.counts: dict[str, Registers] = {}  # callees included
        self.local_nbytes: dict[str, int] = {}
        self.barriers: dict[str, int] = {}

    def assemble(self) -> None:
        """Raises PtxError and UnsupportedInstruction."""
        names = [function.name for function in self.tree.functions if function.body]
        waiting: dict[str, Body] = {}  # those that call others
        errors: dict[str, PtxError] = {}
        for name in counted(names, "optimizing", "functions"):
            function = self.layout.functions[name]
            if function.is_kernel:
                self.params[name] = self._params(function)
            if self._was_made(function):
                if not self._calls(self.made[name]):
                    function.body = ast.Block()  # its statements are not needed again
                continue
            body = lower_function(function, self.layout, self.unsupported)
            if self.unsupported:
                continue  # to name the others, too
            self._optimize(body)
            if self._calls(body):
                waiting[name] = body
                continue
            function.body = ast.Block()
            try:
                self._finish(body, {})
            except PtxError as error:
                errors[name] = error
                self.made[name] = body
        check_supported(self.unsupported)
        self._order(names, waiting, errors)

    def _order(self, names: list[str], waiting: dict[str, Body], errors: dict[str, PtxError]) -> None:
        """Finishes those that call others, after what they call."""
        known = {name: waiting.get(name) or self.made[name] for name in names}
        self.indirect = set().union(*(each.symbols for each in known.values())) & known.keys()
        self.indirect |= self.layout.addressed & known.keys()
        order, self.recursive = bottom_up(known, self.indirect)
        for name in order:
            if name in errors:
                raise errors[name]
            counted_on = self._counted_on(known[name])
            if name not in waiting and counted_on != self.made[name].counted_on:
                # The callees take other registers than when it was cached.
                waiting[name] = lower_function(self.layout.functions[name], self.layout, self.unsupported)
                self._optimize(waiting[name])
            if name in waiting:
                self._finish(waiting.pop(name), counted_on)
            self._count(name)
        self.made = {name: self.made[name] for name in names}

    def _params(self, function: ast.Function) -> tuple[Param, ...]:
        offsets = self.layout.param_offsets.get(function.name, {})
        cpp_types = tuple(getattr(self.module, "param_types", {}).get(function.name, ()))
        return kernel_params(function, offsets, cpp_types)

    def _was_made(self, function: ast.Function) -> bool:
        if self.cache is None:
            return False
        found = self.cache.find(function, self.layout, self._register_limit(function), self._is_wanted(function))
        if found is not None:
            self.made[function.name] = found
        return found is not None

    @staticmethod
    def _calls(function: Assembled | Body) -> bool:
        return bool(function.callees) or function.indirect_calls

    def _optimize(self, body: Body) -> None:
        body.constants_nbytes = self.layout.constants_nbytes
        cfg.build(body)
        self.hazards[body.name] = hazards_of(body)
        if self.debug_registers is not None:
            self.debug_registers.lowered(body)
        optimize(body, self.tree.is_debug)

    def _finish(self, body: Body, counted_on: dict[str, Clobbers]) -> None:
        """Allocates registers and encodes."""
        function = self.layout.functions[body.name]
        if counted_on:
            for inst in body.instructions():
                if inst.op.kind in CALLS:
                    inst.clobbers = counted_on[inst.target]
        allocation = self._allocate(body, function)
        if self.debug_registers is not None:
            self.debug_registers.allocated(body, allocation)
        drop_identity_moves(body, allocation)
        drop_branches_to_next(body)
        if self.debug_registers is not None:
            self.debug_registers.laid_out(body)
        made = self.made[body.name] = assembled(body, function, allocation, counted_on)
        if self.cache is not None and not self.hazards[body.name]:
            self.cache.keep(function, made)

    def _counted_on(self, function: Assembled | Body) -> dict[str, Clobbers]:
        """The registers that its calls may overwrite, by callee; "" for calls of an address."""
        found = {callee: self._clobbers([callee]) for callee in sorted(function.callees)}
        if function.indirect_calls:
            found[""] = self._clobbers(sorted(self.indirect))
        return found

    def _count(self, name: str) -> None:
        """Adds up a function and its callees."""
        made, callees = self.made[name], self._callees(name)
        known = [self.counts[callee] for callee in callees if callee in self.counts]
        self.counts[name] = Registers(*(max(column) for column in zip(made.registers, *known, strict=True)))
        deepest = max((self.local_nbytes.get(callee, 0) for callee in callees), default=0)
        self.local_nbytes[name] = made.frame_nbytes + deepest
        self.barriers[name] = max([made.barriers, *(self.barriers.get(callee, 0) for callee in callees)])

    def _callees(self, name: str) -> list[str]:
        made = self.made[name]
        return sorted({*made.callees} | (self.indirect if made.indirect_calls else set()))

    def _clobbers(self, targets: list[str]) -> Clobbers:
        """Registers a call may overwrite; all of them while a recursive function's own count is not known."""
        if any(target in self.recursive for target in targets):
            return Clobbers(LIMITS["R"], LIMITS["P"])
        return Clobbers(
            *(max((getattr(self.counts[t], count) for t in targets), default=0) for count in ("words", "p"))
        )

    def _allocate(self, body: Body, function: ast.Function) -> Allocation:
        limit = max(self._register_limit(function), min(body.raised_registers, MOST_REGISTERS))
        try:
            return fit(body, limit, bool(body.raised_registers) or self._is_wanted(function))
        except DoesNotFit:
            message = f"function {body.name} does not fit into {limit} registers; raise --max-registers"
            raise PtxError(message, self.module.name, function.line, 1) from None

    def _is_wanted(self, function: ast.Function) -> bool:
        """True if the user chose the limit of registers."""
        given = function.directives
        return bool(self.max_registers or given.get("maxnreg")) or (given.get("minnctapersm") or (1,))[0] > 1

    def _register_limit(self, function: ast.Function) -> int:
        """The tightest of the caller's limit, .maxnreg, and what .maxntid blocks of .minnctapersm leave of the register
        file.
        """
        limits = [MOST_REGISTERS, *(function.directives.get("maxnreg") or ())]
        if self.max_registers:
            limits.append(self.max_registers)
        if threads := _most_threads(function):
            blocks = (function.directives.get("minnctapersm") or (1,))[0]
            warps = -(-threads // 32) * max(blocks, 1)
            limits.append(max(_REGISTER_FILE // (max(warps, 1) * 32) // 8 * 8, _FEWEST_REGISTERS))
        return min(limits)

    def record(self, name: str, first: int) -> Function:
        tree = self.layout.functions[name]
        counts = self.counts[name]
        required = tree.directives.get("reqntid")
        cluster = tree.directives.get("reqnctapercluster")
        return Function(
            name=name,
            display=self.module.display.get(name, name),
            first=first,
            count=len(self.made[name].code),
            is_kernel=tree.is_kernel,
            params=self.params.get(name, ()),
            registers=self._registers(name),
            raised_registers=self.made[name].raised_registers,
            r_count=counts.r,
            d_count=counts.d,
            p_count=counts.p,
            shared_nbytes=self.layout.shared_nbytes[name],
            local_nbytes=0 if self._recurses(name) else self.local_nbytes[name],
            spill_nbytes=self.made[name].spill_nbytes,
            barriers=self.barriers[name],
            max_threads=_most_threads(tree),
            required_threads=(*required, 1, 1, 1)[:3] if required else None,
            min_blocks=(tree.directives.get("minnctapersm") or (0,))[0],
            required_cluster=(*cluster, 1, 1, 1)[:3] if cluster else None,
            max_cluster=(tree.directives.get("maxclusterrank") or (0,))[0],
            explicit_cluster="explicitcluster" in tree.directives,
        )

    def _registers(self, name: str) -> int:
        """32-bit registers of a thread. The convention for calls takes a fixed part of the file, so that its least is
        more.
        """
        used = self.counts[name].words + RESERVED_WORDS
        limit = self._register_limit(self.layout.functions[name])
        if self.made[name].raised_registers:
            used = min(used, limit)
        return max(used, min(_FEWEST_WITH_CALLS, limit)) if self.made[name].leaves else used

    def _recurses(self, name: str) -> bool:
        """True if it, or anything it calls, calls itself or takes local memory while it runs."""
        seen, todo = {name}, [name]
        while todo:
            for callee in self._callees(todo.pop()):
                if callee not in seen:
                    seen.add(callee)
                    todo.append(callee)
        return bool(seen & self.recursive) or any(self.made[each].grows_stack for each in seen if each in self.made)


def _linked(module, tree: ast.Module, functions: _Functions) -> Program:
    """The functions in the order of the PTX text, each with its places among the others."""
    made = functions.made
    ends = np.cumsum([len(each.code) for each in made.values()]).tolist()
    firsts = dict(zip(made, [0, *ends], strict=False))
    code = np.concatenate([each.code for each in made.values()]) if made else np.zeros(0, INSTRUCTION_DTYPE)
    lines, locations = np.zeros(len(code), np.uint32), []
    readable = _Readable(module.display)
    literals: dict[int, int] = {}
    relocations = []
    for name, each in made.items():
        first, last = firsts[name], firsts[name] + len(each.code)
        function = functions.layout.functions[name]
        imm = code["imm"][first:last]
        for index, target in each.calls:
            imm[index] = (firsts[target] - first - index - 1) * INSTRUCTION_NBYTES & 0xFFFFFFFF
        if each.literals:
            places = np.array(
                [literals.setdefault(value, LITERALS_AT + 8 * len(literals)) for value in each.literals], np.uint32
            )
            reads = _literal_reads(each.code)
            imm[reads] = places[(imm[reads] - LITERALS_AT) // 8]
        relocations += [Relocation(first + at, symbol, "abs64", addend) for at, symbol, addend in each.relocations]
        lines[first:last] = np.where(each.lines > 0, each.lines + (function.line - 1), 0)
        positions = [*map(readable.of, function.positions), None]  # the last is that of -1
        locations += [positions[number] for number in each.positions.tolist()]
    hazards = [hazard for name in made for hazard in functions.hazards.get(name, ())]
    return Program(
        name=module.name,
        code=code,
        functions=tuple(functions.record(name, firsts[name]) for name in made),
        variables=functions.layout.segment_variables(),
        relocations=tuple(relocations),
        ptx=module.ptx,
        ptx_lines=lines,
        locations=tuple(locations),
        sources=dict(module.sources),
        arch=tree.target or module.arch,
        compiler=module.compiler,
        literals=b"".join(value.to_bytes(8, "little") for value in literals),
        facts=replace(module.facts, register_hazards=tuple(hazards)),
    )


def _literal_reads(code: np.ndarray) -> np.ndarray:
    """The instructions that read a literal: their operand is in the constant bank, in the part of the literals."""
    in_bank = (code["mods"] & _CONST > 0) & (code["opcode"] != MOVI64.number)
    return np.flatnonzero(in_bank & (code["imm"] >= LITERALS_AT) & (code["imm"] < CONSTANTS_AT))


class _Readable:
    """Positions with functions named as in the source where the compiler gives the names; equal ones are one."""

    def __init__(self, display: dict[str, str]):
        self.display = display
        self.known: dict[Location, Location] = {}

    def of(self, location: Location | None) -> Location | None:
        if location is None:
            return None
        if location not in self.known:
            function = self.display.get(location.function, location.function)
            self.known[location] = replace(location, function=function, inlined_at=self.of(location.inlined_at))
        return self.known[location]
