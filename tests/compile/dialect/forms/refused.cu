// form kernel_that_returns
__global__ int k() { return 1; }
RUN { k<<<1, 1>>>(); }

// form host_function_in_a_kernel
int host_function() { return 1; }
__global__ void k(int *o) { *o = host_function(); }
RUN { k<<<1, 1>>>(out); }

// form device_function_on_the_host
__device__ int device_function() { return 1; }
RUN { *out = device_function(); }

// form kernel_call_without_configuration
__global__ void k(int *o) { *o = 1; }
RUN { k(out); }

// form device_function_with_configuration
__device__ void f(int *o) { *o = 1; }
RUN { f<<<1, 1>>>(out); }

// form throw_in_device_code
__global__ void k(int *o) { if (*o) throw 1; }
RUN { k<<<1, 1>>>(out); }

// form try_in_device_code
__global__ void k(int *o) { try { *o = 1; } catch (...) { } }
RUN { k<<<1, 1>>>(out); }

// form typeid_in_device_code
#include <typeinfo>
struct V { virtual __device__ void f() {} };
__global__ void k(V *v, bool *o) { *o = typeid(*v) == typeid(V); }
RUN { k<<<1, 1>>>(nullptr, nullptr); }

// form dynamic_cast_in_device_code
struct A { virtual __device__ void f() {} };
struct B : A { };
__global__ void k(A *a, bool *o) { *o = dynamic_cast<B *>(a) != nullptr; }
RUN { k<<<1, 1>>>(nullptr, nullptr); }

// form reference_parameter_of_a_kernel
__global__ void k(int &v) { v = 1; }
RUN { int v; k<<<1, 1>>>(v); }

// form kernel_as_a_member
struct S { __global__ void k() {} };
RUN { }

// form static_kernel_as_a_member
struct S { static __global__ void k(int *o) { *o = 1; } };
RUN { S::k<<<1, 1>>>(out); }

// form ellipsis_of_a_kernel
__global__ void k(int *o, ...) { *o = 1; }
RUN { k<<<1, 1>>>(out, 2); }

// form host_variable_in_a_kernel
int host_variable = 3;
__global__ void k(int *o) { *o = host_variable; }
RUN { k<<<1, 1>>>(out); }

// form address_of_constexpr_host_variable
constexpr int table[3] = {1, 2, 3};
__global__ void k(int *o) { *o = table[threadIdx.x]; }
RUN { k<<<1, 1>>>(out); }

// form dynamically_initialized_device_variable
inline int host_function() { return 3; }
__device__ int v = host_function();
RUN { }

// form device_variable_with_a_constructor
struct S { int n; __device__ S() { n = 3; } };
__device__ S s;
RUN { }

// form shared_with_a_value
__global__ void k(int *o) { __shared__ int s = 3; *o = s; }
RUN { k<<<1, 1>>>(out); }

// form store_to_constant
__constant__ int c;
__global__ void k() { c = 3; }
RUN { k<<<1, 1>>>(); }

// form shared_in_a_host_function
RUN { __shared__ int s; s = 3; }

// form shared_member
struct S { __shared__ int m; };
RUN { }

// form constant_in_a_function
__global__ void k(int *o) { __constant__ int c = 3; *o = c; }
RUN { k<<<1, 1>>>(out); }

// form thread_local_in_device_code
__device__ thread_local int t;
RUN { }

// form three_arguments_in_configuration_are_too_few
__global__ void k() { }
RUN { k<<<1>>>(); }

// form too_many_arguments_in_configuration
__global__ void k() { }
RUN { k<<<1, 1, 0, 0, 0>>>(); }

// form too_few_kernel_arguments
__global__ void k(int *o, int n) { *o = n; }
RUN { k<<<1, 1>>>(out); }

// form texture_reference
texture<float, 1, cudaReadModeElementType> t;
__global__ void k(float *o) { *o = tex1Dfetch(t, 0); }
RUN { }

// form warp_shuffle_without_mask
__global__ void k(int *o) { *o = __shfl_down(*o, 1); }
RUN { k<<<1, 1>>>(out); }

// form assignment_to_thread_index
__global__ void k() { threadIdx.x = 3; }
RUN { k<<<1, 1>>>(); }

// form address_of_thread_index
__global__ void k(const uint3 **p) { *p = &threadIdx; }
RUN { }

// form unknown_name_in_a_function
__device__ int f() { return undeclared_name; }
RUN { }

// form unknown_name_in_a_used_template
template <typename T> __device__ int f(T) { return undeclared_name; }
__global__ void k(int *o) { *o = f(1); }
RUN { k<<<1, 1>>>(out); }

// form static_assert_of_the_used_side
template <typename T> __device__ int f(T v) { static_assert(sizeof(T) == 0, "never"); return v; }
__global__ void k(int *o) { *o = f(1); }
RUN { k<<<1, 1>>>(out); }

// form static_assert_of_both_sides
template <typename T> __host__ __device__ int f(T v) { static_assert(sizeof(T) == 0, "never"); return v; }
RUN { *out = f(1); }

// form host_lambda_of_a_kernel_argument
__global__ void k(int *o) { *o = 1; }
template <typename F> __global__ void l(F f, int *o) { *o = f(); }
RUN { l<<<1, 1>>>([] { return 1; }, out); }

// form extended_lambda_without_the_flag
template <typename F> __global__ void l(F f, int *o) { *o = f(); }
RUN { l<<<1, 1>>>([] __device__ { return 1; }, out); }

// form variadic_function_in_device_code
#include <cstdarg>
__device__ int f(int n, ...) { va_list l; va_start(l, n); int v = va_arg(l, int); va_end(l); return v; }
__global__ void k(int *o) { *o = f(1, 2); }
RUN { k<<<1, 1>>>(out); }

// form standard_string_in_device_code
#include <string>
__global__ void k(int *o) { std::string s("x"); *o = s.size(); }
RUN { k<<<1, 1>>>(out); }

// form output_stream_in_device_code
#include <iostream>
__global__ void k() { std::cout << 1; }
RUN { k<<<1, 1>>>(); }

// form global_and_device
__global__ __device__ void k() { }
RUN { }

// form wrong_ptx
__global__ void k(int *o) { asm("not_an_instruction %0;" : "=r"(*o)); }
RUN { k<<<1, 1>>>(out); }

// form unterminated_launch
__global__ void k(int *o) { *o = 1; }
RUN { k << <1, 1 >> (out); }

// form two_less_signs
__global__ void k(int *o) { *o = 1; }
RUN { k <<1, 1>>> (out); }

// form kernel_with_a_default_reference_capture
RUN { auto f = [] __global__ (int *o) { *o = 1; }; f<<<1, 1>>>(out); }

// form overloads_that_differ_in_side
__host__ int side() { return 1; }
__device__ int side() { return 2; }
__global__ void k(int *o) { *o = side(); }
RUN { k<<<1, 1>>>(out); }

// form constructor_of_a_kernel_parameter_of_the_host_only
struct S { int v; S(int n) : v(n) {} };
__global__ void k(int *o) { S s(3); *o = s.v; }
RUN { k<<<1, 1>>>(out); }
