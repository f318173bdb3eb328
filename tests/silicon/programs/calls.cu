// calls WAY N: what calls cost besides kernels. By events: streams (how much later a kernel ends whose stream waits
// for N - 1 others), host_function (how much later the next kernel ends after a function of the host). By the host's
// clock: free (malloc, launch of an empty kernel, free; the mean of N), graph_launch (the call that launches a graph of
// N empty kernels again), launch and graph (the launch of a kernel of N us, and a wait; a graph of this one node and
// a wait), wait (as launch, less the kernel).
#include "figure.h"

__global__ void nothing() {}

static void host_function(void *) {}

// N streams, of which the last one has a kernel that takes its time; the first one waits for all others.
static double streams_us(int n, bool is_joined)
{
    cudaStream_t streams[16];
    cudaEvent_t done[16];
    for (int i = 0; i < n; i++) {
        CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
        CHECK(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
    }
    int last = is_joined ? 0 : n - 1;
    Events events;
    busy<<<1, 1, 0, streams[n - 1]>>>(AHEAD);
    events.begin(streams[n - 1]);
    for (int i = 1; is_joined && i < n; i++) {
        CHECK(cudaEventRecord(done[i], streams[i]));
        CHECK(cudaStreamWaitEvent(streams[0], done[i], 0));
    }
    nothing<<<1, 32, 0, streams[last]>>>();
    return events.end_us(streams[last]);
}

static double host_function_us(bool has_function)
{
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    Events events;
    busy<<<1, 1, 0, stream>>>(AHEAD);
    events.begin(stream);
    if (has_function)
        CHECK(cudaLaunchHostFunc(stream, host_function, nullptr));
    nothing<<<1, 32, 0, stream>>>();
    return events.end_us(stream);
}

static double free_us(int n)
{
    double begun = now_us();
    for (int i = 0; i < n; i++) {
        void *memory;
        CHECK(cudaMalloc(&memory, 1 << 20));
        nothing<<<1, 32>>>();
        CHECK(cudaFree(memory));
    }
    return (now_us() - begun) / n;
}

static cudaGraphExec_t chain(cudaStream_t stream, int n, int us)
{
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < n; i++) {
        if (us)
            busy<<<1, 1, 0, stream>>>(us);
        else
            nothing<<<1, 32, 0, stream>>>();
    }
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
    CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaStreamSynchronize(stream));
    return ready;
}

static double graph_launch_us(int n)
{
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaGraphExec_t ready = chain(stream, n, 0);
    double begun = now_us();
    CHECK(cudaGraphLaunch(ready, stream));
    double took = now_us() - begun;
    CHECK(cudaStreamSynchronize(stream));
    return took;
}

static double waited_us(int us, bool is_graph)
{
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    cudaGraphExec_t ready = chain(stream, 1, us);
    double begun = now_us();
    if (is_graph)
        CHECK(cudaGraphLaunch(ready, stream));
    else
        busy<<<1, 1, 0, stream>>>(us);
    CHECK(cudaStreamSynchronize(stream));
    return now_us() - begun;
}

// A kernel by itself: the period of launches that are longer than the host's calls.
static double alone_us(int us)
{
    Events events;
    events.begin();
    for (int i = 0; i < 4; i++)
        busy<<<1, 1>>>(us);
    double few = events.end_us();
    events.begin();
    for (int i = 0; i < 8; i++)
        busy<<<1, 1>>>(us);
    return (events.end_us() - few) / 4;
}

int main(int, char **argv)
{
    const char *way = argv[1];
    int n = std::atoi(argv[2]);
    nothing<<<1, 32>>>();
    CHECK(cudaDeviceSynchronize());
    if (is(way, "streams"))
        return figure(streams_us(n, true) - streams_us(n, false));
    if (is(way, "host_function"))
        return figure(host_function_us(true) - host_function_us(false));
    if (is(way, "free"))
        return figure(free_us(n));
    if (is(way, "graph_launch"))
        return figure(graph_launch_us(n));
    if (is(way, "launch"))
        return figure(waited_us(n, false));
    if (is(way, "graph"))
        return figure(waited_us(n, true));
    return is(way, "wait") ? figure(waited_us(n, false) - alone_us(n)) : unknown(way);
}
