// form pragma_unroll_forms -> 60
template <int N> __global__ void k(int *o)
{
    int sum = 0;
    constexpr int two = 2;
#pragma unroll
    for (int i = 0; i < N; i++) sum += i;
#pragma unroll 4
    for (int i = 0; i < N; i++) sum += i;
#pragma unroll (N / 2)
    for (int i = 0; i < N; i++) sum += i;
#pragma unroll N
    for (int i = 0; i < N; i++) sum += i;
#pragma unroll two * 2
    for (int i = 0; i < N; i++) sum += i;
#pragma unroll(1)
    for (int i = 0; i < N; i++) sum += i;
    *o = sum;
}
RUN { k<5><<<1, 1>>>(out); show(); }

// form pragma_nounroll_and_others -> 10
#pragma nv_diag_suppress 177
#pragma nv_diag_suppress static_var_with_dynamic_init
#pragma nv_diag_default 177
#pragma nv_diagnostic push
#pragma nv_diagnostic pop
#pragma hd_warning_disable
#pragma nv_exec_check_disable
#pragma diag_suppress 20012
#pragma push
#pragma pop
__global__ void k(int *o)
{
    int sum = 0;
#pragma nounroll
    for (int i = 0; i < 5; i++) sum += i;
    *o = sum;
}
RUN { k<<<1, 1>>>(out); show(); }

// form exec_check_disable_on_templates -> 3
#pragma nv_exec_check_disable
template <typename T> __host__ __device__ int call(T f) { return f(); }
struct F { int operator()() const { return 3; } };
RUN { *out = call(F()); show(); }

// form goto_and_labels -> 5
__global__ void k(int *o) { int n = 0; again: n++; if (n < 5) goto again; *o = n; }
RUN { k<<<1, 1>>>(out); show(); }

// form alloca_in_device_code -> 7
__global__ void k(int *o, int n) { int *p = (int *)alloca(n * sizeof(int)); p[n - 1] = 7; *o = p[n - 1]; }
RUN { k<<<1, 1>>>(out, 4); show(); }

// form printf_of_every_type -> 1 -2 3 4 5 0.5 1e+10 x yes 0xff
__global__ void k() { printf("%d %lld %lu %zu %hhu %.1f %g %c %s %#x\n", 1, -2LL, 3UL, sizeof(int), (unsigned char)5, 0.5f, 1e10, 'x', "yes", 255); }
RUN { k<<<1, 1>>>(); cudaDeviceSynchronize(); }

// form printf_result -> 1
__global__ void k(int *o) { *o = printf("%s", ""); }
RUN { k<<<1, 1>>>(out); show(); }

// form std_printf_in_device_code -> 4
__global__ void k() { std::printf("%d\n", 4); }
RUN { k<<<1, 1>>>(); cudaDeviceSynchronize(); }

// form assert_in_device_code -> 6
#include <cassert>
__global__ void k(int *o) { assert(o != nullptr && "there"); *o = 6; }
RUN { k<<<1, 1>>>(out); show(); }

// form device_lambda -> 8
__global__ void k(int *o) { auto f = [] __device__ (int v) { return v * 2; }; *o = f(4); }
RUN { k<<<1, 1>>>(out); show(); }

// form generic_lambda_in_kernel -> 9
__global__ void k(int *o) { auto f = [&](auto v) { return v + *o; }; *o = f(4); }
RUN { *out = 5; k<<<1, 1>>>(out); show(); }

// form recursion_in_device_code -> 120
__device__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
__global__ void k(int *o) { *o = factorial(5); }
RUN { k<<<1, 1>>>(out); show(); }

// form virtual_functions_on_the_device -> 12
struct B { __device__ virtual int f() { return 1; } };
struct D : B { __device__ int f() override { return 12; } };
__device__ int call(B *b) { return b->f(); }
__global__ void k(int *o) { D d; *o = call(&d); }
RUN { k<<<1, 1>>>(out); show(); }

// form function_pointers_on_the_device -> 13
typedef int (*F)(int);
__device__ int f(int v) { return v + 1; }
__device__ F table[] = {f, f};
__global__ void k(int *o) { *o = table[*o & 1](12); }
RUN { k<<<1, 1>>>(out); show(); }

// form constant_initialized_by_constexpr -> 14
struct P { int a, b; constexpr P(int n) : a(n), b(2 * n) {} };
constexpr int twice(int n) { return 2 * n; }
__constant__ P p(4);
__constant__ int table[3] = {1, twice(3), 3};
__global__ void k(int *o) { *o = p.b + table[1]; }
RUN { k<<<1, 1>>>(out); show(); }

