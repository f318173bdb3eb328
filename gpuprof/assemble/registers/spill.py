"""Values that do not fit into registers: constants are computed again, predicates move to R, the rest goes to local
memory.
"""

from dataclasses import dataclass, field

from gpuprof.assemble.abi.calling_convention import align_up
from gpuprof.assemble.ir.body import READ_SLOTS, WORDS, WRITE_SLOTS, Block, Body, Inst
from gpuprof.assemble.ir.defs import single_definitions
from gpuprof.assemble.ir.liveness import Liveness, live_segments
from gpuprof.assemble.optimize.fold import constant_of
from gpuprof.assemble.registers.allocate import (
    LIMITS,
    RESERVED_WORDS,
    SCRATCH_WORDS,
    Allocation,
    OutOfRegisters,
    allocate,
)
from gpuprof.isa.modifiers import pack
from gpuprof.isa.opcodes import BY_NAME
from gpuprof.isa.special import SPECIAL_INDEX

SEL, MOVI64 = BY_NAME["SEL"], BY_NAME["MOVI.64"]

_MOST_ROUNDS = 40
_STEP = 8
_MOST_WASTE = 64


class DoesNotFit(Exception):
    """Even with everything spilled the function needs more registers than allowed."""


def allocate_unspilled(body: Body, max_registers: int, liveness: Liveness) -> Allocation | None:
    """Allocates like `allocate_within`; None when a value would have to be spilled. `liveness`: of the body."""
    limit = max_registers - RESERVED_WORDS
    try:
        allocation = allocate(body, limit, liveness)
    except OutOfRegisters:
        return None
    return allocation if allocation.words <= limit else None


def allocate_within(body: Body, max_registers: int) -> Allocation:
    """Allocates in at most `max_registers` 32-bit registers, spilling what is cheapest. Raises DoesNotFit."""
    spiller = _Spiller(body)
    spiller.spill_across_recursion()
    limit = min(max_registers - RESERVED_WORDS, LIMITS["R"])
    # live at once, without the stack pointer; lowered while holes in live ranges waste registers
    aim = {"R": limit - 1, "P": LIMITS["P"]}
    for _ in range(_MOST_ROUNDS):
        try:
            allocation = allocate(body, limit)
        except OutOfRegisters as error:
            file, excess = error.file, _STEP
        else:
            if allocation.words <= limit:
                return allocation
            file, excess = "R", min(allocation.words - limit, _STEP)
        if not spiller.relieve(file, aim[file]):
            aim[file] -= excess
            if aim[file] <= 0 or aim[file] < limit - _MOST_WASTE:
                break
    raise DoesNotFit(body.name)


@dataclass(slots=True)
class _Range:
    register: int
    points: list[int]  # instruction indexes where it is live
    words: int  # that it takes there; 1 for a predicate
    weight: float  # accesses, inner loops counting ten times a level


