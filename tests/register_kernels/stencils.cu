// Stencils and image filters: many addresses, many values that live long.
__global__ void blur5(const float *in, float *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2) return;
    float sum = 0;
#pragma unroll
    for (int dy = -2; dy <= 2; dy++)
#pragma unroll
        for (int dx = -2; dx <= 2; dx++) sum += in[(y + dy) * w + x + dx] * (1.0f / (1 + dx * dx + dy * dy));
    out[y * w + x] = sum;
}
__global__ void heat3d(const double *in, double *out, int nx, int ny, int nz, double c0, double c1)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    double below = in[y * nx + x], here = in[(ny + y) * nx + x];
    for (int z = 1; z < nz - 1; z++) {
        int at = (z * ny + y) * nx + x;
        double above = in[at + nx * ny];
        out[at] = c0 * here + c1 * (in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx] + below + above);
        below = here;
        here = above;
    }
}
__global__ void wave25(const float *p, const float *v, float *next, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 4, y = blockIdx.y * blockDim.y + threadIdx.y + 4;
    if (x >= nx - 4 || y >= ny - 4) return;
    const float c[5] = {-2.847f, 1.6f, -0.2f, 0.0254f, -0.00178f};
    for (int z = 4; z < nz - 4; z++) {
        int at = (z * ny + y) * nx + x;
        float lap = 3 * c[0] * p[at];
#pragma unroll
        for (int r = 1; r <= 4; r++)
            lap += c[r] * (p[at - r] + p[at + r] + p[at - r * nx] + p[at + r * nx] + p[at - r * nx * ny] + p[at + r * nx * ny]);
        next[at] = 2 * p[at] - next[at] + v[at] * lap;
    }
}
__global__ void sobel(const unsigned char *in, unsigned char *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    const unsigned char *p = in + y * w + x;
    int gx = p[1 - w] + 2 * p[1] + p[1 + w] - p[-1 - w] - 2 * p[-1] - p[-1 + w];
    int gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[-w + 1];
    out[y * w + x] = min(255, (int)sqrtf((float)(gx * gx + gy * gy)));
}
__global__ void bilateral(const float *in, float *out, int w, int h, float s, float r)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float centre = in[y * w + x], sum = 0, norm = 0;
    for (int dy = -3; dy <= 3; dy++)
        for (int dx = -3; dx <= 3; dx++) {
            int xx = min(max(x + dx, 0), w - 1), yy = min(max(y + dy, 0), h - 1);
            float v = in[yy * w + xx], d = v - centre;
            float weight = __expf(-(dx * dx + dy * dy) * s - d * d * r);
            sum += weight * v;
            norm += weight;
        }
    out[y * w + x] = sum / norm;
}
__global__ void lbm_d2q9(const float *f, float *g, int nx, int ny, float omega)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    const int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    const float weight[9] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
    float v[9], rho = 0, ux = 0, uy = 0;
#pragma unroll
    for (int i = 0; i < 9; i++) {
        int sx = (x - cx[i] + nx) % nx, sy = (y - cy[i] + ny) % ny;
        v[i] = f[(i * ny + sy) * nx + sx];
        rho += v[i];
        ux += cx[i] * v[i];
        uy += cy[i] * v[i];
    }
    ux /= rho;
    uy /= rho;
#pragma unroll
    for (int i = 0; i < 9; i++) {
        float cu = cx[i] * ux + cy[i] * uy;
        float eq = weight[i] * rho * (1 + 3 * cu + 4.5f * cu * cu - 1.5f * (ux * ux + uy * uy));
        g[(i * ny + y) * nx + x] = v[i] + omega * (eq - v[i]);
    }
}
