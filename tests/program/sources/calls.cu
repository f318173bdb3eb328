// Makes the calls that its standard input lists, one a line: "thread call words". It prints what each gives, the thread's
// last error, and how the streams a, b and n are captured.
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using std::string;
typedef std::vector<string> Words;

__device__ int variable;
__global__ void add(int *p) { ++*p; }
__global__ void fault(int kind, int *p)
{
    if (kind == 0)
        p[1 << 20] = 1;
    else if (kind == 1)
        *(int *)((char *)p + 1) = 1;
    else if (kind == 2)
        __trap();
    else
        assert(!p);
}
__global__ void __launch_bounds__(64) bounded(int *p) { *p = 1; }
extern __shared__ int shared[];
__global__ void large(int *p) { shared[0] = 1, *p = shared[0]; }
// It has more registers than an SM has for 1024 threads.
__global__ void hungry(float *p, int n)
{
    float kept[120];
    for (int i = 0; i < 120; ++i)
        kept[i] = p[i];
    for (int k = 0; k < n; ++k)
        for (int i = 0; i < 120; ++i)
            kept[i] = kept[i] * kept[(i + 1) % 120] + k;
    for (int i = 0; i < 120; ++i)
        p[i] = kept[i];
}

std::map<string, cudaStream_t> streams;
std::map<string, cudaEvent_t> events;
std::map<string, char *> pointers;
std::vector<cudaGraphExec_t> graphs;
cudaGraph_t last_graph;
char on_host[4096];
int n_called = 0;

cudaStream_t stream(const string &name) { return streams.count(name) ? streams[name] : (cudaStream_t)0x1234; }
cudaEvent_t event(const string &name) { return events.count(name) ? events[name] : nullptr; }
char *pointer(const string &name) { return name == "host" ? on_host : name == "host2" ? on_host + 2048 : pointers[name]; }
cudaStreamCaptureMode mode(const string &name)
{
    return name == "global"         ? cudaStreamCaptureModeGlobal
           : name == "thread_local" ? cudaStreamCaptureModeThreadLocal
           : name == "relaxed"      ? cudaStreamCaptureModeRelaxed
                                    : (cudaStreamCaptureMode)7;
}
dim3 extent(const string &text)
{
    dim3 made;
    sscanf(text.c_str(), "%u,%u,%u", &made.x, &made.y, &made.z);
    return made;
}
void called(void *) { ++n_called; }