@dataclass
class _Spiller:
    body: Body
    untouchable: set[int] = field(default_factory=set)  # made by spilling: already as short as can be

    def __post_init__(self):
        self.untouchable |= self.body.fixed.keys()

    # -- choosing ----------------------------------------------------------------------------------

    def spill_across_recursion(self):
        """A call that may overwrite every register leaves nothing in registers."""
        positions = [
            i for i, inst in enumerate(self.body.instructions()) if inst.clobbers and inst.clobbers.words >= LIMITS["R"]
        ]
        if not positions:
            return
        segments = live_segments(self.body)
        crossing = {
            r for r, parts in segments.items() if any(a <= 2 * p and b > 2 * p + 1 for p in positions for a, b in parts)
        }
        # Local memory takes no predicates, so these move to R first.
        demoted = {r for r in crossing if self.body.files[r] == "P"}
        crossing = (crossing - demoted - self.body.fixed.keys()) | set(self._demote(demoted).values())
        self._spill(crossing)

    def relieve(self, file: str, limit: int) -> bool:
        """Spills until no point has more than `limit` words (file "R") or predicates live, as far as that is possible;
        says whether there was anything to spill."""
        pressure, ranges = self._pressure(file == "P")
        chosen = self._choose(pressure, ranges, limit)
        self._apply(chosen)
        return bool(chosen)

    def _pressure(self, predicates: bool) -> tuple[list[int], list[_Range]]:
        """Live words or predicates at each instruction, and the ranges that could be spilled."""
        body = self.body
        pressure = [0] * sum(len(b.insts) for b in body.blocks)
        weights: dict[int, float] = {}
        index = 0
        for block in body.blocks:
            for inst in block.insts:
                for register in (*inst.reads(), *inst.writes()):
                    weights[register] = weights.get(register, 0) + 10.0**block.loop_depth
                if inst.clobbers:
                    pressure[index] += inst.clobbers.p if predicates else inst.clobbers.words
                pressure[index] += 0 if predicates else SCRATCH_WORDS.get(inst.op.number, 0)
                index += 1
        ranges = []
        for register, parts in sorted(live_segments(body).items()):
            if (body.files[register] == "P") == predicates and register not in body.uniform:
                words = WORDS[body.files[register]] or 1
                points = [p for start, stop in parts for p in range((start + 1) // 2, (stop + 1) // 2)]
                for point in points:
                    pressure[point] += words
                if register not in self.untouchable:
                    ranges.append(_Range(register, points, words, weights.get(register, 0)))
        return pressure, ranges

    @staticmethod
    def _choose(pressure: list[int], ranges: list[_Range], limit: int) -> set[int]:
        """Cheapest ranges whose removal brings every point to `limit`."""
        chosen: set[int] = set()
        over = sum(n > limit for n in pressure)
        # Cheapest first: accesses for each word that is freed at one instruction.
        for candidate in sorted(ranges, key=lambda r: (r.weight / max(len(r.points) * r.words, 1), r.register)):
            if not over:
                break
            # A range of one or two instructions is as short as spilling would make it.
            if len(candidate.points) > 2 and any(pressure[p] > limit for p in candidate.points):
                chosen.add(candidate.register)
                for point in candidate.points:
                    over -= limit < pressure[point] <= limit + candidate.words
                    pressure[point] -= candidate.words
        return chosen

    # -- rewriting ---------------------------------------------------------------------------------

    def _apply(self, chosen: set[int]):
        constants = {r: i for r, i in single_definitions(self.body).items() if r in chosen and _repeatable(i)}
        predicates = {r for r in chosen if self.body.files[r] == "P"}
        self._repeat(constants)
        self._demote(predicates)
        self._spill(chosen - constants.keys() - predicates)

    def _new(self, file: str) -> int:
        register = self.body.register(file)
        self.untouchable.add(register)
        return register

    def _repeat(self, constants: dict[int, Inst]):
        """Computes constants again before each use."""
        for block in self.body.blocks if constants else ():
            result = []
            for inst in block.insts:
                names = {r: self._new(self.body.files[r]) for r in sorted(set(inst.reads()) & constants.keys())}
                for register, name in names.items():
                    original = constants[register]
                    result.append(Inst(original.op, dst=name, slot=original.slot, const=original.const,
                        imm=original.imm,
                                       symbol=original.symbol, line=inst.line, location=inst.location))  # fmt: skip
                _rename_reads(inst, names)
                if not any(inst is original for original in constants.values()):
                    result.append(inst)
            block.insts = result

    def _demote(self, predicates: set[int]) -> dict[int, int]:
        """Keeps predicates as 0 or 1 in R registers; returns predicate -> register."""
        homes = {p: self.body.register("R") for p in sorted(predicates)}

        def save(inst: Inst, register: int, name: int) -> list[Inst]:
            return [Inst(SEL, dst=homes[register], slot="a", imm=1, e=name)]

        def restore(inst: Inst, register: int, name: int) -> list[Inst]:
            return [Inst(BY_NAME["ISETP.U32"], dst=name, a=homes[register], mods=pack(cmp="ne"))]

        self._rewrite(predicates, save, restore)
        return homes

    def _spill(self, registers: set[int]):
        body = self.body
        homes: dict[int, int] = {}
        for register in sorted(registers):
            width = 8 if body.files[register] == "D" else 4
            body.frame_nbytes = align_up(body.frame_nbytes, width)
            homes[register] = body.frame_nbytes
            body.frame_nbytes += width
            body.spill_nbytes += width

        def access(name: str, register: int, **slots) -> list[Inst]:
            suffix = "64" if body.files[register] == "D" else "32"
            if body.is_kernel:
                return [Inst(BY_NAME[f"{name}.{suffix}"], imm=homes[register], **slots)]
            # A kernel's frame starts at address 0; a function's lies where its caller's ends, which is known only at
            # run time.
            base = self._new("R")
            return [
                Inst(BY_NAME["FRAME"], dst=base, imm=SPECIAL_INDEX["localbase"]),
                Inst(BY_NAME[f"{name}.{suffix}"], a=base, imm=homes[register], **slots),
            ]

        self._rewrite(
            registers, lambda i, r, name: access("STL", r, b=name), lambda i, r, name: access("LDL", r, dst=name)
        )

    def _rewrite(self, registers: set[int], save, restore):
        """Gives each access of the registers a name of its own, saved after a write and restored before a read."""
        for block in self.body.blocks if registers else ():
            block.insts = [new for inst in block.insts for new in self._around(block, inst, registers, save, restore)]

    def _around(self, block: Block, inst: Inst, registers: set[int], save, restore) -> list[Inst]:
        names = {r: self._new(self.body.files[r]) for r in sorted((set(inst.reads()) | set(inst.writes())) & registers)}
        if not names:
            return [inst]
        read, written = set(inst.reads()), set(inst.writes())
        before = [i for r, name in names.items() if r in read for i in restore(inst, r, name)]
        before += self._complete_groups(inst, names)
        guard, negated = inst.guard, "g" if "g" in inst.negated else ""
        after = [i for r, name in names.items() if r in written for i in save(inst, r, name)]
        _rename_reads(inst, names)
        _rename_writes(inst, names)
        if guard is not None and after:
            self._guard(after, inst.guard, negated)
            inst.fresh = inst.fresh or all(w in names.values() for w in inst.writes())
        for new in (*before, *after):
            new.line, new.location = inst.line, inst.location
        return [*before, inst, *after]

    def _complete_groups(self, inst: Inst, names: dict[int, int]) -> list[Inst]:
        """Copies of the members that stay in registers, into `names`: several instructions may read a group, and each
        member is of one.
        """
        copies = []
        for slot in READ_SLOTS[inst.op.number]:
            group = getattr(inst, slot)
            if group.__class__ is tuple and any(register in names for register in group):
                for register in group:
                    if register not in names:
                        file = self.body.files[register]
                        names[register] = self._new(file)
                        copies.append(
                            Inst(BY_NAME["MOV" if file == "R" else "MOV.64"], dst=names[register], a=register)
                        )
        return copies

    def _guard(self, insts: list[Inst], guard: int | None, negated: str):
        for inst in insts:
            inst.guard, inst.negated = guard, inst.negated + negated
            inst.fresh = inst.op is not SEL


def _repeatable(inst: Inst) -> bool:
    return constant_of(inst) is not None or (inst.op is MOVI64 and inst.guard is None)


def _rename_reads(inst: Inst, names: dict[int, int]):
    inst.guard = names.get(inst.guard, inst.guard)
    for slot in READ_SLOTS[inst.op.number]:
        setattr(inst, slot, _renamed(getattr(inst, slot), names))
    inst.uses = tuple(names.get(r, r) for r in inst.uses)


def _rename_writes(inst: Inst, names: dict[int, int]):
    for slot in WRITE_SLOTS[inst.op.number]:
        setattr(inst, slot, _renamed(getattr(inst, slot), names))
    inst.defs = tuple(names.get(r, r) for r in inst.defs)


def _renamed(value, names: dict[int, int]):
    if value.__class__ is int:
        return names.get(value, value)
    return value if value is None else tuple(names.get(r, r) for r in value)
