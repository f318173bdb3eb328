// Complex numbers of cuComplex.h and std::complex; a loop with OpenMP's pragma and calls.
#include "check.h"
#include <complex>
#include <cuComplex.h>
#include <omp.h>
__global__ void mandelbrot(int *out, int w)
{
    const int x = threadIdx.x, y = blockIdx.x;
    const cuDoubleComplex c = make_cuDoubleComplex(-2.0 + 3.0 * x / w, -1.0 + 2.0 * y / w);
    cuDoubleComplex z = make_cuDoubleComplex(0, 0);
    int n = 0;
    while (n < 50 && cuCreal(z) * cuCreal(z) + cuCimag(z) * cuCimag(z) < 4)
        z = cuCadd(cuCmul(z, z), c), ++n;
    out[y * w + x] = n;
}
int main()
{
    const int w = 32;
    int *device, got[w * w], n_different = 0;
    CHECK(cudaMalloc(&device, sizeof got));
    mandelbrot<<<w, w>>>(device, w);
    CHECK(cudaMemcpy(got, device, sizeof got, cudaMemcpyDeviceToHost));
    const double begin = omp_get_wtime();
#pragma omp parallel for reduction(+ : n_different) num_threads(omp_get_max_threads())
    for (int i = 0; i < w * w; ++i) {
        const std::complex<double> c(-2.0 + 3.0 * (i % w) / w, -1.0 + 2.0 * (i / w) / w);
        std::complex<double> z = 0;
        int n = 0;
        while (n < 50 && std::norm(z) < 4)
            z = z * z + c, ++n;
        n_different += n != got[i];
    }
    const cuFloatComplex quotient = cuCdivf(make_cuFloatComplex(1, 2), make_cuFloatComplex(3, -4));
    const bool is_right = std::abs(quotient.x + 0.2f) < 1e-6f && std::abs(quotient.y - 0.4f) < 1e-6f && cuCabs(make_cuDoubleComplex(3, -4)) == 5;
    return verdict(is_right && n_different <= 2 && omp_get_wtime() > begin && omp_get_thread_num() == 0);
}