cudaError_t launch(const Words &w) // kernel grid block shared stream
{
    float *p = (float *)pointers["p"];
    int n = 1;
    void *arguments[] = {&p, &n};
    const void *kernels[] = {(void *)add, (void *)bounded, (void *)large, (void *)hungry, (void *)on_host};
    const string names[] = {"add", "bounded", "large", "hungry", "none"};
    for (int i = 0; i < 5; ++i)
        if (names[i] == w[0])
            return cudaLaunchKernel(kernels[i], extent(w[1]), extent(w[2]), arguments, atoi(w[3].c_str()), stream(w[4]));
    return cudaErrorUnknown;
}
cudaError_t status_of(const Words &w)
{
    cudaStreamCaptureStatus status;
    return cudaStreamIsCapturing(stream(w[0]), &status);
}
cudaError_t end_capture(const Words &w)
{
    cudaGraph_t graph = (cudaGraph_t)1;
    const cudaError_t error = cudaStreamEndCapture(stream(w[0]), &graph);
    if (!error != (graph && graph != (cudaGraph_t)1))
        printf("(graph there: %d) ", graph != nullptr);
    if (!error)
        last_graph = graph;
    return error;
}
cudaError_t launch_graph(const Words &w)
{
    cudaGraphExec_t exec = nullptr;
    if (!last_graph)
        return cudaGraphLaunch(nullptr, stream(w[0]));
    const cudaError_t error = cudaGraphInstantiate(&exec, last_graph, 0);
    if (!error)
        graphs.push_back(exec);
    return error ? error : cudaGraphLaunch(exec, stream(w[0]));
}
const std::map<string, std::function<cudaError_t(const Words &)>> calls = {
    {"cudaStreamCreateWithFlags", [](const Words &w) { return cudaStreamCreateWithFlags(&streams[w[0]], atoi(w[1].c_str())); }},
    {"cudaStreamDestroy",
     [](const Words &w) {
         const cudaError_t error = cudaStreamDestroy(stream(w[0]));
         streams.erase(w[0]);
         return error;
     }},
    {"cudaStreamSynchronize", [](const Words &w) { return cudaStreamSynchronize(stream(w[0])); }},
    {"cudaStreamQuery", [](const Words &w) { return cudaStreamQuery(stream(w[0])); }},
    {"cudaStreamBeginCapture", [](const Words &w) { return cudaStreamBeginCapture(stream(w[0]), mode(w[1])); }},
    {"cudaStreamEndCapture", end_capture},
    {"cudaStreamIsCapturing", status_of},
    {"cudaThreadExchangeStreamCaptureMode",
     [](const Words &w) {
         cudaStreamCaptureMode wanted = mode(w[0]);
         return cudaThreadExchangeStreamCaptureMode(&wanted);
     }},
    {"cudaGraphLaunch", launch_graph},
    {"cudaEventCreateWithFlags", [](const Words &w) { return cudaEventCreateWithFlags(&events[w[0]], atoi(w[1].c_str())); }},
    {"cudaEventDestroy",
     [](const Words &w) {
         const cudaError_t error = cudaEventDestroy(event(w[0]));
         events.erase(w[0]);
         return error;
     }},
    {"cudaEventRecord", [](const Words &w) { return cudaEventRecord(event(w[0]), stream(w[1])); }},
    {"cudaEventSynchronize", [](const Words &w) { return cudaEventSynchronize(event(w[0])); }},
    {"cudaEventQuery", [](const Words &w) { return cudaEventQuery(event(w[0])); }},
    {"cudaStreamWaitEvent", [](const Words &w) { return cudaStreamWaitEvent(stream(w[0]), event(w[1]), 0); }},
    {"cudaEventElapsedTime",
     [](const Words &w) {
         float ms;
         return cudaEventElapsedTime(&ms, event(w[0]), event(w[1]));
     }},
    {"cudaLaunchKernel", launch},
    {"cudaLaunchCooperativeKernel",
     [](const Words &w) {
         int *p = (int *)pointers["p"];
         void *arguments[] = {&p};
         return cudaLaunchCooperativeKernel((void *)add, extent(w[0]), extent(w[1]), arguments, 0, 0);
     }},
    {"cudaLaunchHostFunc", [](const Words &w) { return cudaLaunchHostFunc(stream(w[0]), called, nullptr); }},
    {"cudaStreamAddCallback",
     [](const Words &w) { return cudaStreamAddCallback(stream(w[0]), [](cudaStream_t, cudaError_t, void *) {}, nullptr, atoi(w[1].c_str())); }},
    {"fault", // kernel that traps
     [](const Words &w) {
         fault<<<1, 1>>>(w[0] == "address" ? 0 : w[0] == "alignment" ? 1 : w[0] == "trap" ? 2 : 3, (int *)pointers["p"]);
         return cudaPeekAtLastError();
     }},
    {"cudaMalloc", [](const Words &w) { return cudaMalloc((void **)&pointers[w[0]], strtoull(w[1].c_str(), nullptr, 0)); }},
    {"cudaMallocManaged", [](const Words &w) { return cudaMallocManaged((void **)&pointers[w[0]], strtoull(w[1].c_str(), nullptr, 0)); }},
    {"cudaMallocHost", [](const Words &w) { return cudaMallocHost((void **)&pointers[w[0]], strtoull(w[1].c_str(), nullptr, 0)); }},
    {"cudaHostAlloc", [](const Words &w) { return cudaHostAlloc((void **)&pointers[w[0]], 64, atoi(w[1].c_str())); }},
    {"cudaMallocAsync", [](const Words &w) { return cudaMallocAsync((void **)&pointers[w[0]], 64, stream(w[1])); }},
    {"cudaFreeAsync", [](const Words &w) { return cudaFreeAsync(pointer(w[0]), stream(w[1])); }},
    {"cudaFree", [](const Words &w) { return cudaFree(pointer(w[0])); }},
    {"cudaFreeHost", [](const Words &w) { return cudaFreeHost(pointer(w[0])); }},
    {"cudaHostRegister", [](const Words &w) { return cudaHostRegister(pointer(w[0]), atoi(w[1].c_str()), 0); }},
    {"cudaHostUnregister", [](const Words &w) { return cudaHostUnregister(pointer(w[0])); }},
    {"cudaMemcpy",
     [](const Words &w) { return cudaMemcpy(pointer(w[0]), pointer(w[1]), atoi(w[2].c_str()), (cudaMemcpyKind)atoi(w[3].c_str())); }},
    {"cudaMemcpyAsync",
     [](const Words &w) {
         return cudaMemcpyAsync(pointer(w[0]), pointer(w[1]), atoi(w[2].c_str()), (cudaMemcpyKind)atoi(w[3].c_str()), stream(w[4]));
     }},
    {"cudaMemcpy2D",
     [](const Words &w) {
         return cudaMemcpy2D(pointer(w[0]), atoi(w[2].c_str()), pointer(w[1]), atoi(w[3].c_str()), atoi(w[4].c_str()), 2, cudaMemcpyDefault);
     }},
    {"cudaMemset", [](const Words &w) { return cudaMemset(pointer(w[0]), 0, atoi(w[1].c_str())); }},
    {"cudaMemsetAsync", [](const Words &w) { return cudaMemsetAsync(pointer(w[0]), 0, atoi(w[1].c_str()), stream(w[2])); }},
    {"cudaMemcpyToSymbol",
     [](const Words &w) {
         return cudaMemcpyToSymbol(w[0] == "variable" ? (const void *)&variable : (const void *)on_host, on_host, atoi(w[1].c_str()), 0, cudaMemcpyHostToDevice);
     }},
    {"cudaGetSymbolAddress",
     [](const Words &w) {
         void *p;
         return cudaGetSymbolAddress(&p, w[0] == "variable" ? (const void *)&variable : (const void *)on_host);
     }},
    {"cudaSetDevice", [](const Words &w) { return cudaSetDevice(atoi(w[0].c_str())); }},
    {"cudaGetDeviceCount",
     [](const Words &) {
         int count;
         return cudaGetDeviceCount(&count);
     }},
    {"cudaGetDeviceProperties",
     [](const Words &w) {
         cudaDeviceProp properties;
         return cudaGetDeviceProperties(&properties, atoi(w[0].c_str()));
     }},
    {"cudaDeviceGetAttribute",
     [](const Words &w) {
         int value;
         return cudaDeviceGetAttribute(&value, (cudaDeviceAttr)atoi(w[0].c_str()), atoi(w[1].c_str()));
     }},
    {"cudaDeviceSynchronize", [](const Words &) { return cudaDeviceSynchronize(); }},
    {"cudaDeviceReset", [](const Words &) { return cudaDeviceReset(); }},
    {"cudaDeviceEnablePeerAccess", [](const Words &w) { return cudaDeviceEnablePeerAccess(atoi(w[0].c_str()), 0); }},
    {"cudaDeviceDisablePeerAccess", [](const Words &w) { return cudaDeviceDisablePeerAccess(atoi(w[0].c_str())); }},
    {"cudaFuncGetAttributes",
     [](const Words &w) {
         cudaFuncAttributes attributes;
         return cudaFuncGetAttributes(&attributes, w[0] == "add" ? (void *)add : (void *)on_host);
     }},
    {"cudaFuncSetAttribute",
     [](const Words &w) { return cudaFuncSetAttribute((void *)large, (cudaFuncAttribute)atoi(w[0].c_str()), atoi(w[1].c_str())); }},
    {"cudaGraphCreate",
     [](const Words &) {
         cudaGraph_t graph;
         return cudaGraphCreate(&graph, 0);
     }},
    {"cudaGetLastError", [](const Words &) { return cudaGetLastError(); }},
    {"cudaPeekAtLastError", [](const Words &) { return cudaPeekAtLastError(); }},
};