// form constexpr_constant_variable -> 15
__constant__ constexpr int fifteen = 15;
__device__ constexpr float half_of[2] = {0.5f, 1.5f};
__global__ void k(int *o) { *o = fifteen + (int)half_of[0]; }
RUN { k<<<1, 1>>>(out); show(); }

// form device_variable_of_class_type -> 16
struct S { int v; __host__ __device__ constexpr S(int n) : v(n) {} };
__device__ S s(16);
__global__ void k(int *o) { *o = s.v; }
RUN { k<<<1, 1>>>(out); show(); }

// form static_device_members -> 17
struct S { static __device__ int f() { return 9; } static constexpr int n = 8; };
__global__ void k(int *o) { *o = S::f() + S::n; }
RUN { k<<<1, 1>>>(out); show(); }

// form static_local_in_device_code -> 18
__device__ int f() { static int calls = 16; return ++calls; }
__global__ void k(int *o) { f(); *o = f(); }
RUN { k<<<1, 1>>>(out); show(); }

// form managed_variable -> 19
__managed__ int m = 10;
__device__ __managed__ int n;
__global__ void k() { m += n; }
RUN { n = 9; k<<<1, 1>>>(); cudaDeviceSynchronize(); *out = m; show(); }

// form anonymous_union_in_a_parameter -> 20
struct P { union { int i; float f; }; struct { int a, b; }; };
__global__ void k(int *o, P p) { *o = p.i + p.a + p.b; }
RUN { P p; p.i = 5; p.a = 7; p.b = 8; k<<<1, 1>>>(out, p); show(); }

// form grid_constant_parameter -> 21
struct Big { int v[64]; };
__global__ void k(int *o, const __grid_constant__ Big b) { const int *p = &b.v[3]; *o = *p; }
RUN { Big b; b.v[3] = 21; k<<<1, 1>>>(out, b); show(); }

// form long_double_in_device_code -> 22
__global__ void k(int *o) { long double x = 22.0L; *o = (int)x; }
RUN { k<<<1, 1>>>(out); show(); }

// form bit_fields_and_enums -> 23
enum class E : unsigned char { a = 3, b = 20 };
struct F { unsigned a : 5, b : 27; };
__global__ void k(int *o) { F f = {(unsigned)E::a, (unsigned)E::b}; *o = f.a + f.b; }
RUN { k<<<1, 1>>>(out); show(); }

// form vector_types_as_arrays -> 24
__global__ void k(int *o) { int4 v = make_int4(1, 2, 24, 4); *o = reinterpret_cast<const int *>(&v)[2]; }
RUN { k<<<1, 1>>>(out); show(); }

// form inline_ptx_constraints -> 64
__global__ void k(int *o)
{
    int a; long long b; float c; double d; unsigned short h; unsigned x = 3, y;
    asm("mov.b32 %0, %1;" : "=r"(a) : "r"(1));
    asm("mov.b64 %0, %1;" : "=l"(b) : "l"(2LL));
    asm("mov.f32 %0, %1;" : "=f"(c) : "f"(3.0f));
    asm("mov.f64 %0, %1;" : "=d"(d) : "d"(4.0));
    asm("mov.b16 %0, %1;" : "=h"(h) : "h"((unsigned short)5));
    asm volatile("add.u32 %0, %0, %1;" : "+r"(x) : "n"(4 * 10));
    asm("{.reg .u32 t; mov.u32 t, %1; add.u32 %0, t, 3;}" : "=r"(y) : "r"(x));
    asm volatile("" ::: "memory");
    *o = a + (int)b + (int)c + (int)d + h + (y - 3) + 6;
}
RUN { k<<<1, 1>>>(out); show(); }

// form inline_ptx_string_constraint -> 5
template <typename T> struct name;
template <> struct name<int> { static constexpr char text[] = "add.s32"; };
template <typename T> __global__ void k(T *o) { T v = 2; asm("%1 %0, %2, 3;" : "=r"(v) : "C"(name<T>::text), "r"(v)); *o = v; }
RUN { k<<<1, 1>>>(out); show(); }

// form inline_ptx_spellings -> 9
__global__ void k(int *o) { int v; __asm__ __volatile__("mov.u32 %0, 4;" : "=r"(v)); asm volatile ("add.s32 %0, %0, 5;\n\t" : "+r"(v) : : "memory"); *o = v; }
RUN { k<<<1, 1>>>(out); show(); }

