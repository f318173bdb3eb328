// Many copies in one call, arrays, advice about managed memory, access to pools, textures over pitched memory.
#include <cstdio>
#define NAME(CALL) cudaGetErrorName(CALL)
__managed__ int shared[4];
__global__ void read(cudaTextureObject_t texture, float *to) { to[threadIdx.x] = tex2D<float>(texture, threadIdx.x + 0.5f, 1.5f); }
__global__ void between(cudaTextureObject_t texture, float *to) { to[0] = tex2D<float>(texture, 1.0f, 2.0f); }
int main()
{
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    // copies
    int first[4] = {1, 2, 3, 4}, second[2] = {5, 6}, back[6] = {};
    char *memory;
    cudaMalloc(&memory, 4096);
    void *to[] = {memory, memory + 16}, *from[] = {first, second};
    size_t nbytes[] = {16, 8}, begins[] = {0}, failed = 77;
    cudaMemcpyAttributes attributes = {};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    printf("%s", NAME(cudaMemcpyBatchAsync(to, from, nbytes, 2, &attributes, begins, 1, &failed, stream)));
    cudaMemcpy(back, memory, 24, cudaMemcpyDeviceToHost);
    printf(" %d %d %d %d\n", back[0], back[3], back[4], back[5]);
    to[1] = nullptr;
    printf("%s %zu", NAME(cudaMemcpyBatchAsync(to, from, nbytes, 2, &attributes, begins, 1, &failed, stream)), failed);
    to[1] = memory + 32;
    printf(" %s", NAME(cudaMemcpyBatchAsync((void *const *)to, (const void *const *)from, nbytes, 2, &attributes, begins, 1, stream)));
    printf(" %s\n", NAME(cudaMemcpyBatchAsync(to, from, nbytes, 2, &attributes, begins, 1, &failed, 0)));
    cudaArray_t array, other;
    const cudaChannelFormatDesc form = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &form, 4, 3);
    cudaMallocArray(&other, &form, 4, 3);
    float texels[12], found[12] = {};
    for (int i = 0; i < 12; ++i)
        texels[i] = i;
    cudaMemcpy3DBatchOp boxes[1] = {};
    boxes[0].src.type = cudaMemcpyOperandTypePointer;
    boxes[0].src.op.ptr = {texels, 4, 3, {cudaMemLocationTypeHost, 0}};
    boxes[0].dst.type = cudaMemcpyOperandTypeArray;
    boxes[0].dst.op.array = {array, {0, 0, 0}};
    boxes[0].extent = {4, 3, 1};
    boxes[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    printf("%s", NAME(cudaMemcpy3DBatchAsync(1, boxes, &failed, 0, stream)));
    cudaMemcpyArrayToArray(other, 8, 0, array, 0, 1, 16);
    cudaMemcpyFromArrayAsync(found, other, 8, 0, 16, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    printf(" %g %g %g %g\n", found[0], found[1], found[2], found[3]);
    cudaArrayMemoryRequirements needed;
    printf("%s\n", NAME(cudaArrayGetMemoryRequirements(&needed, array, 0)));
    cudaMemcpy3DPeerParms peers = {};
    peers.srcArray = array, peers.dstPtr = make_cudaPitchedPtr(memory + 512, 16, 16, 3), peers.extent = {4, 3, 1};
    printf("%s", NAME(cudaMemcpy3DPeer(&peers)));
    cudaMemcpy(found, memory + 512, 48, cudaMemcpyDeviceToHost);
    peers.dstDevice = 1;
    printf(" %g %s\n", found[11], NAME(cudaMemcpy3DPeer(&peers)));

    // advice
    char *managed;
    cudaMallocManaged(&managed, 8192);
    const cudaMemLocation host = {cudaMemLocationTypeHost, 0};
    cudaMemAdvise(managed, 8192, cudaMemAdviseSetReadMostly, 0);
    cudaMemAdvise(managed, 4096, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId);
    cudaMemAdvise(managed, 8192, cudaMemAdviseSetAccessedBy, cudaMemLocation{cudaMemLocationTypeDevice, 0});
    cudaMemPrefetchAsync(managed, 8192, 0, stream);
    cudaMemPrefetchAsync(managed, 4096, host, 0, stream);
    int mostly, place, whole, last, type, by[2];
    cudaMemRangeGetAttribute(&mostly, 4, cudaMemRangeAttributeReadMostly, managed, 8192);
    cudaMemRangeGetAttribute(&place, 4, cudaMemRangeAttributePreferredLocation, managed, 4096);
    cudaMemRangeGetAttribute(&whole, 4, cudaMemRangeAttributePreferredLocation, managed, 8192);
    cudaMemRangeGetAttribute(by, 8, cudaMemRangeAttributeAccessedBy, managed, 8192);
    void *data[] = {&last, &type};
    size_t sizes[] = {4, 4};
    cudaMemRangeAttribute which[] = {cudaMemRangeAttributeLastPrefetchLocation, cudaMemRangeAttributeLastPrefetchLocationType};
    cudaMemRangeGetAttributes(data, sizes, which, 2, managed, 4096);
    printf("%d %d %d %d %d %d %d\n", mostly, place, whole, by[0], by[1], last, type);
    printf("%s %s %s %s\n", NAME(cudaMemPrefetchAsync(managed, 8192, 3, stream)), NAME(cudaMemPrefetchAsync(memory, 16, 0, stream)),
           NAME(cudaMemPrefetchAsync(managed, 8193, 0, stream)), NAME(cudaMemPrefetchAsync(shared, sizeof shared, 0)));
    void *ranges[] = {managed, managed + 4096};
    size_t lengths[] = {4096, 4096}, starts[] = {0, 1};
    cudaMemLocation locations[] = {{cudaMemLocationTypeDevice, 0}, host};
    printf("%s %s", NAME(cudaMemPrefetchBatchAsync(ranges, lengths, 2, locations, starts, 2, 0, stream)), NAME(cudaMemDiscardBatchAsync(ranges, lengths, 2, 0, stream)));
    cudaMemRangeGetAttribute(&last, 4, cudaMemRangeAttributeLastPrefetchLocation, managed + 4096, 4096);
    printf(" %d\n", last);

    // pools
    cudaMemPool_t pool, same;
    cudaMemLocation own = {cudaMemLocationTypeDevice, 0};
    cudaDeviceGetDefaultMemPool(&pool, 0);
    cudaMemGetDefaultMemPool(&same, &own, cudaMemAllocationTypePinned);
    cudaMemAccessFlags flags;
    cudaMemPoolGetAccess(&flags, pool, &own);
    cudaMemAccessDesc access = {own, cudaMemAccessFlagsProtNone};
    printf("%d %d %s\n", pool == same, flags, NAME(cudaMemPoolSetAccess(pool, &access, 1)));

    // textures
    float *pitched, *result;
    size_t pitch;
    cudaMallocPitch(&pitched, &pitch, 20, 3);
    cudaMallocManaged(&result, 64);
    float rows[3][5];
    for (int i = 0; i < 15; ++i)
        rows[0][i] = i;
    cudaMemcpy2D(pitched, pitch, rows, 20, 20, 3, cudaMemcpyHostToDevice);
    cudaResourceDesc resource = {}, its = {};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D = {pitched, form, 5, 3, pitch};
    cudaTextureDesc description = {}, again = {};
    cudaTextureObject_t texture, filtered;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    description.filterMode = cudaFilterModeLinear;
    cudaCreateTextureObject(&filtered, &resource, &description, nullptr);
    read<<<1, 5>>>(texture, result);
    between<<<1, 1>>>(filtered, result + 8);
    cudaDeviceSynchronize();
    printf("%g %g %g, %g\n", result[0], result[4], result[1], result[8]);
    cudaGetTextureObjectResourceDesc(&its, filtered);
    cudaGetTextureObjectTextureDesc(&again, filtered);
    printf("%zu %d", its.res.pitch2D.width, again.filterMode);
    cudaResourceViewDesc view = {};
    printf(" %s", NAME(cudaGetTextureObjectResourceViewDesc(&view, filtered)));
    resource.res.pitch2D.pitchInBytes = 20;
    printf(" %s", NAME(cudaCreateTextureObject(&texture, &resource, &description, nullptr)));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    view.format = cudaResViewFormatFloat1, view.width = 4, view.height = 3;
    printf(" %s", NAME(cudaCreateTextureObject(&texture, &resource, &description, &view)));
    view.format = cudaResViewFormatSignedInt1;
    printf(" %s\n", NAME(cudaCreateTextureObject(&texture, &resource, &description, &view)));
    cudaDestroyTextureObject(filtered);
    printf("%s\n", NAME(cudaGetTextureObjectTextureDesc(&again, filtered)));
}
