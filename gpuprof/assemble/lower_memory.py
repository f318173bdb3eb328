"""Loads, stores, atomics, fences, and where addresses come from."""

from typing import NamedTuple

from gpuprof.assemble import ast
from gpuprof.assemble.abi import Place
from gpuprof.assemble.ir import Inst
from gpuprof.assemble.lower_move import join, split, unpack
from gpuprof.assemble.values import Imm, NoVariant, pick, type_file, type_nbits
from gpuprof.isa.families.memory import LETTER_OF_SPACE
from gpuprof.isa.modifiers import FIELDS, pack
from gpuprof.isa.special import SPECIAL_INDEX

_SPACES = {
    "global": "global", "shared": "shared", "shared::cta": "shared", "shared::cluster": "shared", "local": "local", "const": "const", "param": "param",
    "param::entry": "param", "param::func": "param",
}  # fmt: skip
_CACHES = ("ca", "cg", "cs", "lu", "cv", "wt", "wb")
_ORDERS = ("weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "sc")
_SCOPES = {"cta": "cta", "cluster": "cluster", "gpu": "gpu", "gl": "gpu", "sys": "sys"}
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
# Cache hints change no result, and the model has no use for them.
_HINTS = frozenset(
    [
        f"{level}::{policy}"
        for level in ("L1", "L2")
        for policy in ("evict_normal", "evict_unchanged", "evict_first", "evict_last", "no_allocate")
    ]
    + ["L2::64B", "L2::128B", "L2::256B"]
)
_ACCESS = {"b8": "U8", "u8": "U8", "s8": "S8", "b16": "U16", "u16": "U16", "s16": "S16", "f16": "U16", "bf16": "U16"}
_MEMORY_TYPES = frozenset([*_ACCESS, "b32", "u32", "s32", "f32", "f16x2", "bf16x2", "b64", "u64", "s64", "f64", "b128"])


def space_of(lo) -> str:
    return _SPACES.get(lo.modifiers.one_of(_SPACES), "generic")


# -- addresses ---------------------------------------------------------------------------------------------------------------


def frame_base(lo, file: str) -> int:
    """The function's `localbase` in a register of the file (device functions only: a kernel's is 0)."""
    return lo.op("FRAME.64" if file == "D" else "FRAME", imm=SPECIAL_INDEX["localbase"])


def local_address(lo, offset: int, file: str):
    if lo.body.is_kernel:
        return Imm(offset)
    base = frame_base(lo, file)
    return lo.op("IADD.64" if file == "D" else "IADD", a=base, b=Imm(offset)) if offset else base


def address_of(lo, name: str, offset: int, file: str, generic: bool = False):
    """The address of a variable or function as a value: Imm where it is known, else a register."""
    if name in lo.variadic:
        base = lo.variadic[name] if file == "D" else lo.op("LO.64", a=lo.variadic[name])
        return lo.op("IADD.64" if file == "D" else "IADD", a=base, b=Imm(offset)) if offset else base
    kind, place = locate(lo, name)
    if kind in ("global", "function"):
        if file != "D":
            raise lo.error(f"the address of {name} needs 64 bits")
        return lo.op("MOVI.64", imm=offset, symbol=name)
    value = local_address(lo, place + offset, file) if kind == "local" else shared_address(lo, name, place, offset, file)
    if generic:
        value = lo.op(f"CVTA.{kind.upper()}", a=lo.reg(value, "D"))
    return value


def shared_address(lo, name: str, place: int | None, offset: int, file: str):
    """Imm of a variable at a known place. Dynamic shared memory seen from a device function starts behind the kernel's static part."""
    if place is not None:
        return Imm(place + offset & (0xFFFFFFFF if file == "R" else 0xFFFFFFFFFFFFFFFF))
    total, dynamic = lo.special("total_smem_size", "R"), lo.special("dynamic_smem_size", "R")
    start = lo.op("ISUB", a=total, b=dynamic)
    start = lo.op("IADD", a=start, b=Imm(offset & 0xFFFFFFFF)) if offset else start
    return lo.op("CVT.U64.U32", a=start) if file == "D" else start


def locate(lo, name: str) -> tuple[str, int | None]:
    """Space and offset of a variable; ("global" or "function", 0) when only the loader knows."""
    layout = lo.layout
    variable = lo.scope.find("variables", name) or layout.variables.get(name)
    if variable is None:
        params = layout.param_offsets.get(lo.function.name, {})
        if name in params:
            return "param", params[name]
        place = lo.convention.params.get(name) or lo.convention.returns.get(name)
        if place and place.file == "M":
            return "local", place.index
        if name in layout.functions:
            return "function", 0
        raise lo.error(f"{name} is not declared")
    if variable.space == "local":
        if name not in lo.frame.offsets:
            raise lo.error(f"{name}: local variables stand inside functions")
        return "local", lo.frame.offsets[name]
    if variable.space == "shared":
        return "shared", layout.shared_offsets[lo.function.name].get(name)
    if variable.linkage == "extern" and variable.space != "shared":
        raise lo.error(f"{name} is declared .extern and defined nowhere in this module")
    if variable.space == "const":
        return "const", layout.const_offsets[name]
    if variable.space == "param":
        raise lo.error(f"the address of parameter {name} cannot be taken")
    return "global", 0


def memory_operand(lo, operand, space: str) -> dict:
    """Slots `a`, `imm` and the addr64 bit of a memory instruction for `[base+offset]`."""
    if not isinstance(operand, ast.Memory):
        raise lo.error("expected an address in brackets")
    if operand.base is None:
        return {"a": None, "imm": operand.offset & 0xFFFFFFFF}
    offset = operand.offset
    if not -(1 << 31) <= offset < 1 << 31:
        raise lo.error(f"offset {offset} does not fit into 32 bits")
    register = lo.find_register(operand.base)
    if register is not None:
        wide = {32: 0, 64: 1}.get(register.nbits)
        if wide is None:
            raise lo.error("an address has 32 or 64 bits")
        return {"a": register.number, "imm": offset & 0xFFFFFFFF, "mods": FIELDS["addr64"].put(wide)}
    return symbol_operand(lo, operand.base.text, offset, space)


def symbol_operand(lo, name: str, offset: int, space: str) -> dict:
    """`[variable+offset]`: a constant address where the place is known."""
    kind, place = locate(lo, name)
    wide = FIELDS["addr64"].put(1)
    if kind == "local" and not lo.body.is_kernel and space in ("local", "param"):
        return {"a": frame_base(lo, "R"), "imm": place + offset}
    if kind == space or (kind == "local" and space == "param"):
        value = address_of(lo, name, offset, "D" if kind == "global" else "R")
        return {"a": None, "imm": value.bits} if isinstance(value, Imm) else {"a": value, "imm": 0, "mods": wide if kind == "global" else 0}
    if space == "generic":
        return {"a": lo.reg(address_of(lo, name, offset, "D", generic=kind != "global"), "D"), "imm": 0, "mods": wide}
    raise lo.error(f"{name} is in {kind} memory, not in {space}")


# -- ld and st ---------------------------------------------------------------------------------------------------------------


class _Access(NamedTuple):
    """What the modifiers of a load or store say; `policy`: an operand with a cache policy follows the others."""

    space: str
    mods: int
    elements: int
    kind: str
    policy: bool


def _access_modifiers(lo) -> _Access:
    """Hints are taken and forgotten; .b128 is two of 64 bits."""
    m = lo.modifiers
    order = m.one_of(_ORDERS)
    order = "mmio" if m.flag("mmio") else "" if order == "weak" else order
    scope = _SCOPES.get(m.one_of(_SCOPES), "")
    space = space_of(lo)
    cache = m.one_of(_CACHES)
    if m.flag("nc") and cache not in ("cg", "cv"):  # those say where to look, which matters more than that nobody writes
        cache = "nc"
    policy = take_hints(lo)
    elements = _VECTORS.get(m.one_of(_VECTORS), 1)
    kind = m.type()
    if kind not in _MEMORY_TYPES or (kind == "b128" and elements > 1):
        raise NoVariant(f"type .{kind} of")
    if kind == "b128":
        elements, kind = 2, "b64"
    cache = "" if cache == "wb" else cache
    return _Access(space, pack(sem=order, scope=scope, cache=cache), elements, kind, policy)


def take_hints(lo) -> bool:
    """Takes eviction priorities and prefetch sizes; whether there is a cache policy as the last operand, which is then checked."""
    while lo.modifiers.one_of(_HINTS):
        pass
    if not lo.modifiers.flag("L2::cache_hint"):
        return False
    lo.register_of(lo.operand(len(lo.inst.operands) - 1), "D")
    return True


def access_of(elements: int, nbits: int, kind: str) -> str:
    """The access of a row: 4 x b32 -> "V4.32"; small vectors are one access of their whole size."""
    total = elements * nbits
    if nbits >= 32 and elements > 1:
        return f"V{elements}.{nbits}"
    return _ACCESS.get(kind, str(total)) if elements == 1 else {16: "U16"}.get(total, str(total))


def _ld(lo):
    space, mods, elements, kind, policy = _access_modifiers(lo)
    lo.count(3 if policy else 2)
    targets = lo.operand(0).elements if isinstance(lo.operand(0), ast.Vector) else (lo.operand(0),)
    if len(targets) != elements:
        raise lo.error(f"{len(targets)} registers for {elements} elements")
    if space == "param" and load_parameter(lo, targets, lo.operand(1), kind):
        return
    if space == "param" and not lo.body.is_kernel:
        space = "local"
    load(lo, space, targets, kind, memory_operand(lo, lo.operand(1), space), mods)


def load(lo, space: str, targets: tuple, kind: str, address: dict, mods: int = 0):
    """targets = memory: one access, then the fields of small vectors are taken apart."""
    nbits, elements = type_nbits(kind), len(targets)
    row = f"LD{LETTER_OF_SPACE[space]}.{access_of(elements, nbits, kind)}"
    address["mods"] = address.get("mods", 0) | mods
    if elements == 1:
        return _load_scalar(lo, row, targets[0], kind, address)
    if nbits >= 32:
        group = tuple(lo.temp(type_file(kind)) for _ in targets)
        lo.emit(row, dst=group, **address)
        for target, value in zip(targets, group, strict=True):
            put_loaded(lo, target, kind, value)
        return None
    value = lo.op(row, **address)
    for target, field in zip(targets, split(lo, value, nbits * elements, nbits, [_is_sink(t) for t in targets]), strict=True):
        if field is not None:
            put_loaded(lo, target, kind, _sign_field(lo, field, kind))
    return None


def _is_sink(operand) -> bool:
    return isinstance(operand, ast.Name) and operand.text == "_"


def _sign_field(lo, value: int, kind: str) -> int:
    return lo.op(f"CVT.S32.{kind.upper()}", a=value) if kind in ("s8", "s16") else value


def _load_scalar(lo, row: str, target, kind: str, address: dict):
    register = lo.find_register(target)
    direct = (
        register and lo.body.files[register.number] == type_file(kind) and not (kind == "s8" and register.nbits == 16) and kind != "s16"
    )
    if direct or (kind == "s16" and register and register.nbits == 32):
        lo.emit(row, dst=register.number, **address)
    else:
        put_loaded(lo, target, kind, lo.op(row, **address))


def put_loaded(lo, target, kind: str, value):
    """Copies a loaded value into a register that may be wider than the type: extended by the type's sign."""
    if _is_sink(target):
        return
    register = lo.find_register(target)
    if register is None:
        raise lo.error("the destination must be a register")
    signed = kind[0] == "s"
    if register.nbits < type_nbits(kind) and not (register.nbits == 16 and type_nbits(kind) == 8):
        raise lo.error(f"the destination register has only {register.nbits} bits")
    if register.nbits == 64 and type_nbits(kind) < 64:
        lo.emit("CVT.S64.S32" if signed else "CVT.U64.U32", dst=register.number, a=lo.reg(value, "R"))
    elif register.nbits == 16 and signed:
        lo.emit("AND", dst=register.number, a=value, b=Imm(0xFFFF))
    else:
        lo.copy(register.number, value)


def _st(lo):
    space, mods, elements, kind, policy = _access_modifiers(lo)
    lo.count(3 if policy else 2)
    values = lo.operand(1).elements if isinstance(lo.operand(1), ast.Vector) else (lo.operand(1),)
    if len(values) != elements:
        raise lo.error(f"{len(values)} registers for {elements} elements")
    if space == "param" and store_parameter(lo, values, lo.operand(0), kind):
        return
    if space == "param":
        space = "local"
    address = memory_operand(lo, lo.operand(0), space)
    store(lo, space, [lo.src(v, store_type(kind)) for v in values], kind, address, mods)


def store_type(kind: str) -> str:
    """8-bit values are in 16-bit or wider registers."""
    return kind if type_nbits(kind) > 8 else "b16"


def store(lo, space: str, values: list, kind: str, address: dict, mods: int = 0) -> Inst:
    if space == "const":
        raise lo.error("constant memory cannot be written")
    nbits, elements = type_nbits(kind), len(values)
    access = access_of(elements, nbits, kind).replace("S", "U")
    address["mods"] = address.get("mods", 0) | mods
    file = type_file(kind)
    if elements == 1:
        b = lo.reg(values[0], file)
    elif nbits >= 32:
        b = tuple(lo.temp(file) for _ in values)
        for register, value in zip(b, values, strict=True):
            lo.copy(register, value)
    else:
        b = lo.reg(join(lo, values, nbits), "D" if nbits * elements == 64 else "R")
    return lo.emit(f"ST{LETTER_OF_SPACE[space]}.{access}", b=b, **address)


# -- parameters --------------------------------------------------------------------------------------------------------------


def load_parameter(lo, targets: tuple, operand, kind: str) -> bool:
    """ld.param of a named parameter or of a call's result; False when the address is in a register."""
    if not isinstance(operand, ast.Memory) or operand.base is None or lo.find_register(operand.base):
        return False
    name, offset = operand.base.text, operand.offset
    if lo.body.is_kernel and name in lo.layout.param_offsets[lo.function.name]:
        _load_kernel_parameter(lo, targets, lo.layout.param_offsets[lo.function.name][name] + offset, kind)
        return True
    if name in lo.variadic:
        load(lo, "local", targets, kind, {"a": lo.variadic[name], "imm": offset & 0xFFFFFFFF, "mods": FIELDS["addr64"].put(1)})
        return True
    value = lo.parameter_values.get(name)
    if value is not None:
        _load_part(lo, targets, kind, value, offset)
        return True
    place = lo.outgoing.get(name)
    if place is None:
        return False
    load(lo, "local", targets, kind, _outgoing_address(lo, place, offset))
    return True


def _load_kernel_parameter(lo, targets: tuple, offset: int, kind: str):
    """32- and 64-bit parameters are operands in the constant bank; narrower ones are loaded."""
    nbits = type_nbits(kind)
    if nbits < 32:
        return load(lo, "param", targets, kind, {"a": None, "imm": offset})
    for index, target in enumerate(targets):
        if not _is_sink(target):
            value = lo.op("MOV.64" if nbits == 64 else "MOV", slot="a", const=True, imm=offset + index * nbits // 8)
            put_loaded(lo, target, kind, value)
    return None


def _load_part(lo, targets: tuple, kind: str, value: int, offset: int):
    """A parameter that is in a register: all of it, or halves or fields."""
    nbits, held = type_nbits(kind), _held_nbits(lo, value)
    first = _first_field(lo, len(targets), nbits, held, offset, "read")
    used = range(first, first + len(targets))
    fields = [value] if held == nbits else split(lo, value, held, nbits, [i not in used for i in range(held // nbits)])
    for target, field in zip(targets, fields[first:], strict=False):
        put_loaded(lo, target, kind, _sign_field(lo, field, kind))


def _held_nbits(lo, register: int) -> int:
    return 64 if lo.body.files[register] == "D" else 32


def _first_field(lo, count: int, nbits: int, held: int, offset: int, verb: str) -> int:
    """Number of the first of `count` fields of `nbits` in a register of `held` bits."""
    if offset < 0 or offset * 8 % nbits or offset * 8 + count * nbits > held:
        raise lo.error(f"this part of a parameter in a register cannot be {verb}")
    return offset * 8 // nbits


def _outgoing_address(lo, place: Place, offset: int) -> dict:
    if place.file == "F":
        return {"a": None if lo.body.is_kernel else frame_base(lo, "R"), "imm": place.index + offset}
    if lo.body.grows_stack:  # the callee's frame begins where the stack has got to
        return {"a": lo.op("LO.64", a=lo.op("STACKSAVE")), "imm": place.index + offset}
    return {"a": None if lo.body.is_kernel else frame_base(lo, "R"), "imm": place.index + offset, "outgoing": True}


def store_parameter(lo, values: tuple, operand, kind: str) -> bool:
    """st.param: an argument of a call, or the result of this function; False when the address is in a register."""
    if not isinstance(operand, ast.Memory) or operand.base is None or lo.find_register(operand.base):
        return False
    name, offset = operand.base.text, operand.offset
    register = lo.parameter_values.get(name)
    if register is not None:
        _store_part(lo, register, values, kind, offset)
        return True
    place = lo.outgoing.get(name)
    if place is None:
        return False
    store(lo, "local", [lo.src(v, store_type(kind)) for v in values], kind, _outgoing_address(lo, place, offset))
    return True


def _store_part(lo, register: int, values: tuple, kind: str, offset: int):
    """Into a parameter that is in a register. One narrow value at its start is all of it: it is zero-extended; else the rest stays."""
    nbits, held = type_nbits(kind), _held_nbits(lo, register)
    first = _first_field(lo, len(values), nbits, held, offset, "written")
    given = [lo.src(value, store_type(kind)) for value in values]
    if nbits == held or (len(values) == 1 and not first and nbits < 32):
        value = given[0]
        return lo.copy(register, lo.op("CVT.U64.U32", a=lo.reg(value, "R")) if held == 64 and nbits < 64 else value)
    fields: list = [None] * (held // nbits)
    if len(values) < len(fields):
        used = range(first, first + len(values))
        fields = split(lo, register, held, nbits, [i in used for i in range(held // nbits)])
    fields[first : first + len(values)] = given
    return lo.copy(register, join(lo, fields, nbits))


# -- atomics and fences ------------------------------------------------------------------------------------------------------

_ATOMIC_TYPES = {"s32": {"ADD": "u32"}, "s64": {"ADD": "u64"}, "u32": {}, "u64": {}}
_OPERATIONS = ("add", "and", "or", "xor", "min", "max", "inc", "dec", "exch", "cas")


def _atomic(reduction: bool):
    def lower(lo):
        m = lo.modifiers
        order, scope = m.one_of(_ORDERS), _SCOPES.get(m.one_of(_SCOPES), "")
        space = space_of(lo)
        policy = take_hints(lo)
        operation = m.one_of(_OPERATIONS).upper()
        m.flag("noftz")
        elements = _VECTORS.get(m.one_of(_VECTORS), 1)
        kind = m.type()
        if m.rest or space not in ("global", "shared", "generic"):
            raise NoVariant(f"form .{'.'.join([space, *m.rest])} of")
        lo.count((1 if reduction else 2) + (2 if operation == "CAS" else 1) + policy)
        mods = pack(sem=order, scope=scope)
        if elements > 1 or kind == "b128":
            emit_vector_atomic(lo, reduction, space, operation, kind, mods, elements)
        else:
            emit_atomic(lo, reduction, space, operation, kind, mods)

    return lower


def emit_vector_atomic(lo, reduction: bool, space: str, operation: str, kind: str, mods: int, elements: int):
    """Several elements in one instruction. Halves are packed into words: four f16 are V2.F16X2."""
    first = 0 if reduction else 1
    address = memory_operand(lo, lo.operand(first), space)
    address["mods"] = address.get("mods", 0) | mods
    halves = kind in ("f16", "bf16")
    words = elements // 2 if halves else 2 if kind == "b128" else elements
    file = "D" if kind == "b128" else "R"
    name = "b128" if kind == "b128" else kind + "x2" if halves else kind
    part = "b64" if kind == "b128" else kind
    groups = []
    for operand in lo.inst.operands[first + 1 : first + (3 if operation == "CAS" else 2)]:
        values = [lo.src(e, part) for e in _elements(lo, operand, 2 if kind == "b128" else elements)]
        values = [join(lo, values[i : i + 2], 16) for i in range(0, elements, 2)] if halves else values
        groups.append(_fresh_group(lo, values, file))
    slots = dict(zip("bc", groups if words > 1 else [group[0] for group in groups], strict=False))
    vector = f"V{words}." if words > 1 and kind != "b128" else ""
    letter = LETTER_OF_SPACE[space]
    if reduction:
        lo.emit(f"RED{letter}.{operation}.{vector}{name}".upper(), **slots, **address)
        return
    old = tuple(lo.temp(file) for _ in range(words))
    lo.emit(f"ATOM{letter}.{operation}.{vector}{name}".upper(), dst=old if words > 1 else old[0], **slots, **address)
    if _is_sink(lo.operand(0)):
        return
    targets = _elements(lo, lo.operand(0), 2 if kind == "b128" else elements)
    for index, word in enumerate(old):
        if halves:
            unpack(lo, targets[2 * index : 2 * index + 2], "b32", word)
        else:
            lo.copy(lo.dst(targets[index], part), word)


def _elements(lo, operand, count: int) -> tuple:
    if not isinstance(operand, ast.Vector) or len(operand.elements) != count:
        raise lo.error(f"expected a vector of {count} registers")
    return operand.elements


def _fresh_group(lo, values: list, file: str) -> tuple[int, ...]:
    """Copies of the values in consecutive registers."""
    group = tuple(lo.temp(file) for _ in values)
    for register, value in zip(group, values, strict=True):
        lo.copy(register, value)
    return group


def emit_atomic(lo, reduction: bool, space: str, operation: str, kind: str, mods: int):
    first = 0 if reduction else 1
    kind_of_row = _ATOMIC_TYPES.get(kind, {}).get(operation, kind)
    address = memory_operand(lo, lo.operand(first), space)
    address["mods"] = address.get("mods", 0) | mods
    file = type_file(kind)
    values = [lo.reg(v, file) for v in lo.srcs(first + 1, kind, 2 if operation == "CAS" else 1)]
    slots = dict(zip("bc", values, strict=False))
    sink = reduction or _is_sink(lo.operand(0))
    if sink and operation not in ("EXCH", "CAS"):
        lo.emit(f"RED{LETTER_OF_SPACE[space]}.{operation}.{kind_of_row}".upper(), **slots, **address)
    else:
        dst = None if sink else lo.dst(lo.operand(0), kind)
        lo.emit(f"ATOM{LETTER_OF_SPACE[space]}.{operation}.{kind_of_row}".upper(), dst=dst, **slots, **address)


# What a fence is between, where that is more than threads of its scope.
_PROXIES = frozenset(["alias", "async", "async::generic"])
_RESTRICTIONS = frozenset(["sync_restrict::shared::cta", "sync_restrict::shared::cluster", "mbarrier_init"])


def _membar(lo):
    """All fences wait for the warp's stores. Without a scope (a fence between proxies, which no chip lets a thread limit) it is the block's."""
    m = lo.modifiers
    m.one_of(("sc", "acq_rel", "acquire", "release"))
    scope = ""
    if m.flag("proxy"):
        if not m.one_of(_PROXIES):
            raise NoVariant("proxy of")
        m.one_of(("global", "shared::cta", "shared::cluster"))
        scope = "cta"
    m.one_of(_RESTRICTIONS)
    scope = pick(_SCOPES, m.one_of(_SCOPES) or scope)
    lo.count(0)
    lo.emit("MEMBAR", mods=pack(scope=scope))


def _hint(levels: frozenset, operands: int):
    """Prefetches and what else only advises the caches: one issue slot and no result. The address must make sense all the same."""

    def lower(lo):
        space = space_of(lo)
        if not lo.modifiers.one_of(levels) or space not in ("global", "local", "generic"):
            raise NoVariant(f"form .{space} of")
        lo.count(operands)
        memory_operand(lo, lo.operand(0), space)
        lo.emit("NOP")

    return lower


_LINES = frozenset(["L1", "L2", "L2::evict_last", "L2::evict_normal"])


# -- cache policies ----------------------------------------------------------------------------------------------------------

_PRIORITIES = ("L2::evict_last", "L2::evict_normal", "L2::evict_first", "L2::evict_unchanged")


def _createpolicy(lo):
    """The policy is an opaque value, and no access here asks what is in it: it holds what tells one form from another."""
    m = lo.modifiers
    form = m.one_of(("fractional", "range", "cvt"))
    lo.modifiers.flag("global")
    if form == "cvt":
        m.flag("L2")
        m.type()
        lo.count(2)
        return lo.copy(lo.dst(lo.operand(0), "b64"), lo.src(lo.operand(1), "b64"))
    primary, secondary = m.one_of(_PRIORITIES), m.one_of(_PRIORITIES)
    m.type()
    if not form or not primary:
        raise NoVariant("form of")
    lo.count(*((1, 2) if form == "fractional" else (4,)))
    if form == "range":
        memory_operand(lo, lo.operand(1), "generic")
    number = 1 + _PRIORITIES.index(primary) + 8 * (1 + _PRIORITIES.index(secondary) if secondary else 0)
    return lo.copy(lo.dst(lo.operand(0), "b64"), Imm(number))


TABLE = {
    "ld": _ld, "ldu": _ld, "st": _st, "atom": _atomic(False), "red": _atomic(True), "membar": _membar, "fence": _membar,
    "prefetch": _hint(_LINES, 1), "prefetchu": _hint(_LINES, 1), "applypriority": _hint(_LINES, 2), "discard": _hint(_LINES, 2),
    "createpolicy": _createpolicy,
}  # fmt: skip