// form inline_ptx_labels -> 2080
static __device__ int loop(int n)
{
    int r;
    asm volatile("{\n .reg .pred p;\n .reg .u32 i;\n mov.u32 i, %1;\n mov.u32 %0, 0;\nL_%=:\n add.u32 %0, %0, i;\n sub.u32 i, i, 1;\n setp.ne.u32 p, i, 0;\n @p bra L_%=;\n}" : "=&r"(r) : "r"(n));
    return r;
}
__global__ void k(int *o) { *o = loop(64); }
RUN { k<<<1, 1>>>(out); show(); }

// form int128 -> 27
__global__ void k(int *o) { unsigned __int128 x = (unsigned __int128)1 << 100; *o = (int)(x >> 98) + 23; }
RUN { k<<<1, 1>>>(out); show(); }

// form device_new_and_delete -> 28
struct S { int v; __device__ S(int n) : v(n) {} __device__ ~S() {} };
__global__ void k(int *o) { S *s = new S(28); int *a = new int[4]; a[3] = s->v; *o = a[3]; delete s; delete[] a; }
RUN { k<<<1, 1>>>(out); show(); }

// form std_header_functions -> 29
#include <algorithm>
#include <cmath>
#include <utility>
__global__ void k(int *o) { *o = (int)std::sqrt(784.0f) + (int)std::abs(-1.0) + (int)std::floor(0.5); }
RUN { k<<<1, 1>>>(out); show(); }

// form std_move_and_forward -> 30
#include <utility>
template <typename T> __device__ int take(T &&v) { return std::forward<T>(v); }
__global__ void k(int *o) { int n = 30; *o = take(std::move(n)); }
RUN { k<<<1, 1>>>(out); show(); }

// form std_array_and_limits -> 31
#include <limits>
#include <type_traits>
__global__ void k(int *o) { static_assert(std::is_same<int, int>::value, ""); *o = std::numeric_limits<int>::max() == 2147483647 ? 31 : 0; }
RUN { k<<<1, 1>>>(out); show(); }

// form structured_binding_and_if_constexpr -> 32
struct P { int a, b; };
template <bool B> __device__ int f() { if constexpr (B) return 30; else return "no"; }
__global__ void k(int *o) { auto [a, b] = P{1, 1}; *o = a + b + f<true>(); }
RUN { k<<<1, 1>>>(out); show(); }

// form complex_switch_with_fallthrough -> 33
__global__ void k(int *o) { switch (*o) { case 1: *o = 11; [[fallthrough]]; case 2: *o += 22; break; default: *o = 0; } }
RUN { *out = 1; k<<<1, 1>>>(out); show(); }

// form char8_and_string_literals -> 104
__device__ const char *text = "hi";
__constant__ char more[] = "there";
__global__ void k(int *o) { *o = text[0] + (more[5] == 0 ? 0 : 1); }
RUN { k<<<1, 1>>>(out); show(); }

// form half_operators -> 7
#include <cuda_fp16.h>
__global__ void k(int *o) { __half a = 3.0f, b = __float2half(4.0f); half2 c = __halves2half2(a, b); c = c + c; c *= c; *o = (int)__half2float(a + b) + (c.x > a ? 0 : 1) ; }
RUN { k<<<1, 1>>>(out); show(); }

// form noinline_and_forceinline_members -> 35
struct S { __forceinline__ __device__ int a() { return 5; } __device__ __noinline__ int b() { return 30; } };
__global__ void k(int *o) { S s; *o = s.a() + s.b(); }
RUN { k<<<1, 1>>>(out); show(); }

// form unsigned_narrowing_in_braces -> 36
__global__ void k(int *o) { int a[2] = {(int)threadIdx.x, 36}; uint3 u = {threadIdx.x, threadIdx.y, 0}; dim3 d = blockDim; *o = a[1] + u.x + d.y - 1; }
RUN { k<<<1, 1>>>(out); show(); }

// form narrowing_of_indices_in_braces -> 37
__global__ void k(int *o) { int2 p{threadIdx.x + 30, threadIdx.y + 7}; *o = p.x + p.y; }
RUN { k<<<1, 1>>>(out); show(); }

// form variable_sized_by_constexpr -> 38
__device__ constexpr int size() { return 4; }
__global__ void k(int *o) { int a[size()] = {}; a[size() - 1] = 38; *o = a[3]; }
RUN { k<<<1, 1>>>(out); show(); }

