// Containers of C++ on the host: words counted by a kernel and by a map.
#include "check.h"
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>
__global__ void count(const char *text, int n, int *counts)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (text[i] >= 'a' && text[i] <= 'z')
            atomicAdd(&counts[text[i] - 'a'], 1);
}
std::optional<int> index_of(char c) { return c >= 'a' && c <= 'z' ? std::optional<int>(c - 'a') : std::nullopt; }
int main()
{
    std::string text;
    for (int i = 0; i < 40; ++i)
        text += "the quick brown fox " + std::to_string(i) + " jumps; ";
    std::map<char, int> expected;
    for (char c : text)
        if (index_of(c))
            ++expected[c];
    char *device;
    int *counts, got[26];
    CHECK(cudaMalloc(&device, text.size()));
    CHECK(cudaMalloc(&counts, sizeof got));
    CHECK(cudaMemset(counts, 0, sizeof got));
    CHECK(cudaMemcpy(device, text.data(), text.size(), cudaMemcpyHostToDevice));
    count<<<1, 128>>>(device, (int)text.size(), counts);
    CHECK(cudaMemcpy(got, counts, sizeof got, cudaMemcpyDeviceToHost));
    std::variant<int, std::string> result = 0;
    for (auto &[letter, n] : expected)
        if (got[*index_of(letter)] != n)
            result = std::string(1, letter);
    return verdict(std::holds_alternative<int>(result) && expected.size() > 10);
}
