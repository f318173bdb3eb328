// The edit distance of two words, one diagonal after the other in one block.
#include "check.h"
#include <algorithm>
#include <string>
#include <vector>
__global__ void distance(const char *a, int n, const char *b, int m, int *table)
{
    const int w = m + 1;
    for (int d = 0; d <= n + m; ++d) {
        for (int i = threadIdx.x; i <= n; i += blockDim.x) {
            const int j = d - i;
            if (j < 0 || j > m)
                continue;
            table[i * w + j] = !i || !j ? i + j
                                        : min(min(table[(i - 1) * w + j], table[i * w + j - 1]) + 1, table[(i - 1) * w + j - 1] + (a[i - 1] != b[j - 1]));
        }
        __syncthreads();
    }
}
int main()
{
    const std::string a = "the kitten sat on the mat", b = "some sitting cats at that";
    const int n = (int)a.size(), m = (int)b.size();
    std::vector<int> row(m + 1);
    for (int j = 0; j <= m; ++j)
        row[j] = j;
    for (int i = 1; i <= n; ++i)
        for (int j = 1, corner = row[0]++; j <= m; ++j) {
            const int above = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, corner + (a[i - 1] != b[j - 1])});
            corner = above;
        }
    char *da, *db;
    int *table, got;
    CHECK(cudaMalloc(&da, n));
    CHECK(cudaMalloc(&db, m));
    CHECK(cudaMalloc(&table, (n + 1) * (m + 1) * 4));
    CHECK(cudaMemcpy(da, a.data(), n, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(db, b.data(), m, cudaMemcpyHostToDevice));
    distance<<<1, 32>>>(da, n, db, m, table);
    CHECK(cudaMemcpy(&got, table + (n + 1) * (m + 1) - 1, sizeof got, cudaMemcpyDeviceToHost));
    return verdict(got == row[m]);
}
