// Measures a kernel by the host's clock.
#include <cstdio>
#include <ctime>

__global__ void wait(int n)
{
    for (int i = 0; i < n; i++)
        __nanosleep(1000);
}

int main()
{
    timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    wait<<<1, 1>>>(1000);
    cudaDeviceSynchronize();
    clock_gettime(CLOCK_MONOTONIC, &end);
    puts((end.tv_sec - begin.tv_sec) * 1000000000l + end.tv_nsec - begin.tv_nsec < 500000 ? "no time" : "a millisecond");
}
