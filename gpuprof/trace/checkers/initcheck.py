"""Undefined values: which bits of memory and registers have no value, and where such a bit has an effect."""

from collections.abc import Callable

import numpy as np

from gpuprof.isa.flow.definedness import is_validity, rule_of
from gpuprof.isa.kinds import KINDS
from gpuprof.isa.modifiers import unpack
from gpuprof.trace.checkers.shadow_bits import atomic_bits, instruction_rules, matrix_bits
from gpuprof.trace.checkers.shadow_bits.instruction_rules import U64, ZERO, Operands
from gpuprof.trace.checkers.shadow_bits.lane_rules import SLOTS
from gpuprof.trace.checkers.shadow_bits.operand_rows import Plan, Step
from gpuprof.trace.checkers.shadow_bits.propagate import NO_ORIGIN
from gpuprof.trace.checkers.shadow_bits.space_bits import (
    Piece,
    ShadowRange,
    define,
    narrowed,
    read,
    read_padding,
    write,
    write_padding,
)
from gpuprof.trace.checkers.shadow_bits.uncertain import STORE, Doubts
from gpuprof.trace.event import Access, TraceEvent, packed, unpacked
from gpuprof.trace.kernel import Instruction, Kernel

# Kinds whose addresses are known only after their execution.
KNOWN_AFTER = (
    *("bulk_load", "bulk_store", "bulk_copy", "bulk_reduction", "bulk_reduction_shared", "fetch", "surface_load"),
    *("surface_store", "surface_reduction", "matrix_async"),
)
ENDS = ("exit", "return")
NOTHING = np.empty(0, np.uint8)
# Rules that move bits: padding remains padding.
MOVES = frozenset(
    ("same_bits", "pack", "low", "high", "and", "or", "shl", "shr", "shf_left", "shf_right", "prmt", "bfe", "bfi",
     "cvt", "select")
)  # fmt: skip
IGNORED = frozenset(
    ("hint", "meet", "fence", "copy_commit", "copy_wait", "bulk_commit", "bulk_wait", "bulk_wait_read", "bulk_prefetch",
     "matrix_commit", "matrix_wait", "grid_signal", "grid_wait", "breakpoint")
)  # fmt: skip