// A thread begins anew.
void forget()
{
    cudaStreamCaptureMode usual = cudaStreamCaptureModeGlobal;
    cudaThreadExchangeStreamCaptureMode(&usual);
    cudaGetLastError();
}

// Every sequence begins with the same streams, events and memory.
void begin()
{
    for (auto &each : streams)
        if (each.second > (cudaStream_t)2)
            cudaStreamDestroy(each.second);
    for (auto &each : events)
        cudaEventDestroy(each.second);
    cudaDeviceReset();
    streams = {{"0", nullptr}, {"p", cudaStreamPerThread}};
    events.clear();
    pointers.clear();
    last_graph = nullptr;
    cudaStreamCreate(&streams["a"]);
    cudaStreamCreate(&streams["b"]);
    cudaStreamCreateWithFlags(&streams["n"], cudaStreamNonBlocking);
    for (const char *name : {"e", "f"})
        cudaEventCreate(&events[name]);
    cudaMalloc((void **)&pointers["p"], 4096);
    forget();
}

void print_state()
{
    printf(" %d ", cudaPeekAtLastError());
    for (const char *name : {"a", "b", "n"}) {
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        if (streams.count(name))
            cudaStreamIsCapturing(streams[name], &status);
        printf("%c", streams.count(name) ? '0' + status : '-');
    }
    puts("");
}

void make(const string &line)
{
    std::istringstream in(line);
    Words words;
    for (string word; in >> word;)
        words.push_back(word);
    const string name = words[0];
    words.erase(words.begin());
    const auto found = calls.find(name);
    if (name == "begin")
        return begin();
    if (name == "forget")
        return forget();
    printf("%d", found == calls.end() ? -1 : found->second(words));
    print_state();
}

// A second thread, to which lines go in turn.
struct Other {
    std::mutex lock;
    std::condition_variable changed;
    string line;
    bool is_over = false;
    std::thread thread{[this] { work(); }};

    void work()
    {
        std::unique_lock<std::mutex> held(lock);
        for (;;) {
            changed.wait(held, [this] { return !line.empty() || is_over; });
            if (is_over)
                return;
            make(line);
            line.clear();
            changed.notify_all();
        }
    }
    void give(const string &what)
    {
        std::unique_lock<std::mutex> held(lock);
        line = what;
        changed.notify_all();
        changed.wait(held, [this] { return line.empty(); });
    }
    void end()
    {
        {
            std::unique_lock<std::mutex> held(lock);
            is_over = true;
        }
        changed.notify_all();
        thread.join();
    }
};

int main()
{
    Other other;
    for (string line; std::getline(std::cin, line);)
        if (line[0] == '2')
            other.give(line.substr(2));
        else
            make(line.substr(2));
    other.end();
}
