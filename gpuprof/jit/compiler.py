"""Numba's compiler, extended for `parts`: what this file takes from numba.core is Numba's own business, and may change
with each of its releases.

Numba makes a finished library of every function: it links in the libraries of all that the function calls, optimises
all of it, and emits its machine code. A function ten calls deep is optimised ten times, and all but the last result are
thrown away. A `part` stays LLVM's unoptimised text instead, which is linked into the one library that Python calls.
What Python calls becomes an object file for a processor, with an entry of ours (`object_files`). `is_scalar` is an
option of a function whose loops are short and full of branches: LLVM's vectoriser makes the timing model a third
slower, and unrolling takes a third of LLVM's time for nothing. Numba's own time, the greater half, goes into finding
out thousands of times what the same few operators and accessors make of the same few types: parts find it out once.
"""

import functools
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import ClassVar, NamedTuple

import numba
import numpy as np
from llvmlite.binding import Linkage, create_pass_builder, create_pipeline_tuning_options, parse_assembly
from numba.core import cgutils, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, Flags
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.lowering import Lower
from numba.core.registry import cpu_target
from numba.core.typed_passes import (
    AnnotateTypes,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import FixupArgs, ReconstructSSA, TranslateByteCode

from gpuprof.jit.arguments import Array, Kind, Number
from gpuprof.jit.processor import compiling_for, target_machine

# there is no machine code yet whose globals could be set
_NO_ENVIRONMENT = SimpleNamespace(set_env=lambda name, environment: None)


class _Part(JITCodeLibrary):
    """A library that is never finished, only linked into others."""

    @property
    def codegen(self):
        return _NO_ENVIRONMENT

    def _optimize_functions(self, module):
        # Numba sets the layout here and then optimises each function. A part keeps the layout and
        # leaves out the rest.
        module.data_layout = self._codegen._data_layout

    def finalize(self):
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.external:
                function.linkage = Linkage.linkonce_odr  # goes once it is inlined everywhere
        self._finalized = True

    def get_pointer_to_function(self, name):
        # Numba asks for an address at the end of each compilation, but no part is called through it.
        return 0

    def _get_module_for_linking(self):
        """This part, and all that it calls, directly or not."""
        if self._shared_module is None:
            self._shared_module = self._final_module.clone()
            for library in _called_by(self):
                module = library._final_module if isinstance(library, _Part) else library._get_module_for_linking()
                self._shared_module.link_in(module, preserve=True)
        return self._shared_module


def _called_by(part: _Part) -> list:
    """The libraries that a part's calls lead to."""
    libraries: dict = {}
    todo = list(part._linking_libraries)
    while todo:
        library = todo.pop()
        if library not in libraries:
            libraries[library] = None
            todo += library._linking_libraries if isinstance(library, _Part) else []
    return list(libraries)


class _Whole(JITCodeLibrary):
    """A library that becomes object files: a function, all that it calls, and the entry through which Python calls it.
    It is not loaded here.
    """

    def __init__(self, codegen, entry: "Entry"):
        super().__init__(codegen, entry.name)
        self.entry = entry

    @property
    def codegen(self):
        return _NO_ENVIRONMENT

    def get_pointer_to_function(self, name):
        return 0

    def finalize(self):
        """Links all into one module, which stays as it is: it is optimised for each processor (`object_for`)."""
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._final_module.link_in(parse_assembly(MEMORY), preserve=True)
        for function in self._final_module.functions:
            if not function.is_declaration and function.name != self.entry.name:
                function.linkage = Linkage.internal
        self._finalized = True

    def object_for(self, machine) -> "ObjectFile":
        """The object file for a processor."""
        whole = self._final_module
        self._final_module = whole.clone()
        try:
            with _for_processor(self._codegen, machine):
                if self.entry.is_scalar:
                    self._optimize_scalar()
                else:
                    self._optimize_final_module()
                self._check_globals()
                _rename(self._final_module, self.entry.name)
                self._final_module.verify()
                return ObjectFile(machine.emit_object(self._final_module), _names_outside(self._final_module))
        finally:
            self._final_module = whole

    def _check_globals(self):
        """Raises TypeError for code that has addresses of this process in it."""
        self._finalize_dynamic_globals()
        if self._dynamic_globals:
            raise TypeError(f"{self.entry.name} cannot be stored: {self._dynamic_globals}")

    def _optimize_scalar(self):
        """Loops stay as they are. There are no references to count, so Numba's passes before the last are left out."""
        options = create_pipeline_tuning_options(numba.config.OPT)
        # Measured: the vectoriser makes the timing model a third slower (see above).
        options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
        builder = create_pass_builder(self._codegen._tm, options)
        builder.getModulePassManager().run(self._final_module, builder)


@contextmanager
def _for_processor(codegen, machine):
    """Numba's passes ask the processor that they find here what it is good at."""
    own, codegen._tm = codegen._tm, machine
    try:
        yield
    finally:
        codegen._tm = own


def _rename(module, entry: str) -> None:
    """Gives all that is internal short names: Numba's count the functions that it has compiled before."""
    for number, value in enumerate([*module.functions, *module.global_variables]):
        if not value.is_declaration and value.name != entry:
            value.linkage = Linkage.internal
            value.name = f"_{number}"


def _names_outside(module) -> list[str]:
    """Names that a module uses and does not define, without those that LLVM knows itself. Raises TypeError
    for those of Numba's library.
    """
    values = [*module.functions, *module.global_variables]
    names = sorted(value.name for value in values if value.is_declaration and not value.name.startswith("llvm."))
    if of_numba := [name for name in names if name.startswith(("NRT_", "numba_"))]:
        raise TypeError(f"compiled code needs {', '.join(of_numba)} of Numba's library")
    return names


class ObjectFile(NamedTuple):
    """names: what it asks for from outside."""

    code: bytes
    names: list[str]


class Entry(NamedTuple):
    """name: of the function that Python calls. add: adds it, entry.add_call or add_loop. kinds: of its arguments."""

    name: str
    add: Callable
    kinds: tuple[Kind, ...]
    is_scalar: bool


class _EntryLower(Lower):
    def create_cpython_wrapper(self, release_gil=False):
        entry = self.library.entry
        entry.add(self.context, self.library, self.fndesc, entry.name, entry.kinds)


@register_pass(mutates_CFG=True, analysis_only=False)
class _EntryLowering(NativeLowering):
    _name = "entry_lowering"
    lowering_class = _EntryLower


def _compiler_for(entry: Entry) -> type[CompilerBase]:
    """Numba's compiler, which makes a `_Whole` with this entry."""

    class EntryCompiler(CompilerBase):
        def define_pipelines(self):
            passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
            own = PassManager("entry")
            for pass_type, name in passes.passes:
                own.add_pass(_EntryLowering if pass_type is NativeLowering else pass_type, name)
            own.finalize()
            return [own]

        def _compile_core(self):
            if self.state.library is None:
                self.state.library = _Whole(self.state.targetctx.codegen(), entry)
            return super()._compile_core()

    return EntryCompiler


def object_files(function, options: dict, entry: Entry, processors: Sequence[str]) -> dict[str, ObjectFile]:
    """Compiles a function of Python to an object file for each processor. options: of numba.njit."""
    dispatcher = numba.njit(pipeline_class=_compiler_for(entry), no_cfunc_wrapper=True, **options)(function)
    codegen = dispatcher.targetctx.codegen()
    machines = {name: target_machine(name) for name in processors}
    with compiling_for(processors), _for_processor(codegen, machines[processors[-1]]):
        dispatcher.compile(tuple(map(numba_type, entry.kinds)))
        (result,) = dispatcher.overloads.values()
        result.library.finalize()
    return {name: result.library.object_for(machine) for name, machine in machines.items()}


# How Numba's code gets memory (numba/core/runtime/nrt.cpp), without its library: a record {references, what to call at
# the end, its argument, data, size, allocator}, and after it the data.
MEMORY = """
declare ptr @malloc(i64)
declare void @free(ptr)

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %wide = zext i32 %align to i64
  %more = add i64 %wide, 48
  %total = add i64 %size, %more
  %record = call ptr @malloc(i64 %total)
  %none = icmp eq ptr %record, null
  br i1 %none, label %end, label %fill
fill:
  %start = ptrtoint ptr %record to i64
  %after = add i64 %start, %more
  %rest = urem i64 %after, %wide
  %at = sub i64 %after, %rest
  %data = inttoptr i64 %at to ptr
  store i64 1, ptr %record
  %field1 = getelementptr i8, ptr %record, i64 8
  store ptr null, ptr %field1
  %field2 = getelementptr i8, ptr %record, i64 16
  store ptr null, ptr %field2
  %field3 = getelementptr i8, ptr %record, i64 24
  store ptr %data, ptr %field3
  %field4 = getelementptr i8, ptr %record, i64 32
  store i64 %size, ptr %field4
  %field5 = getelementptr i8, ptr %record, i64 40
  store ptr null, ptr %field5
  br label %end
end:
  ret ptr %record
}

define ptr @NRT_MemInfo_alloc(i64 %size) {
  %record = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 16)
  ret ptr %record
}

define ptr @NRT_Allocate(i64 %size) {
  %data = call ptr @malloc(i64 %size)
  ret ptr %data
}

define void @NRT_Free(ptr %data) {
  call void @free(ptr %data)
  ret void
}

define ptr @NRT_MemInfo_alloc_safe_aligned(i64 %size, i32 %align) {
  %record = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align)
  ret ptr %record
}

define void @NRT_MemInfo_call_dtor(ptr %record) {
  call void @free(ptr %record)
  ret void
}
"""


class _Flags(Flags):
    """Numba looks functions up by the flags they are compiled with, thousands of times: the same object is found
    without comparing values.
    """

    def copy(self):
        # A doubt: this is right only as long as Numba never changes such a copy in place.
        return self


@functools.cache
def _signature(context, function: types.Function, args: tuple):
    """The types that a builtin function, an operator or an accessor takes and gives for arguments of these types."""
    return function.get_call_type(context, args, {})


class _Typing:
    """Numba's typing context, with a memory."""

    def __init__(self, context):
        self._context = context

    def __getattr__(self, name: str):
        return getattr(self._context, name)

    def resolve_function_type(self, function, args, kws):
        # A builtin always gives the same answer for the same types. A function of ours may not be compiled yet.
        if kws or not isinstance(function, types.Function):
            return self._context.resolve_function_type(function, args, kws)
        return _signature(self._context, function, tuple(args))


class _Lower(Lower):
    """Writes LLVM's text without debug information, for which Numba asks LLVM the size of each variable even if none is
    wanted.
    """

    def alloca_lltype(self, name, lltype, datamodel=None):
        return cgutils.alloca_once(self.builder, lltype, name=name, zfill=False)

    def storevar(self, value, name, argidx=None):
        super().storevar(value, name)

    def lower_binop(self, resty, expr, op):
        """Lowers an operator without Numba's search for one that is made for a constant operand."""
        signature = self.fndesc.calltypes[expr]
        operands = zip((expr.lhs, expr.rhs), signature.args, strict=True)
        values = [
            self.context.cast(self.builder, self.loadvar(variable.name), self.typeof(variable.name), type)
            for variable, type in operands
        ]
        typing = self.context.typing_context
        function = typing.resolve_value_type(op)
        implementation = self.context.get_function(function, _signature(typing, function, signature.args))
        return self.context.cast(self.builder, implementation(self.builder, values), signature.return_type, resty)


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    _name = "part_lowering"
    lowering_class = _Lower


class PartCompiler(CompilerBase):
    """Numba's passes without those for closures, generators, constant places of tuples, `with`, `raise`, `print` and
    objects, which parts do without."""

    _flags: ClassVar[dict] = {}
    _typing: ClassVar[dict] = {}

    def __init__(self, typing_context, target_context, library, args, return_type, flags, local_types):
        # One object for equal flags and one for a context in the whole process, so that look-ups find them by identity.
        flags = self._flags.setdefault(flags, _Flags(flags))
        typing_context = self._typing.setdefault(typing_context, _Typing(typing_context))
        super().__init__(typing_context, target_context, library, args, return_type, flags, local_types)

    def define_pipelines(self):
        passes = PassManager("part")
        for pass_type in PASSES:
            passes.add_pass(pass_type, pass_type.name())
        passes.finalize()
        return [passes]

    def _compile_core(self):
        if self.state.library is None:
            self.state.library = _Part(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super()._compile_core()


PASSES = (
    TranslateByteCode,
    FixupArgs,
    ReconstructSSA,
    NopythonTypeInference,
    PreLowerStripPhis,
    IRLegalization,
    AnnotateTypes,
    _Lowering,
    NoPythonBackend,
)


def numba_type(kind: Kind) -> types.Type:
    """Numba's type of an argument."""
    if isinstance(kind, Number):
        return numba.from_dtype(np.dtype(kind.code))
    if isinstance(kind, Array):
        element = numba.from_dtype(np.dtype(kind.code))
        return types.Array(element, kind.n_dimensions, kind.layout)
    items = tuple(map(numba_type, kind.items))
    if not kind.of:
        return types.BaseTuple.from_types(items)
    return types.BaseTuple.from_types(items, kind.python_class())


def type_of(made) -> types.Type:
    """Numba's type of a function or an intrinsic of its own."""
    context = cpu_target.typing_context
    context.refresh()  # it learns of new intrinsics
    return context.resolve_value_type(made)
