"""PTX instructions to rows of the instruction table over virtual registers.

The handlers are in the sub-rooms, one table each, keyed by PTX opcode. This module keeps what they share:
scopes, operands, and `emit`.
"""

from collections.abc import Callable
from dataclasses import replace

from gpuprof.assemble.abi.calling_convention import Place
from gpuprof.assemble.abi.layout import Layout
from gpuprof.assemble.abi.limits import check_local, free_registers
from gpuprof.assemble.ir.body import Block, Body, Inst, encode_immediate, immediate_slots
from gpuprof.assemble.ir.values import Imm, Not, NoVariant, float_bits, register_parts, row, type_file, type_nbits
from gpuprof.assemble.lower import agreement
from gpuprof.assemble.lower.arithmetic import bits, compare, convert, floats, integer, video
from gpuprof.assemble.lower.data import address, atomic, cache_hints, copies, memory, move
from gpuprof.assemble.lower.engines import bulk, tensor, texture, wgmma, wmma
from gpuprof.assemble.lower.flow import call, cluster, control, mbarrier, warp
from gpuprof.assemble.lower.modifiers import Modifiers
from gpuprof.assemble.lower.scope import Register, Scope
from gpuprof.assemble.lower.targets import refusal
from gpuprof.assemble.lower.templates import apply, form_of, has_template, template_of
from gpuprof.assemble.ptx import ast
from gpuprof.errors import PtxError, UnsupportedInstruction
from gpuprof.isa.modifiers import FIELDS, pack
from gpuprof.isa.opcodes import BY_NAME
from gpuprof.isa.program import Location
from gpuprof.isa.special import LAUNCH_WORDS, SPECIAL_INDEX

HANDLERS = {
    **integer.TABLE, **bits.TABLE, **compare.TABLE, **call.TABLE, **control.TABLE, **convert.TABLE,
    **floats.TABLE, **copies.TABLE, **memory.TABLE, **atomic.TABLE, **cache_hints.TABLE,
    **move.TABLE, **texture.TABLE,
    **video.TABLE, **tensor.TABLE, **wgmma.TABLE, **wmma.TABLE, **warp.TABLE,
    **mbarrier.TABLE, **cluster.TABLE, **bulk.TABLE,
}  # fmt: skip
# Forms of an opcode that have a handler of their own: (opcode, the modifier that decides).
FORMS = {**mbarrier.FORMS, **cluster.FORMS, **bulk.FORMS}
OPCODES_WITH_FORMS = frozenset(opcode for opcode, _ in FORMS)
SPECIAL_64 = frozenset(["clock64", "globaltimer", "gridid", "current_graph_exec", *(f"pm{n}_64" for n in range(8))])
_MOST_REGISTERS = 1 << 21  # that a function may declare: each takes memory and time here
COLOURS = {".x": ".r", ".y": ".g", ".z": ".b", ".w": ".a"}


