// A host file that knows the kernels' file by a header alone.
#include "parts.h"
#include <cuda_runtime.h>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>
int main(int argc, char **argv)
{
    std::string word;
    std::cin >> word;
    std::vector<int> values(100);
    std::iota(values.begin(), values.end(), 1);
    const int total = sum_on_device(values.data(), (int)values.size());
    std::cout << word << " " << (argc > 1 ? argv[1] : "-") << " " << total << " " << twice(total) << std::endl;
    try {
        throw std::string("caught");
    } catch (const std::string &text) {
        std::cout << text << std::endl;
    }
    return total == 5050 ? 3 : 1;
}
