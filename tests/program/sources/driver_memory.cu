// The driver: memory, virtual memory, copies, arrays, textures, streams, tensor maps.
#include <cstdio>
#include <cstring>
#include <cuda.h>

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

__global__ void add_one(int *p, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        p[i] += 1;
}
__global__ void look_up(float *to, cudaTextureObject_t texture) { *to = tex2D<float>(texture, 1.5f, 0.5f); }

int pointers()
{
    CUdeviceptr p, managed, start, half;
    size_t nbytes, pitch;
    void *host;
    unsigned flags;
    MUST(cuMemAlloc(&p, 1000));
    MUST(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    MUST(cuMemHostAlloc(&host, 64, CU_MEMHOSTALLOC_DEVICEMAP));
    MUST(cuMemHostGetFlags(&flags, host));
    MUST(cuMemGetAddressRange(&start, &nbytes, p + 500));
    printf("range %d of %zu\n", start == p, nbytes);
    SHOW(cuMemGetAddressRange(&start, &nbytes, 64));
    SHOW(cuMemFree((CUdeviceptr)host));
    CUmemorytype type;
    CUcontext owner, current;
    int is_managed, ordinal;
    MUST(cuCtxGetCurrent(&current));
    MUST(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)host));
    MUST(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, p));
    CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    void *values[] = {&is_managed, &ordinal, &nbytes};
    MUST(cuPointerGetAttributes(3, attributes, values, managed + 8));
    printf("host type %d, own context %d, managed %d %d %zu\n", type, owner == current, is_managed, ordinal, nbytes);
    MUST(cuPointerGetAttributes(3, attributes, values, (CUdeviceptr)&half));
    printf("of the stack: managed %d %d %zu\n", is_managed, ordinal, nbytes);
    SHOW(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, p));
    MUST(cuMemAllocPitch(&half, &pitch, 100, 3, 4));
    SHOW(cuMemAllocPitch(&half, &pitch, 100, 3, 5));
    SHOW(cuMemAllocManaged(&half, 4, 0));
    SHOW(cuMemAlloc(&half, 0));
    int where, read_mostly, devices[2];
    MUST(cuMemAdvise(managed, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
    MUST(cuMemAdvise(managed, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CUmemLocation{CU_MEM_LOCATION_TYPE_HOST, 0}));
    MUST(cuMemAdvise(managed, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, 0));
    MUST(cuMemPrefetchAsync(managed, 4096, 0, 0));
    MUST(cuMemRangeGetAttribute(&where, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, managed, 100));
    MUST(cuMemRangeGetAttribute(&read_mostly, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, managed, 100));
    MUST(cuMemRangeGetAttribute(devices, 8, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, managed, 100));
    printf("preferred %d, read mostly %d, accessed by %d %d\n", where, read_mostly, devices[0], devices[1]);
    SHOW(cuMemAdvise(p, 1000, CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
    SHOW(cuMemPrefetchAsync(managed, 4096, 3, 0));
    return 0;
}

int virtual_memory()
{
    CUmemAllocationProp how = {};
    how.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    how.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemAccessDesc access = {how.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle first, second, again;
    CUdeviceptr p;
    size_t step, free_before, free_after, total;
    unsigned long long flags;
    MUST(cuMemGetInfo(&free_before, &total));
    MUST(cuMemGetAllocationGranularity(&step, &how, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    MUST(cuMemAddressReserve(&p, total + 16 * step, 0, 0, 0)); // more than there is memory
    SHOW(cuMemCreate(&first, step + 1, &how, 0));
    SHOW(cuMemCreate(&first, total + step, &how, 0));
    MUST(cuMemCreate(&first, step, &how, 0));
    MUST(cuMemCreate(&second, step, &how, 0));
    MUST(cuMemMap(p, step, 0, first, 0));
    SHOW(cuMemMap(p, step, 0, second, 0));
    MUST(cuMemMap(p + step, step, 0, second, 0));
    int word = 41, words[2] = {7, 8};
    SHOW(cuMemcpyHtoD(p, &word, 4)); // not before the device has access
    MUST(cuMemSetAccess(p, 2 * step, &access, 1));
    MUST(cuMemGetAccess(&flags, &how.location, p));
    MUST(cuMemcpyHtoD(p + step - 4, words, 8)); // across both
    add_one<<<1, 32>>>((int *)(p + step - 4), 2);
    MUST(cuMemcpyDtoH(words, p + step - 4, 8));
    MUST(cuMemGetInfo(&free_after, &total));
    printf("access %llu, %d %d, %zu steps in use\n", flags, words[0], words[1], (free_before - free_after) / step);
    MUST(cuMemRetainAllocationHandle(&again, (void *)(p + step)));
    printf("the same handle %d\n", again == second);
    MUST(cuMemRelease(again));
    MUST(cuMemUnmap(p + step, step));
    SHOW(cuMemcpyDtoH(words, p + step, 4));
    MUST(cuMemMap(p + 4 * step, step, 0, second, 0)); // its bytes go with it
    MUST(cuMemSetAccess(p + 4 * step, step, &access, 1));
    MUST(cuMemcpyDtoH(words, p + 4 * step, 4));
    printf("moved %d\n", words[0]);
    SHOW(cuMemFree(p));
    SHOW(cuMemAddressFree(p, total + 16 * step)); // something is mapped
    MUST(cuMemUnmap(p, step));
    MUST(cuMemUnmap(p + 4 * step, step));
    MUST(cuMemRelease(first));
    MUST(cuMemRelease(second));
    SHOW(cuMemRelease(second));
    MUST(cuMemAddressFree(p, total + 16 * step));
    MUST(cuMemGetInfo(&free_after, &total));
    printf("given back %d\n", free_after == free_before);
    return 0;
}

int copies()
{
    int from[4][4], to[4][4] = {};
    for (int i = 0; i < 16; ++i)
        from[i / 4][i % 4] = i;
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR shape = {4, 4, CU_AD_FORMAT_SIGNED_INT32, 1}, found;
    MUST(cuArrayCreate(&array, &shape));
    MUST(cuArrayGetDescriptor(&found, array));
    CUDA_MEMCPY2D copy = {};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST, copy.srcHost = from, copy.srcPitch = 16;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY, copy.dstArray = array;
    copy.WidthInBytes = 16, copy.Height = 4;
    MUST(cuMemcpy2D(&copy));
    CUDA_MEMCPY2D back = {};
    back.srcMemoryType = CU_MEMORYTYPE_ARRAY, back.srcArray = array, back.srcXInBytes = 4, back.srcY = 1;
    back.dstMemoryType = CU_MEMORYTYPE_HOST, back.dstHost = to, back.dstPitch = 16, back.dstXInBytes = 8;
    back.WidthInBytes = 8, back.Height = 2;
    MUST(cuMemcpy2D(&back));
    printf("array %zu x %zu format %d, parts %d %d %d\n", found.Width, found.Height, found.Format, to[0][2], to[1][3], to[2][2]);
    back.srcXInBytes = 12;
    SHOW(cuMemcpy2D(&back));
    CUDA_MEMCPY3D whole = {};
    whole.srcMemoryType = CU_MEMORYTYPE_ARRAY, whole.srcArray = array;
    whole.dstMemoryType = CU_MEMORYTYPE_HOST, whole.dstHost = to, whole.dstPitch = 16, whole.dstHeight = 4;
    whole.WidthInBytes = 16, whole.Height = 4, whole.Depth = 1;
    MUST(cuMemcpy3D(&whole));
    int line[2];
    MUST(cuMemcpyAtoH(line, array, 20, 8));
    printf("whole %d, line %d %d\n", !memcmp(from, to, sizeof to), line[0], line[1]);
    MUST(cuArrayDestroy(array));
    shape.NumChannels = 3;
    SHOW(cuArrayCreate(&array, &shape));

    CUdeviceptr p, q;
    unsigned short rows[2][8];
    MUST(cuMemAlloc(&p, 64));
    MUST(cuMemAlloc(&q, 64));
    MUST(cuMemsetD8(p, 0, 64));
    MUST(cuMemsetD2D16(p + 2, 16, 0x1234, 3, 2));
    MUST(cuMemcpyDtoH(rows, p, sizeof rows));
    printf("%x %x %x %x, %x\n", rows[0][0], rows[0][1], rows[0][3], rows[0][4], rows[1][3]);
    SHOW(cuMemsetD2D32(p, 10, 1, 3, 2));
    SHOW(cuMemsetD32(p + 2, 1, 1));
    CUdeviceptr tos[] = {q, q + 4}, froms[] = {p + 2, p};
    size_t sizes[] = {2, 2}, firsts[] = {0};
    CUmemcpyAttributes attributes = {CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, {}, {}, 0};
    MUST(cuMemcpyBatchAsync(tos, froms, sizes, 2, &attributes, firsts, 1, 0));
    MUST(cuMemcpyDtoH(rows, q, 6));
    printf("batch %x %x\n", rows[0][0], rows[0][2]);
    SHOW(cuMemcpyDtoD(p, (CUdeviceptr)rows, 4));
    return 0;
}

int textures()
{
    float texels[2][8] = {{0, 1, 2, 3}, {4, 5, 6, 7}}, value;
    CUdeviceptr p, to;
    MUST(cuMemAlloc(&p, sizeof texels));
    MUST(cuMemAlloc(&to, 4));
    MUST(cuMemcpyHtoD(p, texels, sizeof texels));
    CUDA_RESOURCE_DESC resource = {}, again;
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D = {p, CU_AD_FORMAT_FLOAT, 1, 4, 2, 32};
    CUDA_TEXTURE_DESC how = {};
    how.addressMode[0] = how.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
    how.filterMode = CU_TR_FILTER_MODE_POINT;
    CUtexObject texture;
    MUST(cuTexObjectCreate(&texture, &resource, &how, nullptr));
    MUST(cuTexObjectGetResourceDesc(&again, texture));
    look_up<<<1, 1>>>((float *)to, texture);
    MUST(cuMemcpyDtoH(&value, to, 4));
    printf("texel %g, width %zu\n", value, again.res.pitch2D.width);
    MUST(cuTexObjectDestroy(texture));
    SHOW(cuTexObjectDestroy(texture));
    resource.res.pitch2D.numChannels = 3;
    SHOW(cuTexObjectCreate(&texture, &resource, &how, nullptr));
    return 0;
}

int streams()
{
    CUstream a, b;
    CUevent event;
    CUcontext context, current;
    CUdeviceptr p;
    unsigned flags;
    int priority;
    SHOW(cuStreamCreate(&a, 2));
    MUST(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    MUST(cuStreamCreateWithPriority(&b, CU_STREAM_DEFAULT, -3));
    MUST(cuStreamGetFlags(a, &flags));
    MUST(cuStreamGetPriority(b, &priority));
    MUST(cuStreamGetCtx(b, &context));
    MUST(cuCtxGetCurrent(&current));
    printf("flags %u, priority %d, context %d\n", flags, priority, context == current);
    MUST(cuMemAlloc(&p, 16));
    MUST(cuMemsetD32(p, 5, 4));
    MUST(cuStreamWriteValue32(a, p, 9, CU_STREAM_WRITE_VALUE_DEFAULT));
    MUST(cuStreamWaitValue32(b, p, 8, CU_STREAM_WAIT_VALUE_GEQ));
    SHOW(cuStreamWaitValue32(b, p, 10, CU_STREAM_WAIT_VALUE_EQ)); // on a card it would not end
    SHOW(cuStreamWaitValue64(b, p + 4, 1, CU_STREAM_WAIT_VALUE_EQ));
    SHOW(cuEventCreate(&event, CU_EVENT_INTERPROCESS));
    MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    SHOW(cuEventRecord(nullptr, a));
    SHOW(cuStreamDestroy(CU_STREAM_LEGACY));
    MUST(cuStreamDestroy(a));
    return 0;
}

int tensor_maps()
{
    CUtensorMap map;
    CUdeviceptr p;
    MUST(cuMemAlloc(&p, 65536));
    cuuint64_t extents[] = {64, 64}, strides[] = {256};
    cuuint32_t box[] = {16, 8}, steps[] = {1, 1}, wide[] = {300, 1};
#define TILED(BOX, SWIZZLE)                                                                                                                \
    cuTensorMapEncodeTiled(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void *)p, extents, strides, BOX, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, \
                           SWIZZLE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
    printf("%s %s %s\n", name_of(TILED(box, CU_TENSOR_MAP_SWIZZLE_64B)), name_of(TILED(box, CU_TENSOR_MAP_SWIZZLE_32B)),
           name_of(TILED(wide, CU_TENSOR_MAP_SWIZZLE_NONE)));
    MUST(TILED(box, CU_TENSOR_MAP_SWIZZLE_64B));
    for (int i = 0; i < 128; ++i)
        printf("%02x%s", ((unsigned char *)&map)[i], i % 64 == 63 ? "\n" : ""); // as gpuprof.TensorMap encodes it
    SHOW(cuTensorMapReplaceAddress(&map, (void *)(p + 1024)));
    SHOW(cuTensorMapReplaceAddress(&map, (void *)(p + 8)));
    return 0;
}

static const char ptx[] = ".version 8.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry bump(.param .u64 to, .param .u32 by)\n"
                          "{ .reg .b32 %r<3>; .reg .b64 %rd<2>;\n"
                          "ld.param.u64 %rd1, [to]; ld.param.u32 %r1, [by]; ld.global.u32 %r2, [%rd1];\n"
                          "add.u32 %r2, %r2, %r1; st.global.u32 [%rd1], %r2; ret; }\n";

int graphs()
{
    CUmodule module;
    CUfunction bump;
    CUgraph graph, captured;
    CUgraphNode clear, launch, copy, nodes[4], from[4], to[4];
    CUgraphExec exec;
    CUgraphNodeType type;
    CUstream stream;
    CUstreamCaptureStatus status;
    CUdeviceptr p;
    size_t n = 4, n_edges = 4;
    int by = 3, found = 0;
    MUST(cuModuleLoadData(&module, ptx));
    MUST(cuModuleGetFunction(&bump, module, "bump"));
    MUST(cuMemAlloc(&p, 4));
    MUST(cuGraphCreate(&graph, 0));
    CUDA_MEMSET_NODE_PARAMS fill = {p, 0, 100, 4, 1, 1};
    MUST(cuGraphAddMemsetNode(&clear, graph, nullptr, 0, &fill, 0));
    void *arguments[] = {&p, &by};
    CUDA_KERNEL_NODE_PARAMS kernel = {bump, 1, 1, 1, 1, 1, 1, 0, arguments, nullptr, nullptr, nullptr};
    MUST(cuGraphAddKernelNode(&launch, graph, &clear, 1, &kernel));
    CUDA_MEMCPY3D out = {};
    out.srcMemoryType = CU_MEMORYTYPE_DEVICE, out.srcDevice = p, out.dstMemoryType = CU_MEMORYTYPE_HOST, out.dstHost = &found;
    out.WidthInBytes = 4, out.Height = out.Depth = 1;
    MUST(cuGraphAddMemcpyNode(&copy, graph, nullptr, 0, &out, 0));
    MUST(cuGraphAddDependencies(graph, &launch, &copy, 1));
    MUST(cuGraphGetNodes(graph, nodes, &n));
    MUST(cuGraphGetEdges(graph, from, to, &n_edges));
    MUST(cuGraphNodeGetType(copy, &type));
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
    printf("%zu nodes, %zu edges, type %d, %d\n", n, n_edges, type, found);
    by = 7;
    MUST(cuGraphExecKernelNodeSetParams(exec, launch, &kernel));
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuStreamSynchronize(stream));
    MUST(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    MUST(cuStreamIsCapturing(stream, &status));
    MUST(cuMemsetD32Async(p, 0x01020304, 1, stream));
    MUST(cuLaunchKernel(bump, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
    MUST(cuStreamEndCapture(stream, &captured));
    n = 0;
    MUST(cuGraphGetNodes(captured, nullptr, &n));
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphInstantiate(&exec, captured, 0));
    int second = found;
    MUST(cuGraphLaunch(exec, stream));
    MUST(cuMemcpyDtoH(&found, p, 4));
    printf("%d, captured %d, %zu nodes, %x\n", second, status, n, found);
    CUgraph clone;
    CUgraphNode twin, event_node;
    CUevent event, its_event;
    CUDA_MEMSET_NODE_PARAMS known;
    unsigned is_enabled;
    size_t n_before = 4;
    MUST(cuGraphClone(&clone, graph));
    MUST(cuGraphNodeFindInClone(&twin, clear, clone));
    MUST(cuGraphMemsetNodeGetParams(twin, &known));
    MUST(cuGraphNodeGetDependencies(copy, nodes, &n_before)); // the form of CUDA 12
    MUST(cuGraphRemoveDependencies(graph, &launch, &copy, nullptr, 1)); // and of 13
    n_edges = 0;
    MUST(cuGraphGetEdges(graph, nullptr, nullptr, &n_edges));
    MUST(cuEventCreate(&event, 0));
    MUST(cuGraphAddEventRecordNode(&event_node, graph, &copy, 1, event));
    MUST(cuGraphEventRecordNodeGetEvent(event_node, &its_event));
    MUST(cuGraphExecDestroy(exec));
    MUST(cuGraphInstantiate(&exec, graph, 0));
    MUST(cuGraphNodeSetEnabled(exec, launch, 0));
    MUST(cuGraphNodeGetEnabled(exec, launch, &is_enabled));
    printf("fills with %u, %zu before, %zu edge left, event %d, enabled %u\n", known.value, n_before, n_edges, its_event == event, is_enabled);
    CUlaunchAttributeValue value = {};
    value.priority = -2;
    MUST(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    value.priority = 0;
    MUST(cuStreamGetAttribute(stream, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    printf("priority %d\n", value.priority);
    MUST(cuGraphDestroyNode(event_node));
    SHOW(cuGraphChildGraphNodeGetGraph(copy, &clone));
    kernel.func = nullptr;
    SHOW(cuGraphAddKernelNode(&launch, graph, nullptr, 0, &kernel));
    return 0;
}

int main()
{
    CUcontext context;
    MUST(cuInit(0));
    MUST(cuCtxCreate(&context, 0, 0));
    return pointers() || virtual_memory() || copies() || textures() || streams() || tensor_maps() || graphs();
}
