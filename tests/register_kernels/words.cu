// Integers: hashes, graphs, strings, packing; and values that are many on purpose.
__device__ unsigned rotate(unsigned x, int n) { return __funnelshift_r(x, x, n); }
__global__ void sha256(const unsigned *words, unsigned *digest, int n)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n) return;
    unsigned w[16], a = 0x6a09e667, b = 0xbb67ae85, c = 0x3c6ef372, d = 0xa54ff53a, e = 0x510e527f, f = 0x9b05688c, g = 0x1f83d9ab, h = 0x5be0cd19;
#pragma unroll
    for (int i = 0; i < 16; i++) w[i] = words[i * n + id];
#pragma unroll
    for (int i = 0; i < 64; i++) {
        if (i >= 16) {
            unsigned p = w[(i + 1) & 15], q = w[(i + 14) & 15];
            w[i & 15] += w[(i + 9) & 15] + (rotate(p, 7) ^ rotate(p, 18) ^ p >> 3) + (rotate(q, 17) ^ rotate(q, 19) ^ q >> 10);
        }
        unsigned t1 = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + w[i & 15] + 0x428a2f98u * (i + 1);
        unsigned t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g; g = f; f = e; e = d + t1; d = c; c = b; b = a; a = t1 + t2;
    }
    unsigned all[8] = {a, b, c, d, e, f, g, h};
#pragma unroll
    for (int i = 0; i < 8; i++) digest[i * n + id] = all[i];
}
__global__ void bfs(const int *first, const int *edge, int *level, int *changed, int depth, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || level[v] != depth) return;
    for (int k = first[v]; k < first[v + 1]; k++) {
        int to = edge[k];
        if (level[to] < 0) { level[to] = depth + 1; *changed = 1; }
    }
}
__global__ void hash_insert(unsigned long long *table, const unsigned *keys, const unsigned *values, unsigned mask, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned key = keys[i], slot = key * 2654435761u & mask;
    unsigned long long entry = (unsigned long long)key << 32 | values[i];
    while (true) {
        unsigned long long old = atomicCAS(&table[slot], ~0ull, entry);
        if (old == ~0ull || old >> 32 == key) break;
        slot = slot + 1 & mask;
    }
}
__global__ void edit_distance(const char *a, const char *b, int *out, int length, int n)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n) return;
    int row[17];
#pragma unroll
    for (int j = 0; j <= 16; j++) row[j] = j;
    for (int i = 0; i < length; i++) {
        char c = a[i * n + id];
        int diagonal = row[0];
        row[0] = i + 1;
#pragma unroll
        for (int j = 1; j <= 16; j++) {
            int up = row[j];
            row[j] = min(min(up, row[j - 1]) + 1, diagonal + (c != b[(j - 1) * n + id]));
            diagonal = up;
        }
    }
    out[id] = row[16];
}
__global__ void unpack_base64(const unsigned *in, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = in[i], result = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        unsigned c = v >> 8 * k & 255, d;
        if (c >= 'a') d = c - 71;
        else if (c >= 'A') d = c - 65;
        else if (c >= '0') d = c + 4;
        else d = c == '+' ? 62 : 63;
        result |= d << (18 - 6 * k);
    }
    out[i] = result;
}
__global__ void mod_power(const unsigned long long *base, const unsigned *power, unsigned long long *out, unsigned modulus, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long b = base[i] % modulus, r = 1;
    for (unsigned e = power[i]; e; e >>= 1) {
        if (e & 1) r = r * b % modulus;
        b = b * b % modulus;
    }
    out[i] = r;
}
__global__ void many_values(const float *in, float *out, int n, int rounds)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    float v[48];
#pragma unroll
    for (int i = 0; i < 48; i++) v[i] = in[i * n + id];
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int i = 0; i < 48; i++) v[i] = v[i] * v[(i + 7) % 48] + v[(i + 23) % 48];
#pragma unroll
    for (int i = 0; i < 48; i++) out[i * n + id] = v[i];
}
__global__ void many_doubles(const double *in, double *out, int n, int rounds)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    double v[24];
#pragma unroll
    for (int i = 0; i < 24; i++) v[i] = in[i * n + id];
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int i = 0; i < 24; i++) v[i] = v[i] * v[(i + 7) % 24] + v[(i + 11) % 24];
#pragma unroll
    for (int i = 0; i < 24; i++) out[i * n + id] = v[i];
}
