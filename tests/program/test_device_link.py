"""The functions that objects of linked device code call at their start."""

from gpuprof.program.build import linking_source

OBJECTS = (
    b"\x7fELF\0main\0__cudaRegisterLinkedBinary__nv_c994a5\0\0",
    b"\x7fELF\0__cudaRegisterLinkedBinary__nv_c2\0puts\0__cudaRegisterLinkedBinary__nv_c2\0",
    b"\x7fELF\0of a host file\0",
)
SOURCE = """\
typedef void (*Register)(void **);
void gpuprof_register_linked(Register globals, void *wrapper);
void __cudaRegisterLinkedBinary__nv_c994a5(Register globals, void *wrapper, void *identity, void *call)
{ gpuprof_register_linked(globals, wrapper); }
void __cudaRegisterLinkedBinary__nv_c2(Register globals, void *wrapper, void *identity, void *call)
{ gpuprof_register_linked(globals, wrapper); }
"""


def test_each_object_has_a_function():
    assert linking_source(OBJECTS) == SOURCE
    assert linking_source(OBJECTS[2:]) == ""