class Lowering:
    """Lowers one function. Handlers see: `inst`, `modifiers`, and the methods below."""

    def __init__(self, function: ast.Function, layout: Layout, module_name: str, unsupported: list[str]):
        self.function = function
        self.layout = layout
        self.module_name = module_name
        self.unsupported = unsupported
        self.body = Body(function.name, function.is_kernel, free_registers(layout.module.target))
        self.frame = layout.frame_of(function)
        self.scope = Scope(None, 0)
        self.scopes = 0
        # What takes the parameters belongs to the function's first line.
        self.inst: ast.Instruction = ast.Instruction("", (), [], function.line, 1, location=_first_location(function))
        self.modifiers = Modifiers(())
        self.guard: tuple[int | None, bool] = (None, False)
        self.first_temporary = 0
        self.block = Block("#entry")
        self.body.blocks.append(self.block)
        self.first = Block("#first")  # what `once` emits; it comes in front of the entry
        self.found: dict[tuple, int] = {}  # name of a value -> the register that has it
        self.carry: int | None = None
        self.has_vectors = False
        self.labels = 0
        self.results: list[tuple[Place, int]] = []  # of this function: where the convention wants them, where they are

    def run(self) -> Body:
        """The function's body in blocks, without edges (see `cfg`)."""
        if self.body.is_kernel:
            for registers in self.layout.module.registers:
                self.declare_registers(registers)
        self.open_scope()
        call.enter_function(self)
        self.statements(self.function.body)
        self.body.blocks[0].insts[:0] = self.first.insts
        self.body.names = {name: register.number for name, register in self.scope.registers.items()}
        self.body.frame_nbytes = self.frame.nbytes
        return self.body

    # -- statements --------------------------------------------------------------------------------

    def open_scope(self):
        self.scopes += 1
        self.scope = Scope(self.scope, self.scopes)

    def inner_block(self, block: ast.Block):
        self.open_scope()
        self.statements(block)
        self.scope = self.scope.parent

    def statements(self, block: ast.Block):
        """Lowers the statements of a block, in the scope that was opened for it."""
        for statement in block.statements:
            if isinstance(statement, ast.Label):
                if statement.name in self.scope.labels:
                    raise PtxError(
                        f"label {statement.name} is defined twice in one block", self.module_name, statement.line, 1
                    )
                self.scope.labels.add(statement.name)
            elif isinstance(statement, ast.BranchTargets):
                self.scope.targets[statement.name] = statement.labels
            elif isinstance(statement, ast.CallPrototype):
                self.scope.prototypes[statement.name] = statement
        call.prepare_calls(self, block)
        for statement in block.statements:
            _STATEMENTS[type(statement)](self, statement)

    def declare_registers(self, statement: ast.Registers):
        kind = statement.type
        nbits = 1 if kind == "pred" else type_nbits(kind)
        kind, parts = register_parts(kind, statement.vector)
        nbits = min(nbits, 64)
        file = "P" if nbits == 1 else "D" if nbits == 64 else "R"
        for name, count in statement.names:
            if len(self.body.files) + count > _MOST_REGISTERS:
                message = f"{name}<{count}>: more than {_MOST_REGISTERS} registers in a function"
                raise PtxError(message, self.module_name, statement.line, statement.column)
            for full in (f"{name}{n}" for n in range(count)) if count else (name,):
                if self.scope.declares(full):
                    raise PtxError(
                        f"{full} is declared twice in one block", self.module_name, statement.line, statement.column
                    )
                if len(parts) == 1:
                    self.scope.registers[full] = Register(self.body.register(file), nbits, kind)
                else:
                    self.declare_vector(full, parts, Register(0, nbits, kind), file)

    def declare_vector(self, name: str, parts: tuple[str, ...], like: Register, file: str):
        """A register of several parts: its name stands for the vector of them, `name.x` or `name.r` for the first, and
        so on.
        """
        for part in parts:
            self.scope.registers[name + part] = like._replace(number=self.body.register(file))
        self.name_vector(name, parts)

    def name_vector(self, name: str, parts: tuple[str, ...]):
        for part in parts:
            self.scope.registers[name + COLOURS.get(part, part)] = self.scope.registers[name + part]
        self.has_vectors = True
        self.scope.vectors[name] = ast.Vector(tuple(ast.Name(name + part) for part in parts))

    def expand_vectors(self, operand):
        """A vector register as an operand is a vector of registers."""
        if isinstance(operand, ast.Name):
            return self.scope.find("vectors", operand.text) or operand
        return operand

    def declare_variable(self, variable: ast.Variable):
        if self.scope.declares(variable.name):
            message = f"{variable.name} is declared twice in one block"
            raise PtxError(message, self.module_name, variable.line, variable.column)
        self.scope.variables[variable.name] = variable
        if variable.space == "local":
            self.frame.add(variable)
            check_local(self.module_name, variable, self.frame.nbytes)
        elif variable.space == "param":
            call.declare_call_variable(self, variable)

    def place_label(self, label: ast.Label):
        self.start_block(self.scope.label(label.name))

    def start_block(self, label: str):
        self.block = Block(label)
        self.body.blocks.append(self.block)

    def new_label(self) -> str:
        self.labels += 1
        return f"#{self.labels}"

    def instruction(self, inst: ast.Instruction):
        if self.has_vectors:
            inst = replace(inst, operands=[self.expand_vectors(operand) for operand in inst.operands])
        self.inst = inst
        if why := refusal(inst.opcode, self.layout.module.target):
            self.unsupported.append(self.describe("instruction", why))
            return
        found = form_of(inst, self.find_register) if has_template(inst) else None
        if found is not None:
            template = self.layout.templates.get(found[0])
            if template is not None:
                apply(template, found[1], self.body.files, inst, self.block.insts)
                return
        handler = handler_of(inst)
        if handler is None:
            self.unsupported.append(self.describe("instruction"))
            return
        self.modifiers = Modifiers(inst.modifiers)
        self.first_temporary = len(self.body.files)
        self.guard = (self.register_of(ast.Name(inst.guard), "P"), inst.guard_negated) if inst.guard else (None, False)
        block, n_before = self.block, len(self.block.insts)
        try:
            handler(self)
        except NoVariant as missing:
            self.unsupported.append(self.describe(str(missing)))
            return
        if self.modifiers.rest:
            self.unsupported.append(self.describe(f"modifier .{self.modifiers.rest[0]} of"))
        elif found is not None and self.block is block:
            files = self.body.files[self.first_temporary :]
            template = template_of(block.insts[n_before:], found[1], files, self.first_temporary)
            if template is not None:
                self.layout.templates[found[0]] = template

    def describe(self, what: str, why: str = "") -> str:
        """A message about `what`, and `why`. It begins with the user's own line: the line of the .ptx file given, or of
        the source that was compiled.
        """
        source = str(self.inst.location or "")
        if self.module_name.endswith(".ptx"):
            position, other = f"{self.module_name}:{self.inst.line}", f" (source {source})" if source else ""
        else:
            position, other = source or self.module_name, f" (PTX line {self.inst.line})"
        return f"{position}: unsupported {what} {self.inst.text}{why}{other}"

    # -- errors ------------------------------------------------------------------------------------

    def error(self, message: str) -> PtxError:
        inst = self.inst
        text = f"{inst.text}: {message}" if inst.opcode else message
        return PtxError(text, self.module_name, inst.line, inst.column, str(inst.location or ""))

    # -- operands ----------------------------------------------------------------------------------

    def operand(self, index: int):
        if index >= len(self.inst.operands):
            raise self.error(f"operand {index + 1} is missing")
        return self.inst.operands[index]

    def count(self, *allowed: int) -> int:
        n = len(self.inst.operands)
        if n not in allowed:
            raise self.error(f"{n} operands, expected {' or '.join(map(str, allowed))}")
        return n

    def temp(self, file: str) -> int:
        return self.body.register(file)

    def temps(self, file: str, count: int) -> tuple[int, ...]:
        return tuple(self.body.register(file) for _ in range(count))

    def find_register(self, operand) -> Register | None:
        if operand.__class__ is not ast.Name:
            return None
        return self.scope.registers.get(operand.text) or self.scope.find("registers", operand.text)

    def register_of(self, operand, file: str) -> int:
        """A declared register that must be of the given file."""
        register = self.find_register(operand)
        if register is None:
            raise self.error(f"{getattr(operand, 'text', operand)} is not a register")
        if self.body.files[register.number] != file:
            raise self.error(
                f"{operand.text} is a {register.nbits}-bit register, which does not fit the instruction's type"
            )
        return register.number

    def dst(self, operand, kind: str) -> int | None:
        """Destination of exactly the type's register file; None for the sink `_`."""
        if ast.is_sink(operand):
            return None
        self.check_type(operand, kind)
        return self.register_of(operand, type_file(kind))

    def src(self, operand, kind: str):
        """Value of a source operand: a virtual register, an Imm, or a Not. A wider register gives its low part."""
        file = type_file(kind)
        self.check_type(operand, kind)
        if isinstance(operand, ast.Number) and file == "P":
            return None if operand.value else Not(None)
        if isinstance(operand, ast.Number):
            return Imm(self.literal(operand, kind))
        if isinstance(operand, ast.Negated) and file == "P":
            return Not(self.register_of(operand.operand, "P"))
        if isinstance(operand, ast.Name):
            register = self.find_register(operand)
            if register is None:
                return self.symbol_value(operand.text, 0, file)
            if file == "R" and self.body.files[register.number] == "D":
                return self.op("LO.64", a=register.number)
            return self.register_of(operand, file)
        if isinstance(operand, ast.Offset) and self.find_register(ast.Name(operand.name)):
            return self.register_sum(operand, kind)
        if isinstance(operand, ast.Offset):
            return self.symbol_value(operand.name, operand.offset, file, operand.generic)
        raise self.error("this operand must be a register or a constant")

    def register_sum(self, operand: ast.Offset, kind: str) -> int:
        """`r + 5` as an operand: a sum of the type's width, as ptxas 13.0 makes it."""
        text = f"{operand.name} + {operand.offset}"
        nbits = type_nbits(kind)
        if operand.generic or nbits < 16 or not agreement.number_agrees(ast.Number(0), kind):
            raise self.error(f"{text}: a constant is added to an integer of 16 to 64 bits, and this operand is .{kind}")
        value = self.src(ast.Name(operand.name), kind)
        total = self.op("IADD.64" if nbits == 64 else "IADD", a=value, b=Imm(operand.offset & ((1 << nbits) - 1)))
        return self.op("AND", a=total, b=Imm(0xFFFF)) if nbits == 16 else total

    def check_type(self, operand, kind: str):
        """Raises PtxError when a register or a constant is of another type than the instruction."""
        if isinstance(operand, ast.Number) and not agreement.number_agrees(operand, kind):
            raise self.error(f"the constant is not of type .{kind}")
        register = self.find_register(operand)
        if register and not agreement.register_agrees(register.type, register.nbits, kind, self.inst.opcode):
            raise self.error(f"{operand.text} is a .{register.type} register, which does not fit the type .{kind}")

    def srcs(self, first: int, kind: str, count: int) -> list:
        return [self.src(self.operand(first + i), kind) for i in range(count)]

    def literal(self, number: ast.Number, kind: str) -> int:
        """Bits of a literal in a type's width. 16-bit and narrower values are zero-extended."""
        nbits = type_nbits(kind)
        if number.kind == "int":
            return number.value & ((1 << nbits) - 1)
        if number.kind != kind and kind in ("f32", "f64"):
            return float_bits(number, kind)
        if (number.kind == "f64") != (nbits == 64):
            raise self.error("the constant does not fit the type")
        return number.value

    def symbol_value(self, name: str, offset: int, file: str, generic: bool = False):
        """The address of a variable or function, or the value of a special register."""
        special = name[1:] if name.startswith("%") else ""
        if special in SPECIAL_INDEX:
            if offset:
                raise self.error(f"{name} + {offset}: a constant is added to a register of the function's own")
            return self.special(special, file)
        if name == "WARP_SZ":
            return Imm(32 + offset)
        if file == "P":
            raise self.error(f"{name} is not a predicate")
        return address.address_of(self, name, offset, file, generic)

    def special(self, name: str, file: str) -> int:
        wide = name in SPECIAL_64
        if file == "P":
            return self.op("ISETP.U32", a=self.op("S2R", imm=SPECIAL_INDEX[name]), b=Imm(0), mods=pack(cmp="ne"))
        if name in LAUNCH_WORDS:
            value = self.op("MOV", slot="a", const=True, imm=LAUNCH_WORDS[name])
        else:
            value = self.op("S2R.64" if wide else "S2R", imm=SPECIAL_INDEX[name])
        if wide == (file == "D"):
            return value
        return self.op("LO.64", a=value) if wide else self.op("CVT.U64.U32", a=value)

    # -- emission ----------------------------------------------------------------------------------

    def once(self, name: tuple, make: Callable[["Lowering"], int]) -> int:
        """The value of that name. `make` computes it from constants, special registers and other such values, where the
        function begins.
        """
        if name not in self.found:
            block, guard = self.block, self.guard
            self.block, self.guard = self.first, (None, False)
            self.found[name] = make(self)
            self.block, self.guard = block, guard
        return self.found[name]

    def op(self, name: str, **slots) -> int:
        """Emits an instruction with a new destination register, which it returns."""
        dst = self.temp(row(name).dst[0])
        self.emit(name, dst=dst, **slots)
        return dst

    def reg(self, value, file: str) -> int | None:
        """The value in a register of the file; None for zero."""
        if not isinstance(value, Imm):
            return value
        if value.bits == 0:
            return None
        if file == "D" and encode_immediate(BY_NAME["MOV.64"], "a", value.bits) is None:
            return self.op("MOVI.64", imm=value.bits)
        return self.op("MOV" if file == "R" else "MOV.64", a=value)

    def group(self, values: list, file: str) -> tuple[int, ...]:
        """Copies of the values in consecutive registers."""
        registers = self.temps(file, len(values))
        for register, value in zip(registers, values, strict=True):
            self.copy(register, value)
        return registers

    def emit(self, name: str, *, neg: str = "", mods: int = 0, **slots) -> Inst:
        """Appends an instruction. One Imm source becomes the immediate, others get registers; `neg` names negated float
        sources.
        """
        inst = Inst(row(name), mods=mods, line=self.inst.line, location=self.inst.location)
        for slot in ("a", "b", "c", "e"):
            value = slots.pop(slot, None)
            if isinstance(value, Not):
                inst.negated += slot
                value = value.register
            elif isinstance(value, Imm):
                value = self.place_immediate(inst, slot, value)
            setattr(inst, slot, value)
        for key, value in slots.items():
            setattr(inst, key, value)
        for slot in neg:
            inst.mods |= FIELDS["neg_" + slot].put(1)
        self.append(inst)
        return inst

    def place_immediate(self, inst: Inst, slot: str, value: Imm) -> int | None:
        if value.bits and not inst.slot and slot in immediate_slots(inst.op):
            encoded = encode_immediate(inst.op, slot, value.bits)
            if encoded is not None:
                inst.slot, inst.imm = slot, encoded
                return None
        return self.reg(value, getattr(inst.op, slot)[0])

    def append(self, inst: Inst):
        guard, negated = self.guard
        if guard is not None:
            inst.guard = guard
            inst.negated += "g" if negated else ""
            inst.fresh = all(r >= self.first_temporary for r in inst.writes())
        self.block.insts.append(inst)

    def copy(self, dst: int | None, value):
        """dst = value, in dst's own file."""
        if dst is None:
            return
        file = self.body.files[dst]
        if file == "P":
            self.emit("PMOV", dst=dst, a=value)
        elif file == "D" and isinstance(value, Imm) and encode_immediate(BY_NAME["MOV.64"], "a", value.bits) is None:
            self.emit("MOVI.64", dst=dst, imm=value.bits)
        else:
            self.emit("MOV" if file == "R" else "MOV.64", dst=dst, a=value)


