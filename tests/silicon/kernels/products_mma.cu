// Products of matrices of bfloat16 by mma.sync, with sums in single precision, one stage. A is m x k, C m x n, row-major;
// B is column-major. A block of four warps makes 128 x 128, and loads 64 k at a time.
#include <cuda_bf16.h>

typedef __nv_bfloat16 bf16;

__device__ __forceinline__ unsigned shared_address(const void *place)
{
    return (unsigned)__cvta_generic_to_shared(place);
}

__device__ __forceinline__ void load_four(unsigned *into, unsigned from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(into[0]), "=r"(into[1]), "=r"(into[2]), "=r"(into[3]) : "r"(from));
}

__device__ __forceinline__ void load_two(unsigned *into, unsigned from)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(into[0]), "=r"(into[1]) : "r"(from));
}

__device__ __forceinline__ void multiply(float *sums, const unsigned *a, const unsigned *b)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

constexpr int TILE = 128, BK = 64, THREADS = 128;

// Bytes: the 16-byte chunks of a line of 128 are exchanged by line.
__device__ __forceinline__ unsigned exchanged(unsigned place) { return place ^ (place >> 7 & 7) << 4; }

// How a tile comes to shared memory: through registers; by asynchronous copies; so, with chunks exchanged.
enum Way { REGISTERS, COPIES, EXCHANGED };

template <int PITCH, Way WAY> __device__ __forceinline__ void fetch(bf16 *tile, const bf16 *from, int k)
{
    for (int i = 0; i < TILE * BK / (THREADS * 8); ++i) {
        const int element = (i * THREADS + threadIdx.x) * 8, row = element / BK, column = element % BK;
        if (WAY == REGISTERS) {
            *reinterpret_cast<uint4 *>(tile + row * PITCH + column) =
                *reinterpret_cast<const uint4 *>(from + row * k + column);
        } else {
            const unsigned place = shared_address(tile) + (row * PITCH + column) * sizeof(bf16);
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                         ::"r"(WAY == EXCHANGED ? exchanged(place) : place), "l"(from + row * k + column));
        }
    }
}

// Each warp makes 64 x 64. Two matrices of B come by an ldmatrix, and four where chunks are exchanged.
template <int PITCH, Way WAY>
__global__ void __launch_bounds__(THREADS) in_one_stage(const bf16 *a, const bf16 *b, bf16 *c, int m, int n, int k)
{
    constexpr int TILES_M = 4, TILES_N = 8;
    extern __shared__ __align__(1024) bf16 tiles[];
    bf16 *tile_a = tiles, *tile_b = tiles + TILE * PITCH;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, columns = n / TILE;
    const int row = blockIdx.x / columns * TILE, column = blockIdx.x % columns * TILE;
    const int warp_row = warp / 2 * 64, warp_column = warp % 2 * 64;
    a += row * k;
    b += column * k;
    c += (row + warp_row) * n + column + warp_column;
    const unsigned of_a =
        shared_address(tile_a) + ((warp_row + lane % 16) * PITCH + lane / 16 * 8) * (unsigned)sizeof(bf16);
    const unsigned of_b_two =
        shared_address(tile_b) + ((warp_column + lane % 8) * PITCH + lane / 8 * 8) * (unsigned)sizeof(bf16);
    const unsigned of_b_four = shared_address(tile_b) +
        ((warp_column + lane % 8 + lane / 16 * 8) * PITCH + lane % 16 / 8 * 8) * (unsigned)sizeof(bf16);

    float sums[TILES_M][TILES_N][4] = {0.0f};
    for (int step = 0; step < k; step += BK) {
        fetch<PITCH, WAY>(tile_a, a, k);
        fetch<PITCH, WAY>(tile_b, b, k);
        if (WAY != REGISTERS)
            asm volatile("cp.async.wait_all;");
        __syncthreads();
        for (int inner = 0; inner < BK; inner += 16) {
            unsigned right[TILES_N][2];
            if (WAY == EXCHANGED)
                for (int j = 0; j < TILES_N; j += 2)
                    load_four(right[j], exchanged(of_b_four) + j * 8 * PITCH * sizeof(bf16) ^ inner * sizeof(bf16));
            else
                for (int j = 0; j < TILES_N; ++j)
                    load_two(right[j], of_b_two + (j * 8 * PITCH + inner) * sizeof(bf16));
            for (int i = 0; i < TILES_M; ++i) {
                unsigned left[4];
                if (WAY == EXCHANGED)
                    load_four(left, exchanged(of_a) + i * 16 * PITCH * sizeof(bf16) ^ inner * sizeof(bf16));
                else
                    load_four(left, of_a + (i * 16 * PITCH + inner) * sizeof(bf16));
                for (int j = 0; j < TILES_N; ++j)
                    multiply(sums[i][j], left, right[j]);
            }
        }
        __syncthreads();
        a += BK;
        b += BK;
    }
    for (int i = 0; i < TILES_M; ++i)
        for (int j = 0; j < TILES_N; ++j)
            for (int half = 0; half < 2; ++half) {
                const int place = (i * 16 + lane / 4 + 8 * half) * n + j * 8 + lane % 4 * 2;
                *reinterpret_cast<__nv_bfloat162 *>(c + place) =
                    __float22bfloat162_rn({sums[i][j][2 * half], sums[i][j][2 * half + 1]});
            }
}
