// Nodes of graphs: read, set, switched off, cloned, removed; conditions; memory and objects that graphs have.
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#define NAME(CALL) cudaGetErrorName(CALL)
__device__ int symbol[4];
__global__ void add(int *p, int value) { *p += value; }
__global__ void until(int *p, cudaGraphConditionalHandle handle, int limit) { cudaGraphSetConditional(handle, ++*p < limit); }
void gone(void *p) { ++*(int *)p; }
cudaKernelNodeParams launch_of(void **arguments)
{
    cudaKernelNodeParams how = {};
    how.func = (void *)add, how.gridDim = how.blockDim = 1, how.kernelParams = arguments;
    return how;
}
int run(cudaGraphExec_t exec, int *p)
{
    int found = -1;
    cudaGraphLaunch(exec, 0);
    cudaMemcpy(&found, p, sizeof found, cudaMemcpyDeviceToHost);
    return found;
}
int main()
{
    int *p, one = 1, ten = 10, host = 100;
    cudaMalloc(&p, 16);
    void *small[] = {&p, &one}, *large[] = {&p, &ten};
    cudaGraph_t graph;
    cudaGraphCreate(&graph, 0);
    cudaGraphNode_t clear, first, second, copy;
    cudaMemsetParams zeros = {p, 0, 0, 4, 1, 1};
    cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &zeros);
    cudaKernelNodeParams how = launch_of(small), got = {};
    cudaGraphAddKernelNode(&first, graph, &clear, 1, &how);
    how = launch_of(large);
    cudaGraphAddKernelNode(&second, graph, &first, 1, &how);
    cudaGraphAddMemcpyNodeToSymbol(&copy, graph, &second, 1, symbol, p, 4, 8, cudaMemcpyDeviceToDevice);
    cudaGraphExec_t exec;
    cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch);
    unsigned long long flags;
    cudaGraphExecGetFlags(exec, &flags);
    printf("%d %llu\n", run(exec, p), flags);

    // read and set
    cudaGraphKernelNodeGetParams(second, &got);
    printf("%d %u %d", got.func == (void *)add, got.blockDim.x, *(int *)got.kernelParams[1]);
    cudaMemcpy3DParms copied = {};
    cudaMemsetParams filled = {};
    cudaGraphMemcpyNodeGetParams(copy, &copied);
    cudaGraphMemsetNodeGetParams(clear, &filled);
    printf(" %d %zu %d\n", copied.srcPtr.ptr == p, copied.extent.width, filled.dst == p);
    zeros.value = 5;
    cudaGraphExecMemsetNodeSetParams(exec, clear, &zeros);
    printf("%d", run(exec, p));
    how = launch_of(small);
    cudaGraphExecKernelNodeSetParams(exec, second, &how);
    printf(" %d", run(exec, p));
    cudaGraphNodeSetEnabled(exec, first, 0);
    unsigned enabled = 7;
    cudaGraphNodeGetEnabled(exec, first, &enabled);
    printf(" %d %u", run(exec, p), enabled);
    cudaGraphExecMemcpyNodeSetParams1D(exec, copy, &host, p, 4, cudaMemcpyDeviceToHost);
    run(exec, p);
    cudaDeviceSynchronize();
    printf(" %d %s\n", host, NAME(cudaGraphExecMemsetNodeSetParams(exec, first, &zeros)));
    cudaLaunchAttributeValue value = {}, its = {};
    value.priority = -3;
    cudaGraphKernelNodeSetAttribute(first, cudaLaunchAttributePriority, &value);
    cudaGraphKernelNodeCopyAttributes(second, first);
    cudaGraphKernelNodeGetAttribute(second, cudaLaunchAttributePriority, &its);
    printf("%d\n", its.priority);

    // its shape
    cudaGraphNode_t near[4], twin;
    size_t n = 4, m = 4;
    cudaGraphNodeGetDependencies(second, near, &n);
    printf("%zu %d", n, near[0] == first);
    cudaGraphEdgeData edges[4];
    cudaGraphNodeGetDependentNodes(first, near, edges, &m);
    printf(" %zu %d", m, near[0] == second);
    cudaGraph_t clone;
    cudaGraphClone(&clone, graph);
    cudaGraphNodeFindInClone(&twin, second, clone);
    cudaGraphNodeType type;
    cudaGraphNodeGetType(twin, &type);
    printf(" %d %d %s\n", twin != second, type, NAME(cudaGraphNodeFindInClone(&twin, second, graph)));
    cudaGraphRemoveDependencies(graph, &first, &second, nullptr, 1);
    cudaGraphAddDependencies(graph, &clear, &second, nullptr, 1);
    n = 0;
    cudaGraphGetRootNodes(graph, nullptr, &n);
    printf("%zu %s", n, NAME(cudaGraphRemoveDependencies(graph, &first, &second, 1)));
    cudaGraphDestroyNode(first);
    cudaGraphGetNodes(graph, nullptr, &n);
    cudaGraphExec_t changed;
    cudaGraphInstantiateParams ask = {};
    cudaGraphInstantiateWithParams(&changed, graph, &ask);
    printf(" %zu %d %d\n", n, ask.result_out, run(changed, p));
    char path[] = "/tmp/graphXXXXXX", text[256] = {};
    close(mkstemp(path));
    printf("%s\n", NAME(cudaGraphDebugDotPrint(graph, path, 0)));
    FILE *file = fopen(path, "r");
    fread(text, 1, sizeof text - 1, file);
    fclose(file);
    unlink(path);
    printf("%s", text);

    // events
    cudaGraph_t timed;
    cudaGraphCreate(&timed, 0);
    cudaEvent_t begin, end, found;
    cudaEventCreate(&begin), cudaEventCreate(&end);
    cudaGraphNode_t recorded, waits;
    cudaGraphAddEventRecordNode(&recorded, timed, nullptr, 0, begin);
    cudaGraphAddEventWaitNode(&waits, timed, &recorded, 1, begin);
    cudaGraphEventRecordNodeGetEvent(recorded, &found);
    cudaGraphExec_t records;
    cudaGraphInstantiate(&records, timed);
    cudaGraphExecEventRecordNodeSetEvent(records, recorded, end);
    cudaEventRecord(begin, 0);
    printf("%d %s", found == begin, NAME(cudaGraphLaunch(records, 0)));
    cudaDeviceSynchronize();
    float ms = -1;
    printf(" %s", NAME(cudaEventElapsedTime(&ms, begin, end)));
    printf(" %d\n", ms >= 0);

    // nodes of any kind, and a loop
    cudaGraph_t loop;
    cudaGraphCreate(&loop, 0);
    cudaGraphConditionalHandle handle;
    cudaGraphConditionalHandleCreate(&handle, loop, 1, cudaGraphCondAssignDefault);
    cudaGraphNode_t cleared, looping, body;
    cudaGraphNodeParams any = {cudaGraphNodeTypeMemset};
    zeros.value = 0;
    any.memset = zeros;
    cudaGraphAddNode(&cleared, loop, nullptr, nullptr, 0, &any);
    cudaGraphNodeParams conditional = {cudaGraphNodeTypeConditional};
    conditional.conditional = {handle, cudaGraphCondTypeWhile, 1, nullptr};
    cudaGraphAddNode(&looping, loop, &cleared, 1, &conditional);
    int limit = 6;
    void *arguments[] = {&p, &handle, &limit};
    cudaGraphNodeParams kernel = {cudaGraphNodeTypeKernel};
    kernel.kernel = launch_of(arguments);
    kernel.kernel.func = (void *)until;
    cudaGraphAddNode(&body, conditional.conditional.phGraph_out[0], nullptr, nullptr, 0, &kernel);
    cudaGraphExec_t loops;
    printf("%s", NAME(cudaGraphInstantiate(&loops, loop, 0)));
    cudaGraphDestroy(loop);
    printf(" %d", run(loops, p));
    printf(" %d\n", run(loops, p));

    // memory
    cudaGraph_t owner;
    cudaGraphCreate(&owner, 0);
    cudaGraphNode_t allocated, used, freed;
    cudaMemAllocNodeParams alloc = {};
    alloc.poolProps.allocType = cudaMemAllocationTypePinned;
    alloc.poolProps.location = {cudaMemLocationTypeDevice, 0};
    alloc.bytesize = 64;
    cudaGraphAddMemAllocNode(&allocated, owner, nullptr, 0, &alloc);
    cudaGraphAddMemcpyNode1D(&used, owner, &allocated, 1, alloc.dptr, &one, 4, cudaMemcpyHostToDevice);
    unsigned long long nbytes = 0, most = 0;
    cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &nbytes);
    cudaGraphAddMemFreeNode(&freed, owner, &used, 1, alloc.dptr);
    cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &most);
    cudaMemAllocNodeParams again = {};
    cudaGraphMemAllocNodeGetParams(allocated, &again);
    cudaGraphExec_t owns;
    cudaGraphInstantiate(&owns, owner, 0);
    printf("%llu %llu %d", nbytes, most, again.dptr == alloc.dptr);
    cudaGraphLaunch(owns, 0);
    printf(" %s %s\n", NAME(cudaGraphLaunch(owns, 0)), NAME(cudaDeviceGraphMemTrim(0)));

    // objects
    int n_gone = 0;
    cudaUserObject_t object;
    cudaUserObjectCreate(&object, &n_gone, gone, 1, cudaUserObjectNoDestructorSync);
    cudaGraphRetainUserObject(owner, object, 1, cudaGraphUserObjectMove);
    cudaGraph_t keeper;
    cudaGraphClone(&keeper, owner);
    cudaGraphDestroy(owner);
    printf("%d", n_gone);
    cudaGraphDestroy(keeper);
    printf(" %d %s\n", n_gone, NAME(cudaUserObjectCreate(&object, &n_gone, nullptr, 1, 0)));
}
