// run: -- --scale 3 words "and more"
// Arguments, streams of text, a file that is written and read.
#include "check.h"
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
__global__ void scale(int *p, int by) { p[threadIdx.x] *= by; }
int main(int argc, char **argv)
{
    int by = 1, n_words = 0;
    for (int i = 1; i < argc; ++i)
        std::string(argv[i]) == "--scale" && i + 1 < argc ? (void)(by = std::stoi(argv[++i])) : (void)++n_words;
    int host[8] = {1, 2, 3, 4, 5, 6, 7, 8}, *device;
    CHECK(cudaMalloc(&device, sizeof host));
    CHECK(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
    scale<<<1, 8>>>(device, by);
    CHECK(cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost));
    const auto path = std::filesystem::temp_directory_path() / ("gpuprof-texts-" + std::to_string((size_t)&argc) + std::to_string(time(nullptr)));
    {
        std::ofstream file(path);
        for (int each : host)
            file << std::setw(4) << each;
    }
    std::ifstream file(path);
    int total = 0, each;
    while (file >> each)
        total += each;
    std::filesystem::remove(path);
    std::ostringstream told;
    told << std::hex << total << ' ' << std::fixed << std::setprecision(2) << total / 8.0 << ' ' << n_words;
    return verdict(told.str() == "6c 13.50 2");
}
