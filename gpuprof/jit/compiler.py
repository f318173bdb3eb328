"""Numba's compiler, extended for `parts`: what this file takes from numba.core is Numba's own business, and may change
with each of its releases.

Numba makes a finished library of every function: it links in the libraries of all that the function calls, optimises
all of it, and emits its machine code. A function ten calls deep is optimised ten times, and all but the last result are
thrown away. A `part` stays LLVM's unoptimised text instead, which is linked into the one library that Python calls.
`scalar` is the jit option of a function that Python calls, whose loops are short and full of branches: LLVM's
vectoriser makes the timing model a third slower, and unrolling takes a third of LLVM's time for nothing. Numba's own
time, the greater half, goes into finding out thousands of times what the same few operators and accessors make of the
same few types: parts find it out once.
"""

import functools
from types import SimpleNamespace
from typing import ClassVar

import numba
from llvmlite.binding import Linkage, create_pass_builder, create_pipeline_tuning_options, parse_assembly
from numba.core import cgutils, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompilerBase, Flags
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import (
    AnnotateTypes,
    IRLegalization,
    NativeLowering,
    NoPythonBackend,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import FixupArgs, ReconstructSSA, TranslateByteCode

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


class _Scalar(JITCodeLibrary):
    """A library whose loops stay as they are. There are no references to count in it, so Numba's passes before the last
    are left out.
    """

    def _optimize_final_module(self):
        options = create_pipeline_tuning_options(numba.config.OPT)
        # Measured: the vectoriser makes the timing model a third slower (see above).
        options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
        builder = create_pass_builder(self._codegen._tm, options)
        builder.getModulePassManager().run(self._final_module, builder)

    def _get_module_for_linking(self):
        """Returns only the library's names, by which Numba finds it in the cache: no other library calls it, and a
        start need not read its code twice.
        """
        names = (function.name for function in self._final_module.functions if not function.is_declaration)
        return parse_assembly("\n".join(f'define void @"{name}"() {{ ret void }}' for name in names))


class ScalarCompiler(Compiler):
    def _compile_core(self):
        if self.state.library is None:
            self.state.library = _Scalar(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
            self.state.library.enable_object_caching()
        return super()._compile_core()


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
