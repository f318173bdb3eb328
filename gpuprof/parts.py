"""Functions that only other compiled functions call: their code is optimised once, within what calls them.

Numba makes a finished library of every function: it links in the libraries of all that the function calls, optimises the whole, and
emits its machine code. What stands ten calls deep is optimised ten times, and all but the last are thrown away. A `part` stays LLVM's
unoptimised text instead, which is linked into the one library that Python calls. `scalar` is the jit option of a function that Python
calls, whose loops are short and full of branches: LLVM's vectoriser makes the timing model a third slower, and its compilation longer.
"""

import functools
from types import SimpleNamespace
from typing import ClassVar

import numba
from llvmlite.binding import Linkage
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompilerBase, Flags
from numba.core.compiler_machinery import PassManager
from numba.core.typed_passes import AnnotateTypes, IRLegalization, NativeLowering, NoPythonBackend, NopythonTypeInference, PreLowerStripPhis
from numba.core.untyped_passes import FixupArgs, GenericRewrites, IRProcessing, ReconstructSSA, TranslateByteCode

_NO_ENVIRONMENT = SimpleNamespace(set_env=lambda name, environment: None)  # there is no machine code yet whose globals could be set


class _Part(JITCodeLibrary):
    """A library that is never finished, only linked into others."""

    @property
    def codegen(self):
        return _NO_ENVIRONMENT

    def _optimize_functions(self, module):
        module.data_layout = self._codegen._data_layout

    def finalize(self):
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.external:
                function.linkage = Linkage.linkonce_odr  # goes once it is inlined everywhere
        self._finalized = True

    def get_pointer_to_function(self, name):
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
    found: dict = {}
    todo = list(part._linking_libraries)
    while todo:
        library = todo.pop()
        if library not in found:
            found[library] = None
            todo += library._linking_libraries if isinstance(library, _Part) else []
    return list(found)


class _Scalar(JITCodeLibrary):
    """A library whose loops are not vectorised. There are no references to count in it, so Numba's passes before the last are left out."""

    def _optimize_final_module(self):
        manager, builder = self._codegen._module_pass_manager(loop_vectorize=False, slp_vectorize=False)
        manager.run(self._final_module, builder)


class _ScalarCompiler(Compiler):
    def _compile_core(self):
        if self.state.library is None:
            self.state.library = _Scalar(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
            self.state.library.enable_object_caching()
        return super()._compile_core()


class _Flags(Flags):
    """Numba looks functions up by the flags they are compiled with, thousands of times: the same object is found without comparing values."""

    def copy(self):
        return self


class _PartCompiler(CompilerBase):
    """Numba's passes without those for closures, generators, tuples of mixed types, `with`, `raise` and objects, which parts do without."""

    _flags: ClassVar[dict] = {}

    def __init__(self, typing_context, target_context, library, args, return_type, flags, local_types):
        flags = self._flags.setdefault(flags, _Flags(flags))
        super().__init__(typing_context, target_context, library, args, return_type, flags, local_types)

    def define_pipelines(self):
        passes = PassManager("part")
        for each in PASSES:
            passes.add_pass(each, each.name())
        passes.finalize()
        return [passes]

    def _compile_core(self):
        if self.state.library is None:
            self.state.library = _Part(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super()._compile_core()


PASSES = (
    TranslateByteCode,
    FixupArgs,
    IRProcessing,
    GenericRewrites,
    ReconstructSSA,
    NopythonTypeInference,
    PreLowerStripPhis,
    IRLegalization,
    AnnotateTypes,
    NativeLowering,
    NoPythonBackend,
)
part = functools.partial(numba.njit, pipeline_class=_PartCompiler, no_cpython_wrapper=True, no_cfunc_wrapper=True)
scalar = {"pipeline_class": _ScalarCompiler}
