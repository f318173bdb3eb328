"""The function through which Python calls compiled code, as LLVM's text: it takes objects apart, lets other threads run
meanwhile, and makes an object of the result. Numba's own one needs Numba to call it.

Objects that are not of the kinds that the function was compiled for give NotImplemented: the caller then has the
arguments' kinds looked at. Layouts of objects: CPython's Include/object.h, numpy's ndarraytypes.h
(PyArrayObject_fields); numpy keeps them for programs that were built before.
"""

from collections.abc import Sequence

from llvmlite import ir
from numba.core import cgutils, types
from numba.np.arrayobj import populate_array

from gpuprof.jit.arguments import Array, Kind, Number, Tuple
from gpuprof.jit.loading import CLASS, DTYPE, ERROR, NDARRAY, SCALAR

BYTE, INT, INT64, DOUBLE = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()
POINTER = BYTE.as_pointer()
TYPE, DATA, N_DIMENSIONS, DIMENSIONS, STRIDES, DESCR, FLAGS = 8, 16, 24, 32, 40, 56, 64  # bytes from an object's start
TUPLE_LENGTH, TUPLE_ITEMS = 16, 24
C_ORDER, F_ORDER, ALIGNED = 0x1, 0x2, 0x100  # numpy, ndarraytypes.h
ORDER = {"C": C_ORDER, "F": F_ORDER, "A": 0}


class _Objects:
    """Writes code that looks into objects. What does not fit branches to `refuse`."""

    def __init__(self, context, builder, refuse):
        self.context, self.builder, self.refuse = context, builder, refuse

    def named(self, name: str):
        """The address of something outside."""
        module = self.builder.module
        found = module.globals.get(name) or ir.GlobalVariable(module, BYTE, name)
        return found

    def call(self, name: str, result, *values):
        kind = ir.FunctionType(result, [value.type for value in values])
        return self.builder.call(cgutils.get_or_insert_function(self.builder.module, kind, name), values)

    def field(self, pointer, offset: int, kind=POINTER):
        builder = self.builder
        return builder.load(builder.bitcast(builder.gep(pointer, [INT64(offset)]), kind.as_pointer()))

    def require(self, condition):
        fits = self.builder.append_basic_block("fits")
        self.builder.cbranch(condition, fits, self.refuse)
        self.builder.position_at_end(fits)

    def require_same(self, one, other):
        self.require(self.builder.icmp_unsigned("==", one, other))

    def value(self, kind: Kind, numba_type, pointer):
        """The value, as compiled code has it, of the object at `pointer`."""
        if isinstance(kind, Number):
            return self.number(kind.code, pointer)
        if isinstance(kind, Array):
            return self.array(kind, numba_type, pointer)
        return self.tuple(kind, numba_type, pointer)

    def number(self, code: str, pointer):
        builder = self.builder
        if code == "b1":
            is_true, is_false = (
                builder.or_(self.same(pointer, f"_Py_{name}Struct"), self.same(pointer, SCALAR + name))
                for name in ("True", "False")
            )
            self.require(builder.or_(is_true, is_false))
            return is_true
        own = self.field(pointer, TYPE)
        is_numpy = self.same(own, SCALAR + code)
        if code == "f4":
            self.require(is_numpy)
            return builder.fptrunc(self.call("PyFloat_AsDouble", DOUBLE, pointer), ir.FloatType())
        if code == "f8":
            self.require(builder.or_(is_numpy, self.same(own, "PyFloat_Type")))
            return self.call("PyFloat_AsDouble", DOUBLE, pointer)
        if code == "u8":
            self.require(is_numpy)
            number = self.call("PyNumber_Index", POINTER, pointer)
            value = self.call("PyLong_AsUnsignedLongLong", INT64, number)
            self.call("Py_DecRef", ir.VoidType(), number)
            return value
        assert code == "i8", code  # numbers have no other kinds
        self.require(builder.or_(is_numpy, self.same(own, "PyLong_Type")))
        overflow = cgutils.alloca_once(builder, INT)
        value = self.call("PyLong_AsLongLongAndOverflow", INT64, pointer, overflow)
        self.require_same(builder.load(overflow), INT(0))
        return value

    def same(self, pointer, name: str):
        return self.builder.icmp_unsigned("==", pointer, self.named(name))

    def array(self, kind: Array, numba_type, pointer):
        builder = self.builder
        self.require(self.same(self.field(pointer, TYPE), NDARRAY))
        self.require(self.same(self.field(pointer, DESCR), DTYPE + kind.code))
        self.require_same(self.field(pointer, N_DIMENSIONS, INT), INT(kind.n_dimensions))
        needed = INT(ALIGNED | ORDER[kind.layout])
        self.require_same(builder.and_(self.field(pointer, FLAGS, INT), needed), needed)
        dimensions, strides = self.field(pointer, DIMENSIONS), self.field(pointer, STRIDES)
        shape = [self.field(dimensions, 8 * k, INT64) for k in range(kind.n_dimensions)]
        array = self.context.make_array(numba_type)(self.context, builder)
        element = self.context.get_data_type(numba_type.dtype).as_pointer()
        populate_array(
            array,
            data=builder.bitcast(self.field(pointer, DATA), element),
            shape=shape,
            strides=[self.field(strides, 8 * k, INT64) for k in range(kind.n_dimensions)],
            itemsize=INT64(int(kind.code[1:])),
            meminfo=None,  # the caller holds the object
        )
        return array._getvalue()

    def tuple(self, kind: Tuple, numba_type, pointer):
        name = CLASS + kind.of if kind.of else "PyTuple_Type"
        self.require(self.same(self.field(pointer, TYPE), name))
        self.require_same(self.field(pointer, TUPLE_LENGTH, INT64), INT64(len(kind.items)))
        values = [
            self.value(item, item_type, self.field(pointer, TUPLE_ITEMS + 8 * k))
            for k, (item, item_type) in enumerate(zip(kind.items, numba_type, strict=True))
        ]
        return self.context.make_tuple(self.builder, numba_type, values)

    def boxed(self, numba_type, value):
        """A new object for a result."""
        builder, numba_type = self.builder, types.unliteral(numba_type)
        if isinstance(numba_type, types.NoneType):
            return self.owned("_Py_NoneStruct")
        if isinstance(numba_type, types.Boolean):
            return self.call("PyBool_FromLong", POINTER, builder.zext(value, INT64))
        if isinstance(numba_type, types.Integer):
            if numba_type.signed:
                return self.call("PyLong_FromLongLong", POINTER, self.widened(builder.sext, value))
            return self.call("PyLong_FromUnsignedLongLong", POINTER, self.widened(builder.zext, value))
        if isinstance(numba_type, types.Float):
            wide = value if value.type == DOUBLE else builder.fpext(value, DOUBLE)
            return self.call("PyFloat_FromDouble", POINTER, wide)
        if not isinstance(numba_type, types.BaseTuple):
            raise TypeError(f"compiled code cannot give {numba_type} to Python")
        result = self.call("PyTuple_New", POINTER, INT64(len(numba_type)))
        for k, item_type in enumerate(numba_type):
            item = self.boxed(item_type, builder.extract_value(value, k))
            self.call("PyTuple_SetItem", INT, result, INT64(k), item)  # the tuple owns it from here on
        return result

    def widened(self, extend, value):
        return value if value.type == INT64 else extend(value, INT64)

    def owned(self, name: str):
        pointer = self.named(name)
        self.call("Py_IncRef", ir.VoidType(), pointer)
        return pointer


