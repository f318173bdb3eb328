// Modules that the program loads itself, and their functions. Libraries and kernels are the same under other names.
#pragma once

#include "driver_calls.h"
#include "list.h"
#include "modules.h"

struct CUmod_st {
    unsigned long long number;
    gpuprof::List<CUfunction> functions; // as they are asked for
    bool is_unloaded;
};
struct CUfunc_st {
    CUmodule module;
    char *name;
    gpuprof::Kernel kernel;
    int most_dynamic_nbytes, carveout, is_non_portable, cluster_policy, cluster[3]; // as the program set them
    dim3 block;                                                                     // of cuLaunch
    unsigned shared_nbytes, params_nbytes;
    char params[4096];
};

namespace gpuprof {

bool is_function(CUfunction function); // of a module that is loaded

// `extra` of a launch: a list of names and values that names the packed parameters.
CUresult packed_of(void **extra, const void **packed, size_t *nbytes);

// The module of PTX text, or of a fatbin that has some.
CUresult load_image(CUmodule *made, const void *image);
CUresult find_function(CUfunction *found, CUmodule module, const char *name);

// What a program asks of the assembler beside the module.
struct JitOptions {
    Room error, info;
    void **error_length, **info_length, **wall_time; // where the program wants them
};
CUresult read_options(JitOptions *to, unsigned n, const CUjit_option *options, void **values);
void give_logs(const JitOptions &options, CUresult result); // as the last failed message has it

CUresult read_file(char **text, const char *name); // that the caller frees; it ends in a zero

} // namespace gpuprof
