"""Functions that only other compiled functions call: their code is optimised once, within what calls them.

Numba makes a finished library of every function: it links in the libraries of all that the function calls, optimises the whole, and
emits its machine code. What stands ten calls deep is optimised ten times, and eleven of the twelve times are thrown away. A part stays
LLVM's unoptimised text instead, which is linked into the one library that Python calls.
"""

import functools
from types import SimpleNamespace

import numba
from llvmlite.binding import Linkage
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

_NO_ENVIRONMENT = SimpleNamespace(set_env=lambda name, environment: None)  # there is no machine code yet whose globals could be set


class _Part(JITCodeLibrary):
    """A library that is never finished, only linked into others."""

    @property
    def codegen(self):
        return _NO_ENVIRONMENT

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


class _PartCompiler(Compiler):
    def _compile_core(self):
        if self.state.library is None:
            self.state.library = _Part(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super()._compile_core()


part = functools.partial(numba.njit, pipeline_class=_PartCompiler, no_cpython_wrapper=True, no_cfunc_wrapper=True)
