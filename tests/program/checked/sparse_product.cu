// A sparse matrix in compressed rows times a vector, a warp for each row.
#include "check.h"
#include <vector>
__global__ void multiply(const int *starts, const int *columns, const double *values, const double *x, double *y, int rows)
{
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    double sum = 0;
    for (int i = starts[row] + lane; i < starts[row + 1]; i += 32)
        sum += values[i] * x[columns[i]];
    for (int d = 16; d; d /= 2)
        sum += __shfl_down_sync(~0u, sum, d);
    if (!lane)
        y[row] = sum;
}
template <typename T> T *on_device(const std::vector<T> &host)
{
    T *p;
    CHECK(cudaMalloc(&p, host.size() * sizeof(T)));
    CHECK(cudaMemcpy(p, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}
int main()
{
    const int rows = 50;
    std::vector<int> starts{0}, columns;
    std::vector<double> values, x(rows), expected(rows), y(rows);
    for (int i = 0; i < rows; ++i) {
        x[i] = i - 20;
        for (int j = 0; j < rows; j += 1 + i % 4) {
            columns.push_back(j);
            values.push_back(i * j % 9);
        }
        starts.push_back((int)columns.size());
    }
    for (int i = 0; i < rows; ++i)
        for (int e = starts[i]; e < starts[i + 1]; ++e)
            expected[i] += values[e] * x[columns[e]];
    double *out = on_device(y);
    multiply<<<(rows * 32 + 127) / 128, 128>>>(on_device(starts), on_device(columns), on_device(values), on_device(x), out, rows);
    CHECK(cudaMemcpy(y.data(), out, rows * sizeof(double), cudaMemcpyDeviceToHost));
    return verdict(y == expected);
}
