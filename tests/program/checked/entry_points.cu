// The driver's calls by name: through its library, as programs open it that are not linked with it, and by cuGetProcAddress.
#include <cuda.h>
#include <cudaTypedefs.h>
#include <dlfcn.h>
#include "check.h"
int main()
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    bool is_right = library && !dlopen("libnothing.so", RTLD_NOW) && !dlsym(library, "cuNothing");
    auto find = (decltype(&cuGetProcAddress))dlsym(library, "cuGetProcAddress_v2");
    void *found[3];
    CUdriverProcAddressQueryResult how;
    is_right &= find("cuMemAlloc", &found[0], 12000, CU_GET_PROC_ADDRESS_DEFAULT, &how) == CUDA_SUCCESS && how == CU_GET_PROC_ADDRESS_SUCCESS;
    is_right &= find("cuMemcpyDtoH", &found[1], 12000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr) == CUDA_SUCCESS;
    is_right &= find("cuIpcGetMemHandle", &found[2], 12000, CU_GET_PROC_ADDRESS_DEFAULT, &how) == CUDA_ERROR_NOT_FOUND &&
        how == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    CUcontext context;
    is_right &= cuInit(0) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&context, 0) == CUDA_SUCCESS;
    is_right &= cuCtxSetCurrent(context) == CUDA_SUCCESS;
    CUdeviceptr p;
    int start = 41, got = 0;
    is_right &= ((PFN_cuMemAlloc)found[0])(&p, sizeof p) == CUDA_SUCCESS;
    is_right &= cuMemcpyHtoD(p, &start, sizeof start) == CUDA_SUCCESS;
    is_right &= ((PFN_cuMemcpyDtoH)found[1])(&got, p, sizeof got) == CUDA_SUCCESS && got == start;

    int is_managed = 1, type = 0;
    void *values[] = {&is_managed, &type};
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
    is_right &= cuPointerGetAttributes(2, attributes, values, p) == CUDA_SUCCESS && is_managed == 0 && type == CU_MEMORYTYPE_DEVICE;
    is_right &= cuPointerGetAttributes(2, attributes, values, (CUdeviceptr)&start) == CUDA_SUCCESS && type == 0;
    is_right &= cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)&start) == CUDA_ERROR_INVALID_VALUE;

    CUmemoryPool pool, its;
    CUdeviceptr pooled;
    CUmemPoolProps how_made = {};
    is_right &= cuMemPoolCreate(&pool, &how_made) == CUDA_SUCCESS && cuMemAllocFromPoolAsync(&pooled, 100, pool, 0) == CUDA_SUCCESS;
    is_right &= cuPointerGetAttribute(&its, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, pooled) == CUDA_SUCCESS && its == pool;
    unsigned long long used = 0;
    is_right &= cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used) == CUDA_SUCCESS && used == 100;
    is_right &= cuMemFreeAsync(pooled, 0) == CUDA_SUCCESS && cuMemPoolDestroy(pool) == CUDA_SUCCESS;
    return verdict(is_right);
}
