// Lists behind a spin lock per bucket, and a lock that every thread of a warp wants at once.
struct Node {
    int key, next;
};

__global__ void chain(const int *keys, int n, int *locks, volatile int *heads, Node *nodes, int n_buckets)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int bucket = keys[i] % n_buckets;
    for (bool done = false; !done;) {
        if (atomicCAS(&locks[bucket], 0, 1) == 0) {
            __threadfence();
            nodes[i] = {keys[i], heads[bucket]};
            heads[bucket] = i;
            __threadfence();
            atomicExch(&locks[bucket], 0);
            done = true;
        }
    }
}

__device__ int mutex;

__global__ void count(volatile int *counter)
{
    for (unsigned pause = 8; atomicCAS(&mutex, 0, 1) == 1; pause *= pause < 256 ? 2 : 1)
        __nanosleep(pause);
    *counter = *counter + 1;
    __threadfence();
    atomicExch(&mutex, 0);
}
