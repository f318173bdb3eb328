// Ranges of NVTX around calls, in C and C++, nested, crossing and of a domain; the calls do what they do without them.
#include "check.h"
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvtx3.hpp>
__global__ void add(int *p) { atomicAdd(p, 1); }
static void twice(int *p)
{
    NVTX3_FUNC_RANGE();
    for (int i = 0; i < 2; ++i)
        add<<<1, 8>>>(p);
}
int main()
{
    int *p, got;
    CHECK(cudaMalloc(&p, sizeof *p));
    bool is_right = nvtxRangePushA("outer") == 0;
    CHECK(cudaMemset(p, 0, sizeof *p));
    is_right &= nvtxRangePushA("inner") == 1;
    twice(p);
    is_right &= nvtxRangePop() == 1;
    const nvtxRangeId_t first = nvtxRangeStartA("first"), second = nvtxRangeStartA("second");
    add<<<2, 4>>>(p);
    nvtxRangeEnd(first);
    add<<<1, 1>>>(p);
    nvtxRangeEnd(second);
    nvtxMarkA("here");
    nvtxDomainHandle_t domain = nvtxDomainCreateA("own");
    nvtxEventAttributes_t how = {};
    how.version = NVTX_VERSION, how.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    how.messageType = NVTX_MESSAGE_TYPE_ASCII, how.message.ascii = "copy";
    nvtxDomainRangePushEx(domain, &how);
    CHECK(cudaMemcpy(&got, p, sizeof got, cudaMemcpyDeviceToHost));
    nvtxDomainRangePop(domain);
    is_right &= nvtxRangePop() == 0 && nvtxRangePop() < 0 && first != second;
    return verdict(is_right && got == 25);
}
