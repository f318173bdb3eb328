// Chooses clang's code of NVIDIA's header of this name, which takes a compiler with __NVCC__ for nvcc.
#pragma push_macro("__NVCC__")
#undef __NVCC__
#include_next <thrust/detail/config/global_workarounds.h>
#pragma pop_macro("__NVCC__")
