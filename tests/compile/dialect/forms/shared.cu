// form shared_constructor -> 64
struct Counter { int n; __device__ Counter() { n = 0; } };
__global__ void k(int *o) { __shared__ Counter c; if (threadIdx.x == 0) c.n = 0; __syncthreads(); atomicAdd(&c.n, 1); __syncthreads(); o[0] = c.n; }
RUN { k<<<1, 64>>>(out); show(); }

// form shared_destructor -> 5
struct Guard { int n; __device__ Guard() : n(1) {} __device__ ~Guard() { n = 0; } };
__global__ void k(int *o) { __shared__ Guard g; g.n = 5; o[0] = g.n; }
RUN { k<<<1, 1>>>(out); show(); }

// form shared_member_initializer -> 6
struct Counter { int n = 7; };
__global__ void k(int *o) { __shared__ Counter c; c.n = 6; o[0] = c.n; }
RUN { k<<<1, 1>>>(out); show(); }

// form shared_array_of_constructed -> 12
struct Counter { int n; __device__ Counter() { n = 0; } };
__global__ void k(int *o) { __shared__ Counter c[4], d; for (auto &each : c) each.n = 3; d.n = 0; for (auto &each : c) d.n += each.n; o[0] = d.n; }
RUN { k<<<1, 1>>>(out); show(); }

// form shared_of_template_type -> 8
template <typename T> struct Cell { T v; __device__ Cell() : v(1) {} };
template <typename T, int N> __global__ void k(T *o) { __shared__ Cell<T> c[N]; c[N - 1].v = 2 * N; o[0] = c[N - 1].v; }
RUN { k<int, 4><<<1, 1>>>(out); show(); }

// form shared_static -> 9
struct Counter { int n; __device__ Counter() { n = 0; } };
__global__ void k(int *o) { static __shared__ Counter c; c.n = 9; o[0] = c.n; }
RUN { k<<<1, 1>>>(out); show(); }

// form shared_in_a_lambda -> 10
struct Counter { int n; __device__ Counter() { n = 0; } };
__global__ void k(int *o) { __shared__ Counter c; auto f = [&] { c.n = 10; }; f(); o[0] = c.n; }
RUN { k<<<1, 1>>>(out); show(); }

// form shared_named_without_capture -> 11
struct Counter { int n; __device__ Counter() { n = 0; } };
__global__ void k(int *o) { __shared__ Counter c; auto f = [] __device__ { c.n = 11; }; f(); o[0] = c.n; }
RUN { k<<<1, 1>>>(out); show(); }

// form shared_copied_by_no_lambda -> 12
struct Counter { int n; __device__ Counter() { n = 0; } Counter(const Counter &) = delete; };
__global__ void k(int *o) { __shared__ Counter c; auto f = [=] { c.n = 12; }; f(); o[0] = c.n; }
RUN { k<<<1, 1>>>(out); show(); }

// form shared_decltype -> 13
struct Counter { typedef int value; int n; __device__ Counter() { n = 0; } };
__global__ void k(int *o) { __shared__ Counter c; decltype(c)::value v = 13; c.n = v; o[0] = c.n; }
RUN { k<<<1, 1>>>(out); show(); }

// form shared_aligned -> 0
struct Counter { int n; __device__ Counter() { n = 0; } };
__global__ void k(int *o) { __shared__ int first; __shared__ alignas(128) Counter c; first = 3; c.n = 1; o[0] = (int)((size_t)&c % 128) + first - 3; }
RUN { k<<<1, 1>>>(out); show(); }

// form shared_in_a_device_function -> 15
struct Counter { int n; __device__ Counter() { n = 0; } };
__device__ int f(int v) { __shared__ Counter c; c.n = v; return c.n; }
__global__ void k(int *o) { o[0] = f(7) + f(8); }
RUN { k<<<1, 1>>>(out); show(); }

// form shared_at_namespace_scope -> 16
__shared__ int total;
__global__ void k(int *o) { total = 16; o[0] = total; }
RUN { k<<<1, 1>>>(out); show(); }

