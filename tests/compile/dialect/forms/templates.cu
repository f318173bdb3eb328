// form static_assert_of_the_host_side -> 3
template <typename T> __device__ T absolute(T x)
{
#if __CUDA_ARCH__ >= 530
    return x < 0 ? -x : x;
#else
    static_assert(sizeof(T) != sizeof(T), "only on newer cards");
    return T{};
#endif
}
struct op { template <typename T> __host__ __device__ T operator()(T x) const { return absolute(x); } };
__global__ void k(int *o) { *o = op{}(-3); }
RUN { k<<<1, 1>>>(out); show(); }

// form static_assert_of_the_host_side_from_a_kernel -> 3
template <typename T> __device__ T absolute(T x)
{
#ifdef __CUDA_ARCH__
    return x < 0 ? -x : x;
#else
    static_assert(sizeof(T) == 0, "device only");
#endif
}
template <typename T> __global__ void k(T *o) { *o = absolute(T(-3)); }
RUN { k<<<1, 1>>>(out); show(); }

// form static_assert_of_the_device_side -> 4
template <typename T> __host__ int host_only(T v)
{
#ifdef __CUDA_ARCH__
    static_assert(sizeof(T) == 0, "host only");
#endif
    return v;
}
RUN { *out = host_only(4); show(); }

// form incomplete_type_in_an_unused_template -> 5
union Later;
template <int level> __device__ void never(Later *p) { auto *x = &p->m; (void)x; }
union Later { int m; };
__global__ void k(int *o) { *o = 5; }
RUN { k<<<1, 1>>>(out); show(); }

// form default_argument_of_its_own_name -> 6
#if defined(__CUDA_ARCH__)
template <int N> struct T { static const int n = (N + 31) / 32; static __device__ void f(int n = n) { (void)n; } };
#endif
__global__ void k(int *o) { *o = 6; }
RUN { k<<<1, 1>>>(out); show(); }

// form unknown_name_in_an_unused_template -> 7
template <typename T> __device__ int never(T) { return undeclared_name; }
__global__ void k(int *o) { *o = 7; }
RUN { k<<<1, 1>>>(out); show(); }

// form undeclared_function_in_an_unused_template -> 7
template <typename T> __device__ int never(T) { return undeclared_function(3); }
__global__ void k(int *o) { *o = 7; }
RUN { k<<<1, 1>>>(out); show(); }

// form wrong_argument_in_an_unused_template -> 8
struct S { int a; };
__device__ int takes(S *) { return 1; }
template <typename T> __device__ int never(T) { int n; return takes(&n); }
__global__ void k(int *o) { *o = 8; }
RUN { k<<<1, 1>>>(out); show(); }

// form missing_member_in_an_unused_template -> 9
struct S { int a; };
template <typename T> __device__ int never(S s) { return s.b; }
__global__ void k(int *o) { *o = 9; }
RUN { k<<<1, 1>>>(out); show(); }

// form missing_template_keyword -> 10
template <typename T> struct A { template <int N> __device__ int get() { return N; } };
template <typename T> __global__ void k(A<T> a, int *o) { *o = a.get<10>(); }
RUN { k<<<1, 1>>>(A<int>(), out); show(); }

// form missing_typename_keyword -> 11
template <typename T> struct A { typedef int type; };
template <typename T> __global__ void k(T *o) { A<T>::type v = 11; *o = v; }
RUN { k<<<1, 1>>>(out); show(); }

// form name_of_a_dependent_base -> 12
template <typename T> struct Base { T v; __device__ T get() { return v; } };
template <typename T> struct Derived : Base<T> { __device__ T twice() { return get() * 2; } };
__global__ void k(int *o) { Derived<int> d; d.v = 6; *o = d.twice(); }
RUN { k<<<1, 1>>>(out); show(); }

// form host_call_in_an_unused_template -> 13
inline int host_function() { return 3; }
template <typename T> __device__ int never(T) { return host_function(); }
__global__ void k(int *o) { *o = 13; }
RUN { k<<<1, 1>>>(out); show(); }

// form host_call_in_a_both_template_used_on_the_host -> 14
inline int host_function() { return 14; }
template <typename T> __host__ __device__ int both(T) { return host_function(); }
RUN { *out = both(1); show(); }

// form host_call_in_a_both_function_used_on_the_host -> 15
inline int host_function() { return 15; }
__host__ __device__ int both() { return host_function(); }
RUN { *out = both(); show(); }

// form host_call_in_a_both_template_used_on_the_device -> 16
inline int host_function() { return 15; }
template <typename T> __host__ __device__ int both(T v) { return v > 0 ? 16 : host_function(); }
__global__ void k(int *o) { *o = both(*o); }
RUN { *out = 1; k<<<1, 1>>>(out); show(); }

// form device_call_in_a_both_function_of_the_host -> 17
__device__ int device_function() { return 17; }
__host__ __device__ int both()
{
#ifdef __CUDA_ARCH__
    return device_function();
#else
    return 1;
#endif
}
__global__ void k(int *o) { *o = both(); }
RUN { k<<<1, 1>>>(out); show(); }

// form device_builtin_in_a_both_function -> 18
__host__ __device__ int both() { return __popc(255) + 10; }
__global__ void k(int *o) { *o = both(); }
RUN { k<<<1, 1>>>(out); show(); }