def add_call(context, library, descriptor, name: str, kinds: Sequence[Kind]) -> None:
    """Adds to a library the function `name`, with CPython's METH_FASTCALL, that calls the one of the descriptor."""
    module = library.create_ir_module("entry")
    kind = ir.FunctionType(POINTER, [POINTER, POINTER.as_pointer(), INT64])
    function = ir.Function(module, kind, name)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    refuse = function.append_basic_block("refuse")
    objects = _Objects(context, builder, refuse)
    objects.require_same(function.args[2], INT64(len(kinds)))
    values = [
        objects.value(kind, numba_type, builder.load(builder.gep(function.args[1], [INT64(k)])))
        for k, (kind, numba_type) in enumerate(zip(kinds, descriptor.argtypes, strict=True))
    ]
    state = objects.call("PyEval_SaveThread", POINTER)
    status, result = _called(context, builder, descriptor, values)
    objects.call("PyEval_RestoreThread", ir.VoidType(), state)
    with builder.if_then(status.is_error, likely=False):
        message = context.insert_const_string(module, f"{descriptor.qualname} failed, in compiled code")
        objects.call("PyErr_SetString", ir.VoidType(), objects.named(ERROR), message)
        builder.ret(POINTER(None))
    builder.ret(objects.boxed(descriptor.restype, result))
    builder.position_at_end(refuse)
    builder.ret(objects.owned("_Py_NotImplementedStruct"))
    library.add_ir_module(module)


def _called(context, builder, descriptor, values):
    function = context.declare_function(builder.module, descriptor)
    return context.call_conv.call_function(builder, function, descriptor.restype, descriptor.argtypes, values)


def add_loop(context, library, descriptor, name: str, kinds: Sequence[Kind]) -> None:
    """Adds to a library the loop of a ufunc, which calls the function of the descriptor for each element."""
    module = library.create_ir_module("entry")
    kind = ir.FunctionType(ir.VoidType(), [POINTER.as_pointer(), INT64.as_pointer(), INT64.as_pointer(), POINTER])
    function = ir.Function(module, kind, name)
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    columns, n, steps, _ = function.args
    types_of_columns = [*descriptor.argtypes, types.unliteral(descriptor.restype)]
    assert len(types_of_columns) == len(kinds) + 1

    def at(array, k):
        return builder.load(builder.gep(array, [INT64(k)]))

    starts = [at(columns, k) for k in range(len(types_of_columns))]
    strides = [at(steps, k) for k in range(len(types_of_columns))]
    with cgutils.for_range(builder, builder.load(n)) as loop:
        places = [
            builder.bitcast(
                builder.gep(start, [builder.mul(loop.index, stride)]), context.get_data_type(each).as_pointer()
            )
            for start, stride, each in zip(starts, strides, types_of_columns, strict=True)
        ]
        _, result = _called(context, builder, descriptor, [builder.load(place) for place in places[:-1]])
        builder.store(result, places[-1])
    builder.ret_void()
    library.add_ir_module(module)
