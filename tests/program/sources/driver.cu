// The driver's calls, beside the runtime's: a module of PTX text, packed parameters, errors.
#include <cstdio>
#include <cuda.h>
static const char ptx[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 bias = 7;
.visible .entry add(.param .u64 to, .param .u32 value)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [to];
    ld.param.u32 %r1, [value];
    ld.global.u32 %r2, [%rd1];
    ld.global.u32 %r3, [bias];
    add.u32 %r2, %r2, %r1;
    add.u32 %r2, %r2, %r3;
    st.global.u32 [%rd1], %r2;
    ret;
}
)";
__global__ void twice(int *p) { *p *= 2; }
#define CHECK(call)                                                                          \
    if (CUresult error = (call)) {                                                           \
        const char *name;                                                                    \
        cuGetErrorName(error, &name);                                                        \
        printf("line %d: %s\n", __LINE__, name);                                             \
        return 2;                                                                            \
    }
static const char *name_of(CUresult error)
{
    const char *name = nullptr;
    cuGetErrorName(error, &name);
    return name;
}
int main()
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction add, none;
    CUdeviceptr p, bias;
    CUstream stream;
    size_t nbytes;
    int major, registers, found = 30, value = 5;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    CHECK(cuCtxCreate(&context, 0, device));
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&add, module, "add"));
    CHECK(cuFuncGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, add));
    CHECK(cuModuleGetGlobal(&bias, &nbytes, module, "bias"));
    CHECK(cuMemAlloc(&p, 16));
    CHECK(cuMemsetD16(p, 0x0102, 8));
    CHECK(cuMemcpyHtoD(p, &found, 4));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    void *arguments[] = {&p, &value};
    CHECK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
    CHECK(cuMemsetD32Async(bias, 100, 1, stream));
    struct {
        CUdeviceptr p;
        int value;
    } packed = {p, 1};
    size_t packed_nbytes = 12;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &packed_nbytes, CU_LAUNCH_PARAM_END};
    CHECK(cuLaunchKernel(add, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, extra));
    CHECK(cuStreamSynchronize(stream));
    twice<<<1, 1>>>((int *)p);
    int words[4];
    CHECK(cuMemcpyDtoH(words, p, 16));
    printf("%d %x, bias of %zu bytes, sm_%d, registers %s\n", words[0], words[3], nbytes, major, registers > 3 ? "yes" : "no");
    printf("%s %s\n", name_of(cuModuleGetFunction(&none, module, "none")), name_of(cuMemFree(p + 1)));
    printf("%s %s\n", name_of(cuModuleLoadData(&module, "no PTX at all")), name_of(cuModuleLoad(&module, "absent.ptx")));
    printf("%s\n", name_of(cuLaunchKernel(add, 0, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr)));
    printf("%s\n", name_of(cuModuleLoadData(&module, "\177ELF")));
    CHECK(cuMemFree(p));
    CHECK(cuCtxDestroy(context));
}
