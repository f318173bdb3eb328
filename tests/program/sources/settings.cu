// What is set of the device, of streams and of kernels; how many blocks and clusters fit; code that the program loads.
#include <cstdio>
#define NAME(CALL) cudaGetErrorName(CALL)
__device__ int counter[3];
__global__ void named(int *p, char c, double d) { *p = c + (int)d; }
__global__ void big(float *p)
{
    extern __shared__ float s[];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[threadIdx.x ^ 1];
}
const char *ptx = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .global .align 4 .u32 factor = 7;\n"
                  ".visible .entry times(.param .u64 to)\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [to];\n"
                  "ld.global.u32 %r1, [factor];\nld.global.u32 %r2, [%rd1];\nmul.lo.u32 %r1, %r1, %r2;\nst.global.u32 [%rd1], %r1;\nret;\n}\n";
int main()
{
    // the device
    int device = 7, value = -1;
    unsigned flags, capable = 9;
    size_t limit, width;
    cudaFuncCache cache;
    cudaSharedMemConfig banks;
    cudaDeviceSetLimit(cudaLimitStackSize, 4096);
    cudaDeviceGetLimit(&limit, cudaLimitStackSize);
    printf("%zu %s %s\n", limit, NAME(cudaDeviceSetLimit((cudaLimit)9, 1)), NAME(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 256)));
    cudaDeviceSetCacheConfig(cudaFuncCachePreferL1);
    cudaDeviceGetCacheConfig(&cache);
    cudaDeviceGetSharedMemConfig(&banks);
    cudaInitDevice(0, cudaDeviceScheduleYield, cudaInitDeviceFlagsAreValid);
    cudaGetDeviceFlags(&flags);
    printf("%d %d %u %s\n", cache, banks, flags, NAME(cudaSetDeviceFlags(3)));
    char bus[16];
    cudaDeviceGetPCIBusId(bus, sizeof bus, 0);
    printf("%s %d", NAME(cudaDeviceGetByPCIBusId(&device, bus)), device);
    printf(" %s %s\n", NAME(cudaDeviceGetByPCIBusId(&device, "0000:99:00.0")), NAME(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0)));
    const cudaAtomicOperation operation = cudaAtomicOperationCAS;
    cudaDeviceGetHostAtomicCapabilities(&capable, &operation, 1, 0);
    const cudaChannelFormatDesc form = cudaCreateChannelDesc<float>();
    cudaDeviceGetTexture1DLinearMaxWidth(&width, &form, 0);
    const char *const reset = NAME(cudaCtxResetPersistingL2Cache());
    printf("%u %zu %s %s %s\n", capable, width, NAME(cudaSetValidDevices(&value, 1)), NAME(cudaSetValidDevices(nullptr, 0)), reset);

    // streams
    cudaStream_t stream, other;
    cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -2);
    cudaStreamCreate(&other);
    cudaStreamAttrValue window = {}, found = {};
    window.accessPolicyWindow = {bus, 16, 0.5f, cudaAccessPropertyPersisting, cudaAccessPropertyStreaming};
    printf("%s", NAME(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window)));
    window.accessPolicyWindow.hitRatio = 2;
    printf(" %s", NAME(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &window)));
    printf(" %s\n", NAME(cudaStreamSetAttribute(stream, cudaLaunchAttributeCooperative, &window)));
    cudaStreamCopyAttributes(other, stream);
    cudaStreamGetAttribute(other, cudaStreamAttributeAccessPolicyWindow, &found);
    printf("%zu %g", found.accessPolicyWindow.num_bytes, found.accessPolicyWindow.hitRatio);
    cudaStreamGetAttribute(other, cudaStreamAttributePriority, &found);
    printf(" %d", found.priority);
    cudaStreamGetAttribute(0, cudaStreamAttributeSynchronizationPolicy, &found);
    printf(" %d", found.syncPolicy);
    device = 7;
    cudaStreamGetDevice(stream, &device);
    printf(" %d\n", device);

    // kernels
    const char *name;
    size_t offset, nbytes;
    cudaFuncGetName(&name, named);
    printf("%s", name);
    cudaFuncGetParamInfo((const void *)named, 2, &offset, &nbytes);
    printf(" %zu %zu %s\n", offset, nbytes, NAME(cudaFuncGetParamInfo((const void *)named, 3, &offset, &nbytes)));
    cudaFuncSetAttribute(big, cudaFuncAttributePreferredSharedMemoryCarveout, 50);
    cudaFuncSetAttribute(big, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
    cudaFuncAttributes known;
    cudaFuncGetAttributes(&known, big);
    printf("%d %d %s\n", known.preferredShmemCarveout, known.maxDynamicSharedSizeBytes,
           NAME(cudaFuncSetAttribute(big, cudaFuncAttributePreferredSharedMemoryCarveout, 101)));
    size_t shared;
    int blocks, fewer;
    cudaOccupancyAvailableDynamicSMemPerBlock(&shared, big, 4, 256);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, big, 256, shared);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fewer, big, 256, shared + 1);
    printf("%d blocks, %s\n", blocks, fewer < 4 ? "no more fits" : "more fits");
    cudaLaunchConfig_t config = {};
    config.gridDim = 32, config.blockDim = 256;
    cudaLaunchAttribute attributes[2] = {};
    attributes[0].id = cudaLaunchAttributeClusterDimension;
    attributes[0].val.clusterDim = {4, 1, 1};
    config.attrs = attributes, config.numAttrs = 1;
    int largest, clusters, sms;
    cudaOccupancyMaxPotentialClusterSize(&largest, big, &config);
    cudaFuncSetAttribute(big, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    printf("%d", largest);
    cudaOccupancyMaxPotentialClusterSize(&largest, big, &config);
    cudaOccupancyMaxActiveClusters(&clusters, big, &config);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, big, 256, 0);
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    printf(" %d %d\n", largest, clusters == blocks * sms / 4);

    // launches with attributes that say how
    cudaEvent_t event;
    cudaEventCreate(&event);
    int *p;
    cudaMallocManaged(&p, sizeof *p);
    attributes[0].id = cudaLaunchAttributePriority;
    attributes[0].val = {};
    attributes[1].id = cudaLaunchAttributeLaunchCompletionEvent;
    attributes[1].val.launchCompletionEvent = {event, 0};
    config.gridDim = config.blockDim = 1, config.numAttrs = 2, config.stream = stream;
    printf("%s", NAME(cudaLaunchKernelEx(&config, named, p, 2, 3.5)));
    cudaEventSynchronize(event);
    printf(" %d", *p);
    attributes[0].id = (cudaLaunchAttributeID)77;
    printf(" %s\n", NAME(cudaLaunchKernelEx(&config, named, p, 2, 3.5)));

    // a library
    cudaLibrary_t library;
    cudaKernel_t kernel, same, listed[2] = {};
    unsigned n = 0;
    printf("%s", NAME(cudaLibraryLoadData(&library, ptx, nullptr, nullptr, 0, nullptr, nullptr, 0)));
    cudaLibraryGetKernelCount(&n, library);
    cudaLibraryEnumerateKernels(listed, 2, library);
    cudaLibraryGetKernel(&kernel, library, "times");
    cudaLibraryGetKernel(&same, library, "times");
    printf(" %u %d %s", n, listed[0] == kernel && kernel == same, NAME(cudaLibraryGetKernel(&same, library, "none")));
    int *factor;
    cudaLibraryGetGlobal(&factor, &nbytes, library, "factor");
    const int six = 6;
    cudaMemcpy(factor, &six, 4, cudaMemcpyHostToDevice);
    void *arguments[] = {&p};
    cudaLaunchKernel((const void *)kernel, 1, 1, arguments, 0, 0);
    cudaDeviceSynchronize();
    printf(" %zu %d %s\n", nbytes, *p, NAME(cudaLibraryUnload(library)));
    cudaGetKernel(&kernel, named);
    cudaFuncGetName(&name, (const void *)kernel);
    printf("%s\n", name);
    cudaDriverEntryPointQueryResult how;
    void *function;
    printf("%s", NAME(cudaGetDriverEntryPoint("cuMemAlloc", &function, cudaEnableDefault, &how)));
    printf(" %d %d %s", how, function != nullptr, NAME(cudaGetDriverEntryPointByVersion("cuIpcOpenMemHandle", &function, 12080, cudaEnableDefault, &how)));
    printf(" %d %d\n", how, function != nullptr);
}
