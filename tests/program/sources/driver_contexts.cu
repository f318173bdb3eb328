// The driver: its state, contexts, devices, modules, functions, launches.
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

static const char scale[] = R"(
.version 8.0
.target sm_70
.address_size 64
.extern .func (.param .b32 r) thrice (.param .b32 x);
.visible .global .align 4 .u32 bias[3];
.visible .entry scale(.param .u64 to, .param .u32 n, .param .f32 unused)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [n];
    { .param .b32 x; .param .b32 r; st.param.b32 [x], %r1; call.uni (r), thrice, (x); ld.param.b32 %r2, [r]; }
    st.global.u32 [%rd1], %r2;
    ret;
}
)";
static const char thrice[] = R"(
.version 8.0
.target sm_70
.address_size 64
.visible .func (.param .b32 r) thrice (.param .b32 x)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [x];
    mul.lo.u32 %r2, %r1, 3;
    st.param.b32 [r], %r2;
    ret;
}
)";
static const char broken[] = ".version 8.0\n.target sm_70\n.address_size 64\n.visible .entry k() { add.u32 %r1, %r2; ret; }\n";

static const char *name_of(CUresult error)
{
    const char *name = "?";
    cuGetErrorName(error, &name);
    return strncmp(name, "CUDA_", 5) ? name : name + 5;
}
#define SHOW(call) printf("%s: %s\n", #call, name_of(call))
#define MUST(call)                                                                                                     \
    if (CUresult error = (call))                                                                                       \
        return printf("line %d: %s\n", __LINE__, name_of(error));

