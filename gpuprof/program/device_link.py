"""What stands for nvcc's link of device code: each object that clang makes with -fgpu-rdc calls a function of its own
at its start, which the linker of device code makes.
"""

import re
from collections.abc import Iterable

# By clang's CGCUDANV.cpp; the end of the name is the object's own.
REGISTER = re.compile(rb"__cudaRegisterLinkedBinary_\w+")


def linking_source(objects: Iterable[bytes]) -> str:
    """A source in C with these functions of the objects; "" where none has one."""
    names = dict.fromkeys(name.decode() for each in objects for name in REGISTER.findall(each))
    if not names:
        return ""
    lines = ["typedef void (*Register)(void **);", "void gpuprof_register_linked(Register globals, void *wrapper);"]
    for name in names:
        lines.append(f"void {name}(Register globals, void *wrapper, void *identity, void *call)")
        lines.append("{ gpuprof_register_linked(globals, wrapper); }")
    return "\n".join(lines) + "\n"
