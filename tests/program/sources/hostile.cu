// Programs that end in other ways than by returning from main; the argument chooses one.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
__global__ void k(int *p) { p[0] += 1; }
static void CUDART_CB leave(cudaStream_t, cudaError_t, void *)
{
    puts("callback");
    exit(5);
}
static int deep(int n)
{
    volatile char room[100000];
    room[n % 100] = 1;
    return deep(n + 1) + room[0];
}
static void each_file(void (*act)(int))
{
    for (int file = 3; file < 64; ++file)
        act(file);
}
int main(int argc, char **argv)
{
    int *p, *host = (int *)malloc(4);
    cudaMalloc(&p, 4);
    puts("begun"), puts("and on");
    k<<<1, 1>>>(p);
    switch (argv[1][0]) {
    case 'c':
        cudaStreamAddCallback(0, leave, nullptr, 0);
        break;
    case 's':
        each_file([](int file) { close(file); });
        cudaDeviceSynchronize();
        break;
    case 'w':
        each_file([](int file) { (void)!write(file, "this is no call of the library", 30); });
        cudaDeviceSynchronize();
        break;
    case 'a':
        abort();
    case 'k':
        raise(SIGKILL);
        break;
    case 'f':
        raise(SIGSEGV);
        break;
    case 'o':
        return deep(0);
    case 'n':
        printf("%d\n", cudaMemcpy(p, host, (size_t)-4, cudaMemcpyHostToDevice));
        printf("%d\n", cudaMemcpy(host, p, (size_t)1 << 40, cudaMemcpyDeviceToHost));
        printf("%d\n", cudaMemset(p, 0, (size_t)-1));
        cudaMemcpy(p, (void *)16, 4, cudaMemcpyHostToDevice);
        break;
    case 'l':
        for (long i = 0; i < 10000000; ++i)
            puts("line");
        return 0;
    }
    return 1;
}
