// copies WAY NBYTES TIMES [US]: the time of one of so many copies. By events, on a stream that is busy when the
// host asks for them: in, out (page-locked), in_pageable, out_pageable, both (page-locked, in while others go out),
// within, node (within, as a node of a graph), fill. By events around a kernel: read (mapped host memory), write (to
// it), both_mapped. By the host's clock: call_in, call_out (cudaMemcpy, pageable), behind, behind_pageable (the call of
// an asynchronous copy out after a kernel of so many US).
#include "figure.h"

__global__ void move(float4 *to, const float4 *from, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += blockDim.x * (size_t)gridDim.x)
        to[i] = from[i];
}

__global__ void change(float4 *array, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += blockDim.x * (size_t)gridDim.x) {
        float4 value = array[i];
        value.x += 1;
        array[i] = value;
    }
}

struct Job {
    const char *way;
    size_t nbytes;
    int times;
    int us;
    char *device, *other, *locked, *back, *pageable;
};

static char *pageable(size_t nbytes)
{
    char *memory = (char *)std::malloc(nbytes);
    std::memset(memory, 1, nbytes);
    return memory;
}

static void copy(const Job &job, cudaStream_t stream)
{
    const char *way = job.way;
    if (is(way, "in"))
        CHECK(cudaMemcpyAsync(job.device, job.locked, job.nbytes, cudaMemcpyHostToDevice, stream));
    else if (is(way, "out"))
        CHECK(cudaMemcpyAsync(job.locked, job.device, job.nbytes, cudaMemcpyDeviceToHost, stream));
    else if (is(way, "in_pageable"))
        CHECK(cudaMemcpyAsync(job.device, job.pageable, job.nbytes, cudaMemcpyHostToDevice, stream));
    else if (is(way, "out_pageable"))
        CHECK(cudaMemcpyAsync(job.pageable, job.device, job.nbytes, cudaMemcpyDeviceToHost, stream));
    else if (is(way, "fill"))
        CHECK(cudaMemsetAsync(job.device, 0, job.nbytes, stream));
    else
        CHECK(cudaMemcpyAsync(job.other, job.device, job.nbytes, cudaMemcpyDeviceToDevice, stream));
}

static double on_stream_us(const Job &job)
{
    Events events;
    busy<<<1, 1>>>(AHEAD);
    events.begin();
    for (int i = 0; i < job.times; i++)
        copy(job, 0);
    return events.end_us() / job.times;
}

static double node_us(const Job &job)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < job.times; i++)
        copy(job, stream);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, nullptr, nullptr, 0));
    Events events;
    busy<<<1, 1, 0, stream>>>(AHEAD);
    events.begin(stream);
    CHECK(cudaGraphLaunch(ready, stream));
    return events.end_us(stream) / job.times;
}

// Copies out go on for longer than those in, which are timed.
static double both_us(const Job &job)
{
    cudaStream_t in, out;
    cudaEvent_t go;
    CHECK(cudaStreamCreateWithFlags(&in, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&out, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&go));
    Events events;
    busy<<<1, 1, 0, in>>>(AHEAD);
    CHECK(cudaEventRecord(go, in));
    CHECK(cudaStreamWaitEvent(out, go, 0));
    events.begin(in);
    for (int i = 0; i < 2 * job.times; i++)
        CHECK(cudaMemcpyAsync(job.back, job.other, job.nbytes, cudaMemcpyDeviceToHost, out));
    for (int i = 0; i < job.times; i++)
        CHECK(cudaMemcpyAsync(job.device, job.locked, job.nbytes, cudaMemcpyHostToDevice, in));
    return events.end_us(in) / job.times;
}

static double by_kernel_us(const Job &job)
{
    float4 *mapped, *device = (float4 *)job.device;
    CHECK(cudaHostGetDevicePointer((void **)&mapped, job.locked, 0));
    size_t n = job.nbytes / sizeof(float4);
    int sms;
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    Events events;
    busy<<<1, 1>>>(AHEAD);
    events.begin();
    if (is(job.way, "read"))
        move<<<4 * sms, 512>>>(device, mapped, n);
    else if (is(job.way, "write"))
        move<<<4 * sms, 512>>>(mapped, device, n);
    else
        change<<<4 * sms, 512>>>(mapped, n);
    return events.end_us();
}

static double call_us(const Job &job)
{
    bool is_in = is(job.way, "call_in");
    double begun = now_us();
    for (int i = 0; i < job.times; i++)
        CHECK(is_in ? cudaMemcpy(job.device, job.pageable, job.nbytes, cudaMemcpyHostToDevice)
                    : cudaMemcpy(job.pageable, job.device, job.nbytes, cudaMemcpyDeviceToHost));
    return (now_us() - begun) / job.times;
}

static double behind_us(const Job &job)
{
    char *host = is(job.way, "behind") ? job.locked : job.pageable;
    busy<<<1, 1>>>(job.us);
    double begun = now_us();
    CHECK(cudaMemcpyAsync(host, job.device, job.nbytes, cudaMemcpyDeviceToHost, 0));
    double took = now_us() - begun;
    CHECK(cudaDeviceSynchronize());
    return took;
}

struct Way {
    const char *name;
    double (*time_us)(const Job &);
};

static const Way WAYS[] = {
    {"in", on_stream_us}, {"out", on_stream_us}, {"in_pageable", on_stream_us}, {"out_pageable", on_stream_us},
    {"within", on_stream_us}, {"fill", on_stream_us}, {"node", node_us}, {"both", both_us}, {"read", by_kernel_us},
    {"write", by_kernel_us}, {"both_mapped", by_kernel_us}, {"call_in", call_us}, {"call_out", call_us},
    {"behind", behind_us}, {"behind_pageable", behind_us},
};

int main(int argc, char **argv)
{
    Job job = {argv[1], (size_t)std::atoll(argv[2]), std::atoi(argv[3]), argc > 4 ? std::atoi(argv[4]) : 0};
    CHECK(cudaMalloc(&job.device, job.nbytes));
    CHECK(cudaMalloc(&job.other, job.nbytes));
    CHECK(cudaMallocHost(&job.locked, job.nbytes));
    CHECK(cudaMallocHost(&job.back, job.nbytes));
    job.pageable = pageable(job.nbytes);
    CHECK(cudaDeviceSynchronize());
    for (const Way &way : WAYS)
        if (is(job.way, way.name))
            return figure(way.time_us(job));
    return unknown(job.way);
}
