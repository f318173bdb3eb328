// form own_warp_size -> 0 1
constexpr int warpSize = 32;
__global__ void k(int *o) { o[0] = 31 / warpSize; o[1] = 32 / warpSize; }
RUN { k<<<1, 2 * warpSize>>>(out); cudaDeviceSynchronize(); printf("%d %d\n", out[0], out[1]); }

// form warp_size_as_local_and_parameter -> 66
__device__ int f(int warpSize) { return warpSize; }
struct S { int warpSize; };
__global__ void k(int *o) { const int warpSize = 16; S s = {18}; *o = warpSize + f(32) + s.warpSize; }
RUN { k<<<1, 1>>>(out); show(); }

// form warp_size_as_template_parameter -> 64
template <int warpSize> __global__ void k(int *o) { *o = warpSize; }
RUN { k<64><<<1, 1>>>(out); show(); }

// form warp_size_builtin -> 32
__global__ void k(int *o) { *o = ::warpSize; }
RUN { k<<<1, 1>>>(out); show(); }

// form own_uint_and_ushort -> 5
typedef unsigned int uint;
typedef unsigned short ushort;
__global__ void k(int *o) { uint a = 2; ushort b = 3; *o = a + b; }
RUN { k<<<1, 1>>>(out); show(); }

// form own_min_max_macros -> 7
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
__global__ void k(int *o) { *o = MIN(7, 9) + MAX(0, -1); }
RUN { k<<<1, 1>>>(out); show(); }
#undef MIN
#undef MAX

// form own_rdtsc -> 1
static inline unsigned long long __rdtsc_like() { return 1; }
static inline unsigned long long rdtsc() { return __rdtsc_like(); }
RUN { *out = rdtsc(); show(); }

// form own_clamp_and_lerp -> 3
template <typename T> __host__ __device__ T clamp(T v, T low, T high) { return v < low ? low : v > high ? high : v; }
inline __host__ __device__ float lerp(float a, float b, float t) { return a + t * (b - a); }
__global__ void k(int *o) { *o = clamp(9, 1, 2) + (int)lerp(0.0f, 2.0f, 0.5f); }
RUN { k<<<1, 1>>>(out); show(); }

// form own_vector_operators -> 6
inline __host__ __device__ float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
inline __host__ __device__ void operator+=(int2 &a, int2 b) { a.x += b.x; a.y += b.y; }
__global__ void k(int *o) { float3 s = make_float3(1, 1, 1) + make_float3(0, 0, 1); int2 t = {1, 1}; t += make_int2(1, 0); *o = s.x + s.y + s.z + t.x; }
RUN { k<<<1, 1>>>(out); show(); }

// form own_lane_id_and_laneid -> 4
#define LANE threadIdx.x
__device__ int lane_id() { return LANE; }
__device__ int laneid = 4, lanemask, half_size, size, stack, child, up;
__global__ void k(int *o) { *o = laneid + lane_id(); }
RUN { k<<<1, 1>>>(out); show(); }
#undef LANE

// form names_of_members_as_macros -> 5
struct P { int x, y, z, w, warp, lane, get_x, value; };
__global__ void k(int *o) { P p = {}; p.value = 5; *o = p.value; }
RUN { k<<<1, 1>>>(out); show(); }

// form own_atomic_add_of_double -> 2
__device__ double atomicAddDouble(double *p, double v) { return *p += v; }
__device__ float atomicMax(float *p, float v) { float was = *p; *p = was > v ? was : v; return was; }
__global__ void k(int *o) { float m = 1; atomicMax(&m, 2.0f); *o = m; }
RUN { k<<<1, 1>>>(out); show(); }

// form qualifiers_of_host_defines -> 8
struct __device_builtin__ pair2 { int x, y; };
__device_builtin__ int global_number;
static __forceinline__ __device__ int f(int v) { return v; }
static __noinline__ __device__ int g(int v) { return v; }
static __inline__ __host__ __device__ int h(int v) { return v; }
__device__ __nv_pure__ int p(int v) { return v; }
__host__ __device__ __cudart_builtin__ int q(int v) { return v; }
__global__ void k(int *o) { pair2 p2 = {1, 2}; *o = f(p2.x) + g(p2.y) + h(1) + p(2) + q(2); }
RUN { k<<<1, 1>>>(out); show(); }

// form surface_and_texture_types -> 1
struct __device_builtin_texture_type__ mine { int n; };
struct __device_builtin_surface_type__ other { int n; };
RUN { mine m = {1}; other n = {0}; *out = m.n + n.n; show(); }

// form cuda_arch_lists -> 1
#if !defined(__CUDACC__) || !defined(__NVCC__) || __CUDACC_VER_MAJOR__ < 12
#error
#endif
RUN { *out = 1; show(); }

// form restrict_spellings -> 6
__global__ void k(int *__restrict__ o, const int *__restrict a) { *o = a[0] + 1; }
RUN { out[1] = 5; k<<<1, 1>>>(out, out + 1); show(); }

// form align_before_and_after -> 48
struct __align__(16) A { int x; };
struct B { int x; } __align__(16);
typedef struct __align__(16) { int x; } C;
__global__ void k(int *o) { *o = sizeof(A) + sizeof(B) + sizeof(C); }
RUN { k<<<1, 1>>>(out); show(); }

// form using_std_names -> 6
using namespace std;
__global__ void k(int *o) { *o = max(2, 5) + min(1.0, 3.0) + abs(-0.0f); }
RUN { k<<<1, 1>>>(out); show(); }

// form extended_math_names -> 9
__global__ void k(int *o) { float s, c; sincosf(0.0f, &s, &c); *o = (int)(c + s) + (int)__fsqrt_rn(64.0f) + __float2int_rn(__expf(-100.0f)); }
RUN { k<<<1, 1>>>(out); show(); }
