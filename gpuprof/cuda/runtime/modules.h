// What the executable has registered: kernels and variables, by the addresses that the program knows them by.
#pragma once

#include "channel.h"

namespace gpuprof {

struct Parameter {
    unsigned offset, nbytes;
};

struct Kernel {
    unsigned long long function;
    unsigned n_params, params_nbytes;
    const Parameter *params;
    cudaFuncAttributes attributes;
    const char *symbol;
};

struct Variable {
    unsigned long long address, nbytes;
};

// Both ask gpuprof at their first use. An error is given back in `status`.
const Kernel *kernel_of(const void *stub, cudaError_t *status);
const Kernel *kernel_to_launch(const void *stub, cudaError_t *status); // gpuprof says that it is not there
cudaError_t variable_of(const void *shadow, Variable *found);

// Makes an address stand for a kernel, as a stub does.
void add_kernel(const void *handle, const char *symbol, const Kernel &kernel);

// By their symbols, in a module that gpuprof knows by its number.
cudaError_t ask_kernel(unsigned long long module, const char *symbol, Kernel *found);
cudaError_t ask_variable(unsigned long long module, const char *symbol, Variable *found);

} // namespace gpuprof