// form thread_index_in_a_both_function -> 19
template <typename T> __host__ __device__ int both(T v) { return threadIdx.x + v; }
__global__ void k(int *o) { *o = both(19); }
RUN { k<<<1, 1>>>(out); show(); }

// form constexpr_function_called_from_device -> 20
constexpr int square(int n) { return n * n; }
__global__ void k(int *o) { constexpr int n = square(4); *o = n + 4; }
RUN { k<<<1, 1>>>(out); show(); }

// form constexpr_function_called_with_values_from_device -> 21
constexpr int square(int n) { return n * n; }
__global__ void k(int *o) { *o = square(*o) + 5; }
RUN { *out = 4; k<<<1, 1>>>(out); show(); }

// form constexpr_host_variable_in_device_code -> 22
constexpr int N = 20;
const int M = 2;
__global__ void k(int *o) { *o = N + M; }
RUN { k<<<1, 1>>>(out); show(); }

// form constexpr_host_array_element -> 23
constexpr int table[3] = {1, 22, 3};
__global__ void k(int *o) { constexpr int v = table[1]; *o = v + 1; }
RUN { k<<<1, 1>>>(out); show(); }

// form specialization_of_a_kernel -> 24
template <typename T> __global__ void k(T *o) { *o = 1; }
template <> __global__ void k<int>(int *o) { *o = 24; }
RUN { k<<<1, 1>>>(out); show(); }

// form explicit_instantiation_of_a_kernel -> 25
template <typename T> __global__ void k(T *o) { *o = 25; }
template __global__ void k<int>(int *);
RUN { k<<<1, 1>>>(out); show(); }

// form template_template_functor -> 26
template <template <typename> class F, typename T> __global__ void k(T *o) { *o = F<T>()(13); }
template <typename T> struct twice { __device__ T operator()(T v) const { return 2 * v; } };
RUN { k<twice><<<1, 1>>>(out); show(); }

// form defaulted_members -> 27
struct S { int v = 27; S() = default; S(const S &) = default; __host__ __device__ S &operator=(const S &) = default; ~S() = default; };
__global__ void k(int *o, S s) { S t; t = s; *o = t.v; }
RUN { k<<<1, 1>>>(out, S()); show(); }

// form implicit_members_over_device_members -> 28
struct A { int v; __host__ __device__ A() : v(28) {} };
struct B { A a; };
__global__ void k(int *o) { B b; *o = b.a.v; }
RUN { k<<<1, 1>>>(out); show(); }

// form host_only_members_of_a_class -> 29
struct S { int v; S(int n) : v(n) {} void print() const { printf("%d\n", v); } __device__ int get() const { return v; } virtual ~S() {} };
__global__ void k(int *o, const S *s) { *o = 29; }
RUN { S s(29); k<<<1, 1>>>(out, nullptr); cudaDeviceSynchronize(); s.print(); }

// form both_declared_apart -> 30
__host__ __device__ int f();
int f() { return 30; }
__global__ void k(int *o) { *o = f(); }
RUN { k<<<1, 1>>>(out); show(); }

// form kernel_declared_before -> 31
__global__ void k(int *o);
RUN { k<<<1, 1>>>(out); show(); }
void __global__ k(int *o) { *o = 31; }

// form overloads_by_side -> 32 1
__host__ int side() { return 1; }
__device__ int device_side() { return 32; }
__global__ void k(int *o) { *o = device_side(); }
RUN { k<<<1, 1>>>(out); cudaDeviceSynchronize(); printf("%d %d\n", *out, side()); }

// form unused_device_function_with_a_host_call -> 33
inline int host_function() { return 3; }
struct S { template <typename T> __host__ __device__ int m(T) { return host_function(); } };
__global__ void k(int *o) { *o = 33; }
RUN { S s; k<<<1, 1>>>(out); show(); }

// form standard_containers_in_both_template -> 34
#include <vector>
template <typename T> __host__ __device__ int size_of(T &v) { return v.size(); }
RUN { std::vector<int> v(34); *out = size_of(v); show(); }

// form qualifiers_of_the_device_side_only -> 35
#ifdef __CUDA_ARCH__
#define BOTH __host__ __device__
#else
#define BOTH
#endif
BOTH int thirty_five() { return 35; }
template <typename T> BOTH T zero(T) { return 0; }
__global__ void k(int *o) { *o = thirty_five() + zero(1); }
RUN { k<<<1, 1>>>(out); *out += zero(2); show(); }
#undef BOTH

// form member_defined_for_both -> 36
struct S { int v; inline int get() const; };
__host__ __device__ inline int S::get() const { return v; }
__global__ void k(int *o) { S s = {36}; *o = s.get(); }
RUN { k<<<1, 1>>>(out); show(); }

// form member_declared_for_both -> 37
template <typename T> struct S { T v; __host__ __device__ T get() const; };
template <typename T> T S<T>::get() const { return v; }
__global__ void k(int *o) { S<int> s = {37}; *o = s.get(); }
RUN { k<<<1, 1>>>(out); show(); }

// form device_function_declared_apart -> 38
__device__ int f();
int f() { return 38; }
__global__ void k(int *o) { *o = f(); }
RUN { k<<<1, 1>>>(out); show(); }

// form kernel_defined_without_its_qualifier -> 39
__global__ void k(int *o);
void k(int *o) { *o = 39; }
RUN { k<<<1, 1>>>(out); show(); }
