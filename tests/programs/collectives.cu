// Collectives of cooperative groups: reductions and scans over tiles and over whichever lanes, copies in the background, the whole grid.
#include <utility>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
struct Pair { float v; int i; int extra; };
__global__ void collectives(const int *x, int *out, float *fout)
{
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    auto warp = cg::tiled_partition<32>(block);
    int t = block.thread_rank(), v = x[t], n = block.size();
    int row = 0; auto put = [&](int r) { out[row++ * n + t] = r; };
    put(cg::reduce(tile, v, cg::plus<int>()));
    put(cg::reduce(warp, v, cg::less<int>()));
    put(cg::reduce(tile, v, [](int a, int b) { return a * b; }));
    put(cg::inclusive_scan(warp, v));
    put(cg::exclusive_scan(tile, v));
    put(cg::inclusive_scan(warp, v, cg::greater<int>()));
    auto same = cg::labeled_partition(warp, v % 3);
    put(cg::reduce(same, v, cg::plus<int>()));
    put(same.meta_group_rank()); put(same.thread_rank());
    put(cg::exclusive_scan(same, v));
    auto odd = cg::binary_partition(warp, v & 1);
    put(cg::reduce(odd, (long long)v, cg::plus<long long>()));
    put(odd.ballot(v & 2));
    if (t % 3 == 0) {
        auto active = cg::coalesced_threads();
        put(cg::reduce(active, v, cg::greater<int>()));
        put(active.shfl_down(v, 1)); put(active.shfl(v, active.size() - 1));
        put(cg::inclusive_scan(active, v));
    } else row += 4;
    auto dyn = cg::tiled_partition(block, 4); put(dyn.thread_rank() * 100 + dyn.size());
    Pair p{(float)v, t, 7};
    p = cg::reduce(warp, p, [](Pair a, Pair b) { return a.v > b.v || (a.v == b.v && a.i < b.i) ? a : b; });
    put(p.i); put(tile.any(v == 3)); put(tile.all(v > 0)); put(tile.ballot(v & 1)); put(cg::invoke_one_broadcast(warp, [&] { return v; }));
    fout[t] = cg::reduce(warp, (float)v, cg::plus<float>());
}
__global__ void staged(const float *x, float *out, int n)
{
    __shared__ alignas(16) float s[2][256];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s[0], x, sizeof(float) * 256);
    float sum = 0;
    for (int i = 0; i < n; i++) {
        if (i + 1 < n) { cg::memcpy_async(block, s[(i + 1) % 2], x + (i + 1) * 256, sizeof(float) * 256); cg::wait_prior<1>(block); } else cg::wait(block);
        sum += s[i % 2][255 - block.thread_rank()];
        block.sync();
    }
    out[block.thread_rank()] = sum;
}
__global__ void jacobi(float *a, float *b, int n, int steps)
{
    cg::grid_group grid = cg::this_grid();
    for (int s = 0; s < steps; s++) {
        for (int i = grid.thread_rank(); i < n; i += grid.size()) if (i > 0 && i < n - 1) b[i] = 0.5f * (a[i - 1] + a[i + 1]);
        cg::sync(grid);
        float *t = a; a = b; b = t;
    }
}
__global__ void arrive(int *out)
{
    __shared__ int s[128];
    auto block = cg::this_thread_block();
    for (int i = 0; i < 3; i++) {
        s[threadIdx.x] = threadIdx.x * 3 + i;
        auto token = block.barrier_arrive();
        int mine = threadIdx.x;
        block.barrier_wait(std::move(token));
        out[i * 128 + mine] = s[127 - mine];
        block.sync();
    }
}