// form reinterpreted_bits -> 1065353216
__global__ void k(int *o) { float f = 1.0f; *o = *(int *)&f; }
RUN { k<<<1, 1>>>(out); show(); }

// form address_of_device_variable -> 40
__device__ int v = 40;
__device__ int *p = &v;
__global__ void k(int *o) { *o = *p; }
RUN { k<<<1, 1>>>(out); show(); }

// form volatile_shared_and_casts -> 41
__global__ void k(int *o) { volatile __shared__ int s[32]; s[threadIdx.x] = 41; volatile int *p = s; *o = p[threadIdx.x]; }
RUN { k<<<1, 1>>>(out); show(); }

// form initializer_list_of_builtin -> 42
__global__ void k(int *o) { int sum = 0; for (int v : {20, 22}) sum += v; *o = sum; }
RUN { k<<<1, 1>>>(out); show(); }

// form noreturn_and_trap -> 43
__device__ [[noreturn]] void stop() { __trap(); while (true) ; }
__global__ void k(int *o) { if (*o == 77) stop(); *o = 43; }
RUN { *out = 0; k<<<1, 1>>>(out); show(); }

// form assume_and_expect -> 44
__global__ void k(int *o) { __builtin_assume(*o >= 0); if (__builtin_expect(*o == 0, 1)) *o = 44; if (*o == 9) __builtin_unreachable(); int *p = (int *)__builtin_assume_aligned(o, 4); *p += 0; }
RUN { *out = 0; k<<<1, 1>>>(out); show(); }

// form throw_in_host_only_branch -> 45
#include <stdexcept>
template <typename T> __host__ __device__ int check(T v)
{
#ifndef __CUDA_ARCH__
    if (v < 0) throw std::runtime_error("negative");
#endif
    return v;
}
__global__ void k(int *o) { *o = check(45); }
RUN { k<<<1, 1>>>(out); show(); }

// form host_exceptions -> 46
#include <stdexcept>
RUN { try { throw std::runtime_error("no"); } catch (const std::exception &) { *out = 46; } show(); }

// form attributes_of_cpp -> 47
[[maybe_unused]] __device__ static int unused() { return 1; }
[[nodiscard]] __device__ int f() { return 47; }
__global__ void k([[maybe_unused]] int *p, int *o) { *o = f(); }
RUN { k<<<1, 1>>>(out, out); show(); }

// form kernel_over_both_overloads_of_abs -> 48
__global__ void k(int *o) { *o = abs(-40) + (int)fabs(-4.0f) + (int)fabsf(-3.0f) + (int)labs(-1L); }
RUN { k<<<1, 1>>>(out); show(); }

// form ternary_of_mixed_types -> 49
__global__ void k(int *o) { float f = *o ? 1 : 0.5; size_t n = min(49u, 100u); *o = n + (int)(f * 0); }
RUN { k<<<1, 1>>>(out); show(); }

// form clock_and_nanosleep -> 50
__global__ void k(int *o) { long long t = clock64(); clock_t u = clock(); __nanosleep(20); *o = clock64() >= t && clock() >= u ? 50 : 0; }
RUN { k<<<1, 1>>>(out); show(); }

// form designated_initializers -> 51
struct P { int a, b; };
__global__ void k(int *o) { P p = {.a = 50, .b = 1}; *o = p.a + p.b; }
RUN { k<<<1, 1>>>(out); show(); }

// form variable_length_array_on_the_host -> 52
RUN { int n = *out = 3; int a[n]; a[2] = 52; *out = a[2]; show(); }

// form compound_literal -> 53
__global__ void k(int *o, int2 v) { *o = v.x + v.y; }
RUN { k<<<1, 1>>>(out, (int2){50, 3}); show(); }

// form typeof_and_statement_expression -> 54
__global__ void k(int *o) { __typeof__(*o) v = ({ int t = 53; t + 1; }); *o = v; }
RUN { k<<<1, 1>>>(out); show(); }

// form class_scope_kernel_of_template_static -> 55
template <typename T> struct Runner { static void run(T *o); };
template <typename T> __global__ void k(T *o) { *o = 55; }
template <typename T> void Runner<T>::run(T *o) { k<T> << <1, 1>> >(o); }
RUN { Runner<int>::run(out); show(); }

// form const_cast_of_string -> 56
RUN { char *text = "literal"; *out = text[0] == 'l' ? 56 : 0; show(); }

// form sign_comparison_and_unused -> 57
__global__ void k(int *o, int n) { int unused; if (threadIdx.x < n) *o = 57; }
RUN { k<<<1, 1>>>(out, 1); show(); }