class Initcheck(Doubts):
    """Finds undefined values that decide an address or a branch, or are stored where the host can read them.

    Each bit of memory and of registers is tracked, also through copies by the host.
    """

    name = "initcheck"
    kinds = tuple(kind for kind in KINDS if kind not in IGNORED)
    post_kinds = KNOWN_AFTER

    def initialize(self, kernel: Kernel) -> None:
        super().initialize(kernel)
        self._is_followed = [_is_followed(instruction) for instruction in kernel.instructions]
        self._in_global = [each.space == "global" and each.kind != "copy" for each in kernel.instructions]

    def passes(self, number: int) -> bool:
        if self._n_hot_rows[number]:
            return False
        return not self._is_followed[number] or (self._in_global[number] and self.shadow.is_defined)

    def event(self, event: TraceEvent) -> None:
        if self.passes(event.instruction.number):
            return
        plan, kind = self._module.plan(event.instruction), event.instruction.kind
        act, quick = _ACTS[kind], _QUICK.get(kind)
        if kind == "compute" and self._n_hot_rows[event.instruction.number] and self._follow(event, plan):
            return
        step = self._doubtful(event, plan, quick is None)
        if step is not None:
            self._check_guard(step)
            act(self, step)
        elif quick is not None:
            quick(self, event, plan)
        if kind in ENDS:
            self._exit(event)

    def _follow(self, event: TraceEvent, plan: Plan) -> bool:
        """Executes an instruction of the kind "compute" in one pass, if there is one for its rule."""
        lanes = self._slots(event.block), event.warp, event.active_masks, event.true_masks
        if plan.simple is not None:
            self._registers.follow(plan.simple, *lanes)
        elif plan.by_value is not None:
            self._registers.follow_values(plan.by_value, *lanes, _values(event))
        return plan.simple is not None or plan.by_value is not None

    def _doubtful(self, event: TraceEvent, plan: Plan, are_independent: bool) -> Step | None:
        """The event's warps with an undefined bit in a register of the instruction, if warps are independent; otherwise
        all of them if one warp has such a bit in a register that is read. None if no warp has one.
        """
        if not self._n_hot_rows[event.instruction.number]:
            return None
        slots = self._slots(event.block)
        if plan.instruction.kind == "load" and not self._decides_load(event, plan, slots):
            return None
        hot = self._registers.hot(slots, event.warp, plan.rows if are_independent else plan.decisive)
        return Step(event, plan, self._registers, slots, hot if are_independent else None) if len(hot) else None

    def _decides_load(self, event: TraceEvent, plan: Plan, slots: np.ndarray) -> bool:
        """True if a lane's undefined bit decides if it loads, or from where."""
        registers = self._registers
        address = [row for register in plan.sources.get("a", ()) for row in register]
        return (
            registers.undefined_lanes(slots, event.warp, plan.guard, event.active_masks) is not None
            or registers.undefined_lanes(slots, event.warp, address, event.true_masks) is not None
        )

    def post_event(self, event: TraceEvent) -> None:
        plan = self._module.plan(event.instruction)
        _AFTER[event.instruction.kind](self, Step(event, plan, self._registers, self._slots(event.block), None))

    # Rules of instructions

    def _compute(self, step: Step) -> None:
        op = step.inst.op
        slots = [slot for slot in "abce" if (spec := getattr(op, slot)) and not spec.startswith(">")]
        values = {slot: (step.values(slot) or [np.zeros(1, U64)])[0] for slot in slots}
        undefined = {slot: (step.undefined(slot) or [np.zeros(step.true.shape, U64)])[0] for slot in slots}
        operands = Operands(step.inst, values, undefined, instruction_rules.BITS[op.dst[0]])
        origin = step.origin()
        padding = step.only_padding("".join(slots)) if rule_of(op) in MOVES else None
        if rule_of(op) == "lop3":
            padding = step.only_padding("".join(slots)) & packed(instruction_rules.keeps_bits(operands))
        for slot, bits in zip(("dst", "c"), instruction_rules.results_of(operands), strict=False):
            step.put(slot, 0, bits, origin, padding)

    def _defined(self, step: Step) -> None:
        """Marks the results as defined."""
        for slot, registers in step.plan.results.items():
            for number in range(len(registers)):
                step.put(slot, number, np.zeros((1, 1), U64), step.origin())

    def _undefined(self, step: Step, lanes: np.ndarray, origin: np.ndarray) -> None:
        """Marks the results of lanes, bool (n, 32), as undefined, and those of the others as defined."""
        for slot, registers in step.plan.results.items():
            for number in range(len(registers)):
                step.put(slot, number, np.where(lanes, ~ZERO, ZERO), origin)

    def _address_only(self, step: Step) -> None:
        self._check_address(step, "".join(step.plan.sources))
        self._defined(step)

    def _shuffle(self, step: Step) -> None:
        (values,) = step.undefined("a") or [np.zeros(step.true.shape, U64)]
        lane, clamp = (self._fixed_or_read(step, name, slot) for name, slot in (("lane", "b"), ("clamp", "c")))
        doubtful = step.any_undefined("bc")
        if is_validity(step.inst.op):
            self._undefined(step, doubtful, step.origin())
            return
        source = matrix_bits.source_lanes(step.inst, lane, clamp)
        undefined = matrix_bits.shuffled(np.where(step.active, values, ZERO), source)
        is_padding = matrix_bits.shuffled(unpacked(step.only_padding("a")), source) & ~doubtful
        step.put("dst", 0, np.where(doubtful, instruction_rules.ones(32), undefined), step.origin(), packed(is_padding))

    def _fixed_or_read(self, step: Step, name: str, slot: str) -> np.ndarray:
        """int64 (n, 32), or (1, 32) of all warps."""
        fixed = matrix_bits.fixed(step.inst, name)
        if fixed is not None:
            return np.full((1, 32), fixed, np.int64)
        return np.broadcast_to(step.values(slot)[0].astype(np.int64), step.true.shape)

    def _vote(self, step: Step) -> None:
        if not step.plan.sources.get("a"):
            self._defined(step)
            return
        (value,), (undefined,) = step.values("a"), step.undefined("a")
        step.put("dst", 0, matrix_bits.voted(step.inst, value, undefined, step.true), step.origin())

    def _joint_result(self, step: Step) -> None:
        """The result of each lane depends on a register of all lanes."""
        any_undefined = (step.any_undefined("a") & step.true).any(axis=1, keepdims=True)
        self._undefined(step, np.broadcast_to(any_undefined, step.true.shape), step.origin())

    def _matrix(self, step: Step) -> None:
        n_results = len(step.plan.results.get("dst", ()))
        a, b, c = (self._fragment(step, slot) for slot in "abc")
        products = matrix_bits.multiplied(step.inst, a, b, c, n_results)
        metadata = step.any_undefined("e").any(axis=1, keepdims=True)
        for number, bits in enumerate(products):
            step.put("dst", number, np.where(metadata, ~ZERO, bits), step.origin())

    def _fragment(self, step: Step, slot: str) -> list[np.ndarray]:
        """The registers of a fragment; zeros without a register count as many registers as the fragment has."""
        count = int(getattr(step.inst.op, slot)[1:] or 1)
        return step.undefined(slot) or [np.zeros(step.true.shape, U64)] * count

    def _transpose(self, step: Step) -> None:
        step.put("dst", 0, matrix_bits.transposed(step.undefined("a")[0]), step.origin())

    # Memory. Methods called `quick` run where no register has an undefined bit.

    def _pieces(self, event: TraceEvent, access: Access) -> list[Piece]:
        if access.space == "local":  # whose shadow is as wide as the addresses
            forbidden = _forbidden(event, access)
            access = access if forbidden is None else access._replace(masks=narrowed(access.masks, ~forbidden))
        return self._spaces.pieces(access, event.block, event.warp)

    def _read(self, event: TraceEvent, access: Access) -> np.ndarray | None:
        if self._spaces.is_clean(access, event.block):
            return None
        pieces = self._pieces(event, access)
        undefined = read(pieces, access.nbytes) if pieces else None
        if undefined is None:
            return None
        if (forbidden := _forbidden(event, access)) is not None:
            undefined[forbidden] = 0
            if not undefined.any():
                return None
        if event.instruction.number not in self._loaded:
            self._note_origin(event, access, *divmod(int(np.flatnonzero(undefined.any(axis=2))[0]), 32))
        return undefined

    def _load_at_once(self, event: TraceEvent, plan: Plan) -> bool:
        """Executes a load in one pass, if all of its bytes are in one shadow and all lanes may read them."""
        access, *others = event.accesses
        encoded, nbytes = plan.instruction.encoded, access.nbytes
        is_signed = encoded.op.types[0][0] == "s"
        if others or plan.instruction.kind != "load" or nbytes > 4 * len(plan.words) or (is_signed and nbytes > 2):
            return False
        if self._spaces.is_clean(access, event.block):
            self._quick_results(event, plan)
            return True
        whole = self._spaces.whole(access)
        if whole is None or not whole[0].padding.is_defined or event.wrong(access) is not None:
            return False
        shadow, stride = whole
        first = self._registers.load_lanes(
            shadow.pages, self._slots(event.block), event.warp, access.masks, access.addresses, stride, nbytes,
            plan.words, is_signed, plan.instruction.number,
        )  # fmt: skip
        if first < 0:
            self._quick_results(event, plan)
        else:
            self._note_origin(event, access, *divmod(first, 32))
        return True

    def _note_origin(self, event: TraceEvent, access: Access, row: int, lane: int) -> None:
        """A lane has loaded an undefined bit."""
        if event.instruction.number not in self._loaded:
            address = int(access.addresses[row, lane])
            where = event.describe("global", address) if access.space == "global" else f"{address:#x}"
            self._loaded[event.instruction.number] = (
                f"the value comes from {access.space} memory that was never written: {where}"
            )

    def _quick_load(self, event: TraceEvent, plan: Plan) -> None:
        if self._load_at_once(event, plan):
            return
        undefined = _joined([self._read(event, access) for access in event.accesses])
        if undefined is None:
            self._quick_results(event, plan)
        elif plan.instruction.kind == "matrix_load":
            self._take(Step(event, plan, self._registers, self._slots(event.block), None), undefined)
        else:
            is_signed, padding = plan.instruction.encoded.op.types[0][0] == "s", self._padding_read(event)
            self._registers.take(
                self._slots(event.block), event.warp, plan.words, undefined, padding, event.true_masks, is_signed,
                plan.instruction.number,
            )  # fmt: skip

    def _quick_results(self, event: TraceEvent, plan: Plan) -> None:
        """Marks the results as defined."""
        if len(plan.words) and self._n_hot_rows[plan.instruction.number]:
            nothing = np.zeros((event.n_warps, 32, 1), np.uint8)
            self._registers.take(
                self._slots(event.block), event.warp, plan.words, nothing, None, event.true_masks, False, NO_ORIGIN
            )

    def _padding_read(self, event: TraceEvent) -> np.ndarray | None:
        """uint8 (n, 32, k): bits of the read bytes that are known to be padding; None for none."""
        reads = [access for access in event.accesses if access.operation == "load"]
        return _joined([read_padding(self._pieces(event, access), access.nbytes) for access in reads])

    def _load(self, step: Step) -> None:
        self._check_address(step, "a")
        if step.plan.instruction.kind == "load" and step.guard_masks is None:
            self._quick_load(step.event, step.plan)
        else:
            self._take(step, _joined([self._read(step.event, access) for access in step.event.accesses]))

    def _take(self, step: Step, undefined: np.ndarray | None) -> None:
        """Loads bytes of memory into registers."""
        origin = np.full(len(step.slots), step.plan.instruction.number, np.int32)
        if undefined is None:
            self._defined(step)
            return
        if step.plan.instruction.kind == "matrix_load":
            is_transposed = bool(unpack(step.inst.mods, "trans"))
            words = [
                matrix_bits.fragment_of_rows(undefined, k, is_transposed) for k in range(int(step.inst.op.types[0]))
            ]
        else:
            words = instruction_rules.of_bytes(undefined, step.inst.op.types[0], 8 if step.inst.op.dst[0] == "D" else 4)
        for number, bits in enumerate(words):
            step.put("dst", number, bits, origin)

    def _quick_store(self, event: TraceEvent, plan: Plan) -> None:
        self._write_member(event, plan)
        for access in event.accesses:
            if access.operation != "load" and not self._spaces.is_defined_now(access, event.block):
                define(self._pieces(event, access))

    def _store(self, step: Step) -> None:
        self._check_address(step, "a")
        if self._store_at_once(step):
            return
        words = step.undefined("b")
        doubtful = [word for word in words if word.any()]
        if not doubtful:
            self._quick_store(step.event, step.plan)
            return
        nbytes = step.inst.op.nbytes
        if step.plan.instruction.kind == "matrix_store":
            undefined = _rows_of_lanes(words, bool(unpack(step.inst.mods, "trans")))
        else:
            undefined = instruction_rules.to_bytes(words, 8 if step.inst.op.b[0] == "D" else 4)[:, :, :nbytes]
        self._write_member(step.event, step.plan)
        padding = self._padding_stored(step, undefined)
        for access in step.event.accesses:
            pieces = self._pieces(step.event, access)
            reported = undefined & ~padding & ~self._other_fields(step, access, pieces)
            self._check_store(step, access, reported, step.origin("b"))
            write(pieces, undefined)
            write_padding(pieces, undefined & padding)

    def _store_at_once(self, step: Step) -> bool:
        """Executes a store in one pass, if all of its bytes are in one shadow and none of them is padding."""
        event, number = step.event, step.plan.instruction.number
        access, *others = event.accesses
        of_structure = number in self._module.members or number in self._module.padding
        if others or of_structure or step.plan.instruction.kind != "store":
            return False
        whole = self._spaces.whole(access)
        if whole is None or not whole[0].padding.is_defined or event.wrong(access) is not None:
            return False
        rows = np.array(step.rows_of("b"), np.int64)
        warps = step.slots, step.warps, access.masks
        lanes = self._registers.lanes_to_store(*warps, rows, access.nbytes) if 4 * len(rows) >= access.nbytes else None
        if lanes is None or not self._registers.hot(step.slots, step.warps, rows.tolist()).size:
            return False
        if access.space == "global" and lanes.any():
            self._report_store(
                step, access, unpacked(lanes), lambda *of: self._bytes_stored(step, *of), step.origin("b")
            )
        (piece,) = self._pieces(event, access)
        self._registers.store_lanes(piece.shadow, *warps, piece.addresses, access.nbytes, rows)
        return True

    def _bytes_stored(self, step: Step, row: int, lane: int) -> np.ndarray:
        """uint8 (nbytes,): the undefined bits that a lane stores."""
        words = [word[row : row + 1, lane : lane + 1] for word in step.undefined("b")]
        return instruction_rules.to_bytes(words, step.source_nbytes("b"))[0, 0, : step.inst.op.nbytes]

    def _other_fields(self, step: Step, access: Access, pieces: list[Piece]) -> np.ndarray | np.uint8:
        """uint8: the bits of a store that belong to other bit fields, and are still undefined."""
        member = self._module.members.get(step.plan.instruction.number)
        before = read(pieces, access.nbytes) if member is not None and member.fields.any() else None
        if before is None:
            return np.uint8(0)
        return before & member.fields[member.first : member.first + access.nbytes]

    def _padding_stored(self, step: Step, undefined: np.ndarray) -> np.ndarray:
        """uint8, to mask `undefined`, uint8 (n, 32, k): the bits of a store that are padding."""
        known = self._module.padding.get(step.plan.instruction.number, np.zeros(1, np.uint8))
        member = self._module.members.get(step.plan.instruction.number)
        if member is not None:
            known = known | member.padding[member.first : member.first + undefined.shape[2]]
        if step.plan.instruction.kind == "matrix_store":
            return known
        given = instruction_rules.to_bytes(step.padding("b"), 8 if step.inst.op.b[0] == "D" else 4)
        return given[:, :, : undefined.shape[2]] | known

    def _write_member(self, event: TraceEvent, plan: Plan) -> None:
        """The structure of a written member exists from now on: the bytes between its members are padding."""
        member = self._module.members.get(plan.instruction.number)
        if member is None or not member.padding.any():
            return
        for access in event.accesses:
            structure = access._replace(addresses=access.addresses - member.first, nbytes=len(member.padding))
            pieces = self._spaces.pieces(structure, event.block, event.warp)
            write_padding(pieces, np.broadcast_to(member.padding, (*access.addresses.shape, len(member.padding))))

    def _quick_mbarrier(self, event: TraceEvent, plan: Plan) -> None:
        self._quick_store(event, plan)
        self._quick_results(event, plan)

    def _quick_copy(self, event: TraceEvent, plan: Plan) -> None:
        start, to = event.accesses
        undefined = self._read(event, start)
        if undefined is None:
            define(self._pieces(event, to))
            return
        if start.sizes is not None:
            undefined[np.arange(start.nbytes) >= start.sizes[:, :, None]] = 0
        pieces, padding = self._pieces(event, to), self._padding_read(event)
        write(pieces, undefined)
        write_padding(pieces, np.zeros_like(undefined) if padding is None else padding)

    def _copy(self, step: Step) -> None:
        self._check_address(step, "abc")
        self._quick_copy(step.event, step.plan)

    def _quick_atomic(self, event: TraceEvent, plan: Plan) -> None:
        if any(self._read(event, access) is not None for access in event.accesses):
            self._change(Step(event, plan, self._registers, self._slots(event.block), None))
        else:
            self._quick_results(event, plan)

    def _atomic(self, step: Step) -> None:
        self._check_address(step, "a")
        self._change(step)

    def _change(self, step: Step) -> None:
        inst = step.inst
        bits = 64 if (inst.op.b or "R")[0] == "D" else 32
        nbytes = min(bits // 8, inst.op.nbytes)
        origin, own = step.origin("bc"), step.plan.instruction.number
        results: list = []
        for access in step.event.accesses:
            undefined = self._read(step.event, access)
            undefined = np.zeros((*step.true.shape, access.nbytes), np.uint8) if undefined is None else undefined
            memory = instruction_rules.of_bytes(undefined, "", nbytes)
            given, other = (_padded(step.undefined(slot), memory, getattr(inst.op, slot)) for slot in "bc")
            values = [np.broadcast_to(each, step.true.shape) for each in step.values("b")]
            values = values if len(values) == len(memory) else values * len(memory)
            left = atomic_bits.bits_after(inst, memory, given, other, values, 8 * nbytes)
            pieces = self._pieces(step.event, access)
            after = instruction_rules.to_bytes(left, nbytes)
            addresses = pieces[0].addresses if pieces else access.addresses
            after = atomic_bits.joined(after, addresses, access.active)
            # The origin is memory where it has been read, so that `_loaded` has it, otherwise an operand or the guard.
            origin = np.where(undefined.any(axis=(1, 2)), own, origin).astype(np.int32)
            undefined |= np.where(atomic_bits.are_shared(addresses, access.active)[:, :, None], after, 0).astype(
                np.uint8
            )
            self._check_store(step, access, after, origin)
            write(pieces, after)
            write_padding(pieces, np.zeros_like(after))
            results.append(undefined)
        joined = _joined(results)
        if joined is not None:
            for number, word in enumerate(instruction_rules.of_bytes(joined, "", nbytes)):
                step.put("dst", number, word, origin)

    def _mbarrier(self, step: Step) -> None:
        self._check_address(step, "a")
        self._decides(step)
        self._quick_store(step.event, step.plan)

    # Accesses that are known after the execution

    def _surface_address(self, step: Step) -> None:
        self._check_address(step, "ab")

    def _wgmma(self, step: Step) -> None:
        """A and B are given by descriptors, or A in registers: any undefined bit of these makes the complete result
        undefined.
        """
        inst = step.inst
        by_descriptor = "b" if inst.op.a[0] == "R" else "ab"
        self._check_address(step, by_descriptor)
        any_undefined = (step.any_undefined("e" if "a" in by_descriptor else "ae") & step.true).any(
            axis=1, keepdims=True
        )
        (adds,) = step.values("e")
        origin, added = step.origin(), self._fragment(step, "c")
        for number in range(len(step.plan.results.get("dst", ()))):
            step.put("dst", number, np.where(any_undefined, ~ZERO, np.where(adds != 0, added[number], ZERO)), origin)

    def _after_fetch(self, step: Step) -> None:
        """The result of a lane is undefined if one of its bytes is."""
        self._take_ranges(step, self._undefined_lanes(step))

    def _after_wgmma(self, step: Step) -> None:
        any_undefined = self._undefined_lanes(step).any(axis=1, keepdims=True)
        self._take_ranges(step, np.broadcast_to(any_undefined, step.true.shape))

    def _take_ranges(self, step: Step, lanes: np.ndarray) -> None:
        if lanes.any():
            number = step.plan.instruction.number
            self._loaded.setdefault(number, "the value comes from memory that was never written")
            origin = np.full(len(step.slots), number, np.int32)
            for slot, registers in step.plan.results.items():
                for k, register in enumerate(registers):
                    before = step.result(register)
                    step.put(slot, k, np.where(lanes, ~ZERO, before), origin)

    def _undefined_lanes(self, step: Step) -> np.ndarray:
        """bool (n, 32): lanes that have read an undefined bit."""
        undefined = np.zeros(step.true.shape, np.bool_)
        for ranges in step.event.ranges:
            if ranges.operation == "load":
                for nbytes in np.unique(ranges.nbytes).tolist():
                    chosen = ranges.nbytes == nbytes
                    rows, lanes = ranges.warps[chosen], ranges.lanes[chosen]
                    bad = self._spaces.are_undefined(
                        ranges.space, ranges.addresses[chosen], nbytes, step.event.block[rows]
                    )
                    np.logical_or.at(undefined, (rows, lanes), bad)
        return undefined

    def _after_surface(self, step: Step) -> None:
        """Stores the registers' bytes, if an element has as many; converted values are undefined as a whole."""
        doubtful = step.any_undefined("c") & step.true
        words = instruction_rules.to_bytes(
            step.undefined("c") or [np.zeros(step.true.shape, U64)], step.source_nbytes("c")
        )
        for place in self._spaces.touched_ranges(step.event, ("store", "reduction")):
            part = words[place.row, place.lane, : place.nbytes]
            if place.operation == "reduction" or len(part) < place.nbytes or step.inst.op.space != "surface":
                part = np.full(place.nbytes, 0xFF if doubtful[place.row, place.lane] else 0, np.uint8)
            if place.operation == "reduction":
                part = part | place.shadow.get(place.address, place.nbytes)
            self._leave(step, place, part, np.zeros_like(part), step.origin("c"))

    def _after_bulk(self, step: Step) -> None:
        """Copies bytes unchanged. If other bytes are written than read, as at the edges of a tensor, they are
        defined.
        """
        origin = np.full(len(step.slots), step.plan.instruction.number, np.int32)
        self._loaded.setdefault(step.plan.instruction.number, "the value comes from memory that was never written")
        for source, target in self._spaces.transfers(step.event):
            nbytes = sum(place.nbytes for place in target)
            undefined = _moved([each.shadow.get(each.address, each.nbytes) for each in source], nbytes)
            padding = _moved([each.shadow.padding.get(each.address, each.nbytes) for each in source], nbytes)
            first = 0
            for place in target:
                part, of_padding = (each[first : first + place.nbytes] for each in (undefined, padding))
                first += place.nbytes
                if place.operation == "reduction":
                    part, of_padding = part | place.shadow.get(place.address, place.nbytes), np.zeros_like(part)
                self._leave(step, place, part, of_padding, origin)

    def _leave(
        self, step: Step, place: ShadowRange, undefined: np.ndarray, padding: np.ndarray, origin: np.ndarray
    ) -> None:
        """Bytes of memory get these undefined bits, uint8 (nbytes,), of which those in `padding` are padding."""
        place.shadow.put(place.address, undefined)
        if padding.any() or not place.shadow.padding.is_defined:
            place.shadow.padding.put(place.address, undefined & padding)
        undefined = undefined & ~padding
        if place.space == "global" and undefined.any():
            lanes = np.zeros(step.true.shape, np.bool_)
            lanes[place.row, place.lane] = True
            text = f"writes {place.nbytes} bytes of global memory at {place.address:#x}, some of them undefined"
            at = self._place("global", place.address)
            self._report(STORE, step, lanes, origin, lambda row, lane: (text, *at))


def _values(event: TraceEvent) -> np.ndarray:
    """uint64 (4, n, 32): what the first register or constant of each slot holds; anything for a slot without one."""
    values = np.zeros((len(SLOTS), event.n_warps, 32), np.uint64)
    for operand in reversed(event.operands):
        values[SLOTS.index(operand.slot)] = operand.bits
    return values


def _is_followed(instruction: Instruction) -> bool:
    """True if it may change undefined bits even if none of its registers has one."""
    return instruction.kind in _QUICK or instruction.kind in ENDS


def _forbidden(event: TraceEvent, access: Access) -> np.ndarray | None:
    """bool (n, 32): lanes with an invalid access, None for none. These are left to memcheck, and load 0."""
    wrong = event.wrong(access)
    return None if wrong is None else np.logical_or.reduce(wrong)


def _joined(parts: list) -> np.ndarray | None:
    """The undefined bits that lanes have read in several spaces, each lane in one of them."""
    present = [part for part in parts if part is not None]
    return np.bitwise_or.reduce(present) if len(present) > 1 else next(iter(present), None)


def _moved(source: list[np.ndarray], nbytes: int) -> np.ndarray:
    """uint8 (nbytes,): undefined bits of the bytes that a bulk copy writes, repeating those of its sources. No bit is
    set if other bytes are written than read.
    """
    given = np.concatenate([NOTHING, *source])
    times, rest = divmod(nbytes, max(len(given), 1))
    return np.zeros(nbytes, np.uint8) if rest or not len(given) else np.tile(given, times)


def _padded(undefined: list, memory: list, spec: str) -> list:
    """The undefined bits of an operand: none for a constant; an empty list without an operand."""
    return undefined or [np.zeros_like(each) for each in memory] if spec else []


def _rows_of_lanes(words: list, is_transposed: bool) -> np.ndarray:
    """uint8 (n, 32, 16): rows of matrices by the lanes that have their addresses."""
    rows = [matrix_bits.rows_of_fragment(word, is_transposed) for word in words]
    rows += [np.zeros_like(rows[0])] * (4 - len(rows))
    return np.concatenate(rows, axis=1)


_ACTS: dict[str, Callable[[Initcheck, Step], None]] = {
    "compute": Initcheck._compute,
    **dict.fromkeys(("special", "query", "elect", "stack_save"), Initcheck._address_only),
    **dict.fromkeys(
        ("branch", "branch_indirect", "call", "call_indirect", "return", "exit", "trap", "sleep", "barrier",
         "barrier_arrive", "barrier_vote", "cluster_barrier", "warp_sync"), Initcheck._decides
    ),
    **dict.fromkeys(("syscall", "stack_change", "mbarrier_wait"), Initcheck._address_only),
    "load": Initcheck._load,
    "matrix_load": Initcheck._load,
    "store": Initcheck._store,
    "matrix_store": Initcheck._store,
    "atomic": Initcheck._atomic,
    "reduction": Initcheck._atomic,
    "copy": Initcheck._copy,
    "mbarrier": Initcheck._mbarrier,
    **dict.fromkeys(("bulk_load", "bulk_store", "bulk_copy", "bulk_reduction", "bulk_reduction_shared", "fetch",
                     "surface_load"), Initcheck._address_only),
    **dict.fromkeys(("surface_store", "surface_reduction"), Initcheck._surface_address),
    "shuffle": Initcheck._shuffle,
    "vote": Initcheck._vote,
    **dict.fromkeys(("match", "warp_reduction"), Initcheck._joint_result),
    "matrix": Initcheck._matrix,
    "matrix_async": Initcheck._wgmma,
    "matrix_transpose": Initcheck._transpose,
}  # fmt: skip
_QUICK: dict[str, Callable[[Initcheck, TraceEvent, Plan], None]] = {
    "load": Initcheck._quick_load,
    "matrix_load": Initcheck._quick_load,
    "store": Initcheck._quick_store,
    "matrix_store": Initcheck._quick_store,
    "mbarrier": Initcheck._quick_mbarrier,
    "copy": Initcheck._quick_copy,
    "atomic": Initcheck._quick_atomic,
    "reduction": Initcheck._quick_atomic,
}
_AFTER: dict[str, Callable[[Initcheck, Step], None]] = {
    **dict.fromkeys(("fetch", "surface_load"), Initcheck._after_fetch),
    **dict.fromkeys(("surface_store", "surface_reduction"), Initcheck._after_surface),
    **dict.fromkeys(("bulk_load", "bulk_store", "bulk_copy", "bulk_reduction", "bulk_reduction_shared"),
                    Initcheck._after_bulk),
    "matrix_async": Initcheck._after_wgmma,
}  # fmt: skip