// form shared_constructed_at_namespace_scope -> 17
struct Counter { int n; __device__ Counter() { n = 0; } };
__shared__ Counter c;
__global__ void k(int *o) { c.n = 17; o[0] = c.n; }
RUN { k<<<1, 1>>>(out); show(); }

// form shared_initialized -> 18
__global__ void k(int *o) { __shared__ int c = 18; o[0] = c; }
RUN { k<<<1, 1>>>(out); show(); }

// form shared_constructed_with_arguments -> 19
struct Counter { int n; __device__ Counter(int v) { n = v; } };
__global__ void k(int *o) { __shared__ Counter c(3); c.n = 19; o[0] = c.n; }
RUN { k<<<1, 1>>>(out); show(); }

// form shared_with_empty_braces -> 20
struct Counter { int n; __device__ Counter() { n = 0; } };
__global__ void k(int *o) { __shared__ Counter c{}; c.n = 20; o[0] = c.n; }
RUN { k<<<1, 1>>>(out); show(); }

// form dynamic_shared_of_two_types -> 21
__global__ void k(int *o) { extern __shared__ int s[]; s[0] = 21; o[0] = s[0]; }
__global__ void l(int *o) { extern __shared__ double t[]; t[0] = 0.5; o[0] += (int)t[0]; }
RUN { k<<<1, 1, 64>>>(out); l<<<1, 1, 64>>>(out); show(); }

// form dynamic_shared_in_a_template_by_one_name -> 22
template <typename T> __global__ void k(int *o) { extern __shared__ T shared_by_name_22[]; shared_by_name_22[0] = 22; o[0] = shared_by_name_22[0]; }
RUN { k<int><<<1, 1, 64>>>(out); show(); }

// form dynamic_shared_of_a_template_with_two_types -> 22
template <typename T> __global__ void k(int *o) { extern __shared__ T shared_by_name_2222[]; shared_by_name_2222[0] = 22; o[0] = shared_by_name_2222[0]; }
RUN { k<int><<<1, 1, 64>>>(out); k<float><<<1, 1, 64>>>(out); show(); }

// form dynamic_shared_aligned -> 23
__global__ void k(int *o) { extern __shared__ __align__(16) unsigned char room[]; int *s = reinterpret_cast<int *>(room); s[1] = 23; o[0] = s[1]; }
RUN { k<<<1, 1, 64>>>(out); show(); }

// form dynamic_shared_at_namespace_scope -> 24
extern __shared__ float4 vectors_24[];
__global__ void k(int *o) { vectors_24[1].y = 24; o[0] = vectors_24[1].y; }
RUN { k<<<1, 1, 64>>>(out); show(); }

// form shared_union -> 25
union either { int i; float f; };
__global__ void k(int *o) { __shared__ either e[2]; e[1].i = 25; o[0] = e[1].i; }
RUN { k<<<1, 1>>>(out); show(); }

// form shared_vector_member_of_template -> 26
template <int N> __global__ void k(int *o) { __shared__ float4 tile[N][N + 1]; tile[0][N].w = 26; o[0] = tile[0][N].w; }
RUN { k<3><<<1, 1>>>(out); show(); }

// form shared_structure_with_barrier_like_member -> 27
struct Barrier { unsigned long long state; __device__ Barrier() : state(0) {} Barrier(const Barrier &) = delete; __device__ ~Barrier() { state = 1; } };
struct Stages { Barrier full[2], empty[2]; int n; };
__global__ void k(int *o) { __shared__ Stages s; s.full[1].state = 27; s.n = s.full[1].state; o[0] = s.n; }
RUN { k<<<1, 1>>>(out); show(); }

// form shared_constructed_in_a_macro -> 28
#define SHARED(type, name) __shared__ type name
struct Counter { int n; __device__ Counter() { n = 0; } };
__global__ void k(int *o) { SHARED(Counter, c); c.n = 28; o[0] = c.n; }
RUN { k<<<1, 1>>>(out); show(); }
#undef SHARED

// form shared_constructed_type_first -> 29
struct Counter { int n; __device__ Counter() { n = 0; } };
__global__ void k(int *o) { Counter __shared__ c; c.n = 29; o[0] = c.n; }
RUN { k<<<1, 1>>>(out); show(); }
