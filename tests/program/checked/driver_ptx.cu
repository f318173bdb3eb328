// The driver's calls alone: a module of PTX text, its kernel, its variable, events and a stream.
#include <cuda.h>
#include "check.h"
static const char ptx[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 bias = 5;
.visible .entry triple(.param .u64 p, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra done;
    ld.global.u32 %r6, [bias];
    mad.lo.s32 %r7, %r5, 3, %r6;
    mul.wide.u32 %rd2, %r5, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r7;
done:
    ret;
}
)";
#define ASK(call)                                                                     \
    do {                                                                              \
        if (CUresult error = (call)) {                                                \
            const char *name = "";                                                    \
            cuGetErrorName(error, &name);                                             \
            printf("FAIL line %d: %s\n", __LINE__, name);                             \
            return 2;                                                                 \
        }                                                                             \
    } while (0)
int main()
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction triple;
    CUstream stream;
    CUevent begin, end;
    CUdeviceptr p, bias;
    size_t nbytes;
    unsigned n = 75, got[75], seven = 7;
    ASK(cuInit(0));
    ASK(cuDeviceGet(&device, 0));
    ASK(cuCtxCreate(&context, 0, device));
    ASK(cuModuleLoadData(&module, ptx));
    ASK(cuModuleGetFunction(&triple, module, "triple"));
    ASK(cuModuleGetGlobal(&bias, &nbytes, module, "bias"));
    ASK(cuMemcpyHtoD(bias, &seven, sizeof seven));
    ASK(cuMemAlloc(&p, sizeof got));
    ASK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ASK(cuEventCreate(&begin, CU_EVENT_DEFAULT));
    ASK(cuEventCreate(&end, CU_EVENT_DEFAULT));
    ASK(cuEventRecord(begin, stream));
    void *arguments[] = {&p, &n};
    ASK(cuLaunchKernel(triple, 3, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr));
    ASK(cuEventRecord(end, stream));
    ASK(cuMemcpyDtoHAsync(got, p, sizeof got, stream));
    ASK(cuStreamSynchronize(stream));
    float milliseconds = -1;
    ASK(cuEventElapsedTime(&milliseconds, begin, end));
    bool is_right = nbytes == 4 && milliseconds >= 0;
    for (unsigned i = 0; i < n; ++i)
        is_right &= got[i] == 3 * i + 7;
    ASK(cuMemFree(p));
    ASK(cuModuleUnload(module));
    ASK(cuCtxDestroy(context));
    return verdict(is_right);
}
