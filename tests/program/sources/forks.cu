#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>
int main()
{
    int *p, status;
    cudaMalloc(&p, 4);
    if (fork() == 0)
        _exit(cudaMalloc(&p, 4) == cudaErrorInitializationError ? 7 : 8);
    wait(&status);
    printf("%d %s\n", WEXITSTATUS(status), cudaGetErrorName(cudaMemset(p, 0, 4)));
    return 0;
}