_STATEMENTS = {
    ast.Instruction: Lowering.instruction,
    ast.Label: Lowering.place_label,
    ast.Registers: Lowering.declare_registers,
    ast.Variable: Lowering.declare_variable,
    ast.Block: Lowering.inner_block,
    ast.NoUnroll: lambda self, statement: self.body.rolled.add(self.block.label),
    ast.BranchTargets: lambda self, statement: None,
    ast.CallPrototype: lambda self, statement: None,
}


def handler_of(inst: ast.Instruction):
    """The handler that lowers an instruction; None when its opcode has none."""
    if inst.opcode in OPCODES_WITH_FORMS:
        for modifier in inst.modifiers:
            if (inst.opcode, modifier) in FORMS:
                return FORMS[inst.opcode, modifier]
    return HANDLERS.get(inst.opcode)


def _first_location(function: ast.Function) -> Location | None:
    statements = function.body.statements if function.body else ()
    return next((each.location for each in statements if isinstance(each, ast.Instruction) and each.location), None)


def lower_function(function: ast.Function, layout: Layout, unsupported: list[str]) -> Body:
    """The body of a function that has one. Every instruction there is no lowering for is described in `unsupported`.

    Raises PtxError at anything invalid.
    """
    module = layout.module
    body = Lowering(function, layout, module.name, unsupported).run()
    body.keeps_order = module.is_debug
    body.keeps_loops = module.is_debug or module.keeps_loops or "nounroll" in function.directives
    return body


def check_supported(unsupported: list[str]) -> None:
    """Raises UnsupportedInstruction that lists every instruction there is no lowering for, if there is any."""
    if unsupported:
        more = f"\n... and {len(unsupported) - 20} more" if len(unsupported) > 20 else ""
        raise UnsupportedInstruction("\n".join(unsupported[:20]) + more)
