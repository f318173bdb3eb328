"""What does not fit into registers: constants are computed again, predicates move to R, the rest goes to local memory."""

from dataclasses import dataclass, field

from gpuprof.assemble.abi import align_up
from gpuprof.assemble.allocate import LIMITS, Allocation, OutOfRegisters, allocate
from gpuprof.assemble.defs import single_definitions
from gpuprof.assemble.fold import constant_of
from gpuprof.assemble.ir import READ_SLOTS, WRITE_SLOTS, Block, Body, Inst
from gpuprof.assemble.liveness import live_segments
from gpuprof.isa.modifiers import pack
from gpuprof.isa.opcodes import BY_NAME
from gpuprof.isa.special import SPECIAL_INDEX

_MOST_ROUNDS = 40
_STEP = 8
_MOST_WASTE = 64
_COST = {"R": 1, "D": 2}  # what a register of a file takes from the thread's limit


class DoesNotFit(Exception):
    """Even with everything spilled the function needs more registers than allowed."""


def allocate_within(body: Body, max_registers: int) -> Allocation:
    """Allocates with R + 2 * D at most `max_registers`, spilling what is cheapest. Raises DoesNotFit."""
    spiller = _Spiller(body)
    spiller.spill_across_recursion()
    target = max_registers
    aim = dict(LIMITS)  # per file, lowered while holes in the live ranges waste registers
    for _ in range(_MOST_ROUNDS):
        try:
            allocation = allocate(body)
        except OutOfRegisters as error:
            aim[error.file] -= _STEP
            if aim[error.file] <= 0:
                break
            spiller.relieve(error.file, aim[error.file])
            continue
        cost = allocation.used["R"] + 2 * allocation.used["D"]
        if cost <= max_registers:
            return allocation
        if not spiller.reduce(target):
            if target < max_registers - _MOST_WASTE:
                break
            target -= max(cost - max_registers, 1)
    raise DoesNotFit(body.name)


@dataclass(slots=True)
class _Range:
    register: int
    points: list[int]  # instruction indexes where it is live
    weight: float  # accesses, inner loops counting ten times a level


@dataclass
class _Spiller:
    body: Body
    untouchable: set[int] = field(default_factory=set)  # made by spilling: already as short as can be

    def __post_init__(self):
        self.untouchable |= self.body.fixed.keys()

    # -- choosing --------------------------------------------------------------------------------------------------------

    def spill_across_recursion(self):
        """A call that may overwrite every register leaves nothing in registers."""
        positions = [i for i, inst in enumerate(self.body.instructions()) if inst.clobbers and inst.clobbers.r >= LIMITS["R"]]
        if not positions:
            return
        segments = live_segments(self.body)
        crossing = {r for r, parts in segments.items() if any(a <= 2 * p and b > 2 * p + 1 for p in positions for a, b in parts)}
        demoted = {r for r in crossing if self.body.files[r] == "P"}
        crossing = (crossing - demoted - self.body.fixed.keys()) | set(self._demote(demoted).values())
        self._spill(crossing)

    def relieve(self, file: str, limit: int):
        """Spills registers of one file until no point has more than `limit` of them live, as far as that is possible."""
        pressure, ranges = self._pressure(file)
        self._apply(self._choose(pressure, ranges, limit))

    def reduce(self, target: int) -> bool:
        """Spills until the largest numbers of live R and D, weighted, are at most `target`."""
        sides = {file: self._pressure(file) for file in ("R", "D")}
        most = {file: max(pressure, default=0) for file, (pressure, _) in sides.items()}
        chosen: set[int] = set()
        while most["R"] + 2 * most["D"] > target:
            options = [(self._price(sides[file], most[file]) / _COST[file], file) for file in ("R", "D") if most[file] > 0]
            price, file = min(options, default=(float("inf"), ""))
            if price == float("inf"):
                break
            chosen |= self._choose(*sides[file], most[file] - 1)
            most[file] -= 1
        self._apply(chosen)
        return bool(chosen)

    def _pressure(self, file: str) -> tuple[list[int], list[_Range]]:
        """Live registers of a file at each instruction, and the ranges that could be spilled."""
        body = self.body
        pressure = [0] * sum(len(b.insts) for b in body.blocks)
        weights: dict[int, float] = {}
        index = 0
        for block in body.blocks:
            for inst in block.insts:
                for register in (*inst.reads(), *inst.writes()):
                    weights[register] = weights.get(register, 0) + 10.0**block.loop_depth
                if inst.clobbers:
                    pressure[index] += inst.clobbers["RDP".index(file)]
                index += 1
        ranges = []
        for register, parts in sorted(live_segments(body).items()):
            if body.files[register] == file:
                points = [p for start, stop in parts for p in range(start // 2, (stop + 1) // 2)]
                for point in points:
                    pressure[point] += 1
                if register not in self.untouchable:
                    ranges.append(_Range(register, points, weights.get(register, 0)))
        return pressure, ranges

    @staticmethod
    def _price(side: tuple[list[int], list[_Range]], most: int) -> float:
        """What it costs to get below the present maximum, roughly: the cheapest range at the first worst point."""
        pressure, ranges = side
        worst = next((i for i, n in enumerate(pressure) if n >= most), None)
        prices = [r.weight / len(r.points) for r in ranges if worst is not None and r.points and r.points[0] <= worst <= r.points[-1]]
        return min(prices, default=float("inf"))

    @staticmethod
    def _choose(pressure: list[int], ranges: list[_Range], limit: int) -> set[int]:
        """Cheapest ranges whose removal brings every point to `limit`; changes `pressure` and `ranges` accordingly."""
        chosen: set[int] = set()
        for candidate in sorted(ranges, key=lambda r: (r.weight / max(len(r.points), 1), r.register)):
            if len(candidate.points) > 2 and any(pressure[p] > limit for p in candidate.points):
                chosen.add(candidate.register)
                for point in candidate.points:
                    pressure[point] -= 1
                if max(pressure) <= limit:
                    break
        ranges[:] = [r for r in ranges if r.register not in chosen]
        return chosen

    # -- rewriting -------------------------------------------------------------------------------------------------------

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
                    result.append(Inst(original.op, dst=name, slot=original.slot, const=original.const, imm=original.imm,
                                       symbol=original.symbol, line=inst.line, location=inst.location))  # fmt: skip
                _rename_reads(inst, names)
                if not any(inst is original for original in constants.values()):
                    result.append(inst)
            block.insts = result

    def _demote(self, predicates: set[int]) -> dict[int, int]:
        """Keeps predicates as 0 or 1 in R registers; returns predicate -> register."""
        homes = {p: self.body.register("R") for p in sorted(predicates)}

        def save(inst: Inst, register: int, name: int) -> list[Inst]:
            return [Inst(BY_NAME["SEL"], dst=homes[register], slot="a", imm=1, e=name)]

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
            base = self._new("R")
            return [
                Inst(BY_NAME["FRAME"], dst=base, imm=SPECIAL_INDEX["localbase"]),
                Inst(BY_NAME[f"{name}.{suffix}"], a=base, imm=homes[register], **slots),
            ]

        self._rewrite(registers, lambda i, r, name: access("STL", r, b=name), lambda i, r, name: access("LDL", r, dst=name))

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

    def _guard(self, insts: list[Inst], guard: int | None, negated: str):
        for inst in insts:
            inst.guard, inst.negated = guard, inst.negated + negated
            inst.fresh = inst.op.name != "SEL"


def _repeatable(inst: Inst) -> bool:
    return constant_of(inst) is not None or (inst.op.name == "MOVI.64" and inst.guard is None)


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
