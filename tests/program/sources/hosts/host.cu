// What programs expect of the host's compiler and its libraries.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <getopt.h>
#include <iostream>
#include <map>
#include <mutex>
#include <numeric>
#include <pthread.h>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <unordered_map>
#include <vector>
#ifdef __GNU_LIBRARY__
#include <bits/stdc++.h>
#include <error.h>
#include <execinfo.h>
int stack[4]; // a name that the C++ library leaves free
#endif

struct Announced {
    Announced() { puts("begun before main"); }
    ~Announced() { puts("ended after main"); }
} announced;

// Names and layouts of the C++ library are the same in a kernel and in its host.
template <typename T> __global__ void first(T pair, double *out) { *out = std::get<0>(pair) + 10 * std::sqrt((float)std::get<1>(pair)); }
__global__ void scale(int *values, int n)
{
    const int i = threadIdx.x;
    if (i < n)
        values[i] = std::max(values[i] * 2, 5);
}

double kernels()
{
    std::vector<int> values(10);
    std::iota(values.begin(), values.end(), 0);
    int *device;
    double *out, found;
    cudaMalloc(&device, 40);
    cudaMalloc(&out, 8);
    cudaMemcpy(device, values.data(), 40, cudaMemcpyHostToDevice);
    scale<<<1, 32>>>(device, 10);
    cudaMemcpy(values.data(), device, 40, cudaMemcpyDeviceToHost);
    first<<<1, 1>>>(std::make_tuple(std::accumulate(values.begin(), values.end(), 0), 9.0), out);
    cudaMemcpy(&found, out, 8, cudaMemcpyDeviceToHost);
    return found;
}

int main(int argc, char **argv)
{
    std::atexit([] { puts("at exit"); });
    std::cout << kernels() << std::endl;

    int sum = 0;
    std::mutex lock;
    std::vector<std::thread> threads;
    for (int i = 1; i <= 4; ++i)
        threads.emplace_back([&, i] { std::lock_guard<std::mutex> guard(lock); sum += i; });
    for (std::thread &each : threads)
        each.join();
    try {
        if (sum == 10)
            throw std::runtime_error("thrown");
    } catch (const std::exception &error) {
        std::cout << error.what() << std::endl;
    }

    const auto begun = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    usleep(1000);
    const double passed = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
    std::cout << std::round(passed) << " ms, " << time(nullptr) << " " << std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())
              << std::endl;

    std::random_device device;
    const unsigned drawn = device();
    std::cout << (drawn == device() ? "the same" : "other") << " numbers, " << std::mt19937(drawn)() << std::endl;

    char made[] = "/tmp/gpuprof-host-XXXXXX";
    const std::filesystem::path folder = mkdtemp(made);
    std::ofstream(folder / "words") << "one two";
    std::string word;
    std::ifstream(folder / "words") >> word;
    std::cout << word << " " << std::filesystem::file_size(folder / "words") << std::endl;
    std::filesystem::remove_all(folder);

    char *pages = (char *)mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pages[5] = 7;
    opterr = 0;
    const int letter = getopt(argc, argv, "n:");
    printf("%d %c %s\n", pages[5], letter, letter == 'n' ? optarg : "");

    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    printf("driver: %d %d\n", driver && dlsym(driver, "cuInit"), driver && dlsym(driver, "cuNoSuchCall"));
    printf("addresses: %p %p\n", (void *)&sum, malloc(24));
#ifdef __GNU_LIBRARY__
    void *frames[8];
    stack[3] = backtrace(frames, 8) > 1;
    void *maths = dlopen("libm.so.6", RTLD_NOW);
    printf("glibc: %d, %d, cos %g\n", rand(), stack[3], ((double (*)(double))dlsym(maths, "cos"))(0));
#endif
    fflush(stdout);
    return 0;
}