int states()
{
    CUdevice device;
    CUcontext first, second, found;
    CUdeviceptr p;
    int active;
    unsigned flags, version;
    unsigned long long id;
    SHOW(cuDeviceGet(&device, 0));
    SHOW(cuInit(1));
    MUST(cuInit(0));
    SHOW(cuMemAlloc(&p, 4));
    SHOW(cuDeviceGet(&device, 1));
    MUST(cuDevicePrimaryCtxGetState(0, &flags, &active));
    printf("primary active %d\n", active);
    MUST(cuCtxCreate(&first, CU_CTX_SCHED_SPIN, 0)); // the form of CUDA 12
    MUST(cuCtxCreate(&second, nullptr, 0, 0));       // and of 13
    MUST(cuCtxGetId(second, &id));
    MUST(cuCtxGetApiVersion(second, &version));
    MUST(cuCtxPopCurrent(&found));
    printf("popped the second: %d, id %llu, version %u\n", found == second, id, version);
    MUST(cuCtxGetFlags(&flags));
    MUST(cuCtxGetCurrent(&found));
    printf("the first is current: %d, flags %u\n", found == first, flags);
    MUST(cuCtxDestroy(second));
    SHOW(cuCtxSetCurrent(second));
    SHOW(cuCtxSetCurrent((CUcontext)&flags));
    MUST(cuCtxDestroy(first));
    SHOW(cuCtxSynchronize());
    SHOW(cuCtxPopCurrent(&found));
    MUST(cuDevicePrimaryCtxRetain(&first, 0));
    SHOW(cuCtxDestroy(first));
    MUST(cuCtxPushCurrent(first));
    MUST(cuDevicePrimaryCtxRelease(0));
    SHOW(cuDevicePrimaryCtxRelease(0));
    CUlimit limit = (CUlimit)77;
    size_t value;
    SHOW(cuCtxGetLimit(&value, limit));
    MUST(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
    CUfunc_cache cache;
    MUST(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
    MUST(cuCtxGetCacheConfig(&cache));
    printf("stack %zu, cache %d\n", value, cache);
    SHOW(cuMemFree(12));
    printf("%s\n", cudaGetErrorName(cudaGetLastError())); // the driver's errors are not the runtime's
    return 0;
}

int devices()
{
    char name[20], few[4], bus[20];
    CUdevice device;
    CUuuid uuid, again;
    size_t nbytes;
    int major, minor, value, n_known = 0;
    CUdevprop properties;
    MUST(cuDeviceGetName(name, sizeof name, 0));
    MUST(cuDeviceGetName(few, sizeof few, 0));
    MUST(cuDeviceTotalMem(&nbytes, 0));
    MUST(cuDeviceComputeCapability(&major, &minor, 0));
    MUST(cuDeviceGetPCIBusId(bus, sizeof bus, 0));
    MUST(cuDeviceGetByPCIBusId(&device, "01:00.0"));
    MUST(cuDeviceGetUuid(&uuid, 0));
    MUST(cuDeviceGetUuid(&again, 0));
    MUST(cuDeviceGetProperties(&properties, 0));
    printf("%s %s %zu GiB %d.%d %s, one uuid %d, %d threads\n", name, few, nbytes >> 30, major, minor, bus, !memcmp(&uuid, &again, 16),
           properties.maxThreadsPerBlock);
    SHOW(cuDeviceGetByPCIBusId(&device, "0000:02:00.0"));
    for (int attribute = 1; attribute < CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED; ++attribute)
        n_known += !cuDeviceGetAttribute(&value, (CUdevice_attribute)attribute, 0);
    SHOW(cuDeviceGetAttribute(&value, (CUdevice_attribute)9999, 0));
    MUST(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 0));
    printf("%d attributes, ratio %d\n", n_known, value);
    return 0;
}

int modules()
{
    CUmodule module, of_function;
    CUfunction functions[2], function;
    CUlinkState state;
    CUdeviceptr p, bias;
    CUlibrary library, of_kernel;
    CUkernel kernel;
    void *image;
    size_t nbytes, offset;
    unsigned n;
    const char *name;
    char log[60] = "unused";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log};
    SHOW(cuModuleLoadDataEx(&module, broken, 2, options, values));
    printf("log of %zu: %s\n", (size_t)values[1], log);
    values[1] = (void *)sizeof log;
    MUST(cuLinkCreate(2, options, values, &state));
#define ADD(KIND, TEXT) cuLinkAddData(state, CU_JIT_INPUT_##KIND, (void *)TEXT, sizeof TEXT, #TEXT, 0, nullptr, nullptr)
    SHOW(ADD(CUBIN, thrice));
    SHOW(ADD(PTX, broken));
    MUST(ADD(PTX, scale));
    SHOW(cuLinkComplete(state, &image, &nbytes)); // without the function that it calls
    MUST(ADD(PTX, thrice));
    MUST(cuLinkComplete(state, &image, &nbytes));
    MUST(cuModuleLoadData(&module, image));
    MUST(cuLibraryLoadData(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0));
    MUST(cuLinkDestroy(state));
    MUST(cuModuleGetFunctionCount(&n, module));
    MUST(cuModuleEnumerateFunctions(functions, 2, module));
    MUST(cuModuleGetFunction(&function, module, "scale"));
    MUST(cuFuncGetName(&name, function));
    MUST(cuFuncGetModule(&of_function, function));
    MUST(cuFuncGetParamInfo(function, 2, &offset, &nbytes));
    printf("%u function, %s, the same %d %d, parameter 2 at %zu of %zu\n", n, name, functions[0] == function, of_function == module, offset,
           nbytes);
    SHOW(cuFuncGetParamInfo(function, 3, &offset, &nbytes));
    SHOW(cuModuleGetFunction(&function, module, "thrice"));
    MUST(cuModuleGetGlobal(&bias, &nbytes, module, "bias"));
    printf("bias of %zu\n", nbytes);
    MUST(cuLibraryGetKernel(&kernel, library, "scale"));
    MUST(cuKernelGetLibrary(&of_kernel, kernel));
    MUST(cuKernelGetFunction(&function, kernel));
    int value;
    MUST(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
    MUST(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, kernel, 0));
    printf("of the library %d, carveout %d\n", of_kernel == library, value);
    SHOW(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101));
    SHOW(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS, 8));

    int grid, block, blocks;
    MUST(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 1024, 0));
    MUST(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, nullptr, 0, 512));
    MUST(cuOccupancyAvailableDynamicSMemPerBlock(&nbytes, function, 2, 128));
    printf("occupancy %d, %d blocks of %d, %zu bytes\n", blocks, grid, block, nbytes);

    int word = 0, n_given = 5;
    float unused = 0;
    MUST(cuMemAlloc(&p, 16));
    void *arguments[] = {&p, &n_given, &unused};
    MUST(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, 0, arguments, nullptr));
    MUST(cuMemcpyDtoH(&word, p, 4));
    CUlaunchAttribute attribute = {CU_LAUNCH_ATTRIBUTE_COOPERATIVE, {}, {}};
    attribute.value.cooperative = 1;
    CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, 0, &attribute, 1};
    n_given = 7;
    MUST(cuLaunchKernelEx(&config, function, arguments, nullptr));
    int second = 0;
    MUST(cuMemcpyDtoH(&second, p, 4));
    MUST(cuParamSetv(function, 0, &p, 8));
    MUST(cuParamSeti(function, 8, 11));
    MUST(cuParamSetf(function, 12, 1.5f));
    MUST(cuParamSetSize(function, 16));
    MUST(cuFuncSetBlockShape(function, 1, 1, 1));
    MUST(cuLaunchGrid(function, 1, 1));
    int third = 0;
    MUST(cuMemcpyDtoH(&third, p, 4));
    printf("%d %d %d\n", word, second, third);
    SHOW(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, 0, arguments, nullptr));
    MUST(cuModuleUnload(module));
    SHOW(cuModuleUnload(module));
    SHOW(cuModuleGetFunction(&function, module, "scale"));
    return 0;
}

int symbols()
{
    void *f;
    CUdriverProcAddressQueryResult how;
    SHOW(cuGetProcAddress("cuCtxCreate", &f, 12000, 0, &how));
    CUcontext made;
    MUST(((PFN_cuCtxCreate_v11040)f)(&made, nullptr, 0, 0, 0)); // the newest form that 12.0 had
    SHOW(cuGetProcAddress("cuLibraryLoadData", &f, 11000, 0, &how));
    printf("found %d\n", how);
    SHOW(cuGetProcAddress("cuNothing", &f, 13000, 0, &how));
    printf("found %d\n", how);
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    auto version = (PFN_cuDriverGetVersion)dlsym(library, "cuDriverGetVersion");
    int number;
    MUST(version(&number));
    printf("%d, %d %d\n", number, dlsym(library, "cuMemcpyHtoD_v2_ptds") == (void *)&cuMemcpyHtoD_v2, dlsym(library, "cuIpcGetMemHandle") == nullptr);
    return 0;
}

int main() { return states() || devices() || modules() || symbols(); }
