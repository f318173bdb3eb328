// Kernels whose accesses are of single bytes, of several widths, or scattered: what racecheck's stamps share least of.
//
// LAUNCH: histogram<<<32, 256>>>(text: u8[262144]=random, 262144, bins: u32[256])
// LAUNCH: char_histogram<<<16, 256>>>(text, 65536, small: u32[64])
// LAUNCH: blur<<<(16, 64), (32, 8)>>>(image: u8[262144]=random, blurred: u8[262144], 512, 512)
// LAUNCH: grey<<<256, 256>>>(rgb: u8[196608]=random, single: u8[65536], 65536)
// LAUNCH: search<<<1024, 256>>>(text, 262144, word: u8[4]=random, matches: u8[262144])
// LAUNCH: copy_bytes<<<64, 128>>>(copied: u8[65536], image, 65521)
// LAUNCH: look_up<<<1024, 256>>>(image, table: u8[256]=random, seen: u8[262144])
// LAUNCH: rotate<<<(16, 64), (32, 8)>>>(image, turned: u8[262144], 512)
// LAUNCH: scatter_words<<<256, 256>>>(words: u32[65536]=random, scattered: u32[65536], 65536)
// LAUNCH: scatter_bytes<<<1024, 256>>>(image, apart: u8[262144], 262144)
// LAUNCH: fill<<<65536, 256>>>(large: f32[16777216], 16777216, 1.0)

typedef unsigned char u8;

__global__ void histogram(const u8 *text, int n, unsigned *bins)
{
    __shared__ unsigned mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[text[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

// Counters of one byte: each is changed by a compare-and-swap of its word.
__global__ void char_histogram(const u8 *text, int n, unsigned *words)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int bin = text[i], shift = bin % 4 * 8;
        unsigned old = words[bin / 4], seen;
        do {
            seen = old;
            unsigned next = (seen & ~(255u << shift)) | (((seen >> shift) + 1 & 255u) << shift);
            old = atomicCAS(&words[bin / 4], seen, next);
        } while (old != seen);
    }
}

__global__ void blur(const u8 *image, u8 *blurred, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (x + dx >= 0 && x + dx < width && y + dy >= 0 && y + dy < height)
                sum += image[(y + dy) * width + x + dx];
    blurred[y * width + x] = sum / 9;
}

__global__ void grey(const u8 *rgb, u8 *single, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    single[i] = (rgb[3 * i] * 77 + rgb[3 * i + 1] * 150 + rgb[3 * i + 2] * 29) >> 8;
}

__global__ void search(const u8 *text, int n, const u8 *word, u8 *matches)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
    while (k < 4 && i + k < n && (text[i + k] & 1) == (word[k] & 1))
        k++;
    matches[i] = k == 4;
}

// Bytes up to an address that words may have, words, and the bytes that are left.
__global__ void copy_bytes(u8 *to, const u8 *from, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, head = 16 - 5;
    to += 5, from += 5;
    int n_words = (n - head - 5) / 16, tail = head + n_words * 16;
    if (t < head)
        to[t] = from[t];
    for (int i = t; i < n_words; i += gridDim.x * blockDim.x)
        ((uint4 *)(to + head))[i] = ((const uint4 *)(from + head))[i];
    if (tail + t < n - 5)
        to[tail + t] = from[tail + t];
}

__global__ void look_up(const u8 *image, const u8 *table, u8 *seen)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    seen[i] = table[image[i]];
}

__global__ void rotate(const u8 *image, u8 *turned, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    turned[x * n + n - 1 - y] = image[y * n + x];
}

__global__ void scatter_words(const unsigned *words, unsigned *scattered, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    scattered[i * 40503u % n] = words[i * 48271u % n];
}

__global__ void scatter_bytes(const u8 *image, u8 *apart, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    apart[i * 40503u % n] = image[i * 48271u % n];
}

__global__ void fill(float *large, int n, float value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    large[i] = value;
}
