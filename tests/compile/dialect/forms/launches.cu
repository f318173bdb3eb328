// form visual_studio -> 31
__global__ void k(int *o) { *o = blockDim.x; }
RUN { k << <1, 31 >> > (out); show(); }

// form every_token_apart -> 32
__global__ void k(int *o) { *o = blockDim.x; }
RUN { k < < < 1, 32 > > > (out); show(); }

// form two_and_one -> 33
__global__ void k(int *o) { *o = blockDim.x; }
RUN { k<< <1, 33>> >(out); show(); }

// form one_and_two -> 34
__global__ void k(int *o) { *o = blockDim.x; }
RUN { k< <<1, 34> >>(out); show(); }

// form over_lines -> 35
__global__ void k(int *o) { *o = blockDim.x; }
RUN
{
    k
    <<
    <
    1, 35
    >>
> (out);
    show();
}

// form comments_between -> 36
__global__ void k(int *o) { *o = blockDim.x; }
RUN { k << /* two */ < /* one */ 1, 36 >> /* two */ > (out); show(); }

// form line_comment_between -> 37
__global__ void k(int *o) { *o = blockDim.x; }
RUN {
    k << // two
        < 1, 37 >> // two
        > (out);
    show();
}

// form spaced_template -> 38
template <typename T> __global__ void k(T *o) { *o = blockDim.x; }
RUN { k<int> << <1, 38>> >(out); show(); }

// form template_argument_in_configuration -> 39
template <int N> struct size { static const int value = N; };
__global__ void k(int *o) { *o = blockDim.x; }
RUN { k<< <1, size<39>::value>> >(out); show(); }

// form nested_templates_in_configuration -> 40
template <typename T> struct box { typedef T type; };
template <typename T> __host__ int forty(T) { return 40; }
__global__ void k(int *o) { *o = blockDim.x; }
RUN { k << <1, forty<box<box<int> > >(box<box<int> >()) >> > (out); show(); }

// form in_a_macro -> 41
#define LAUNCH(kernel, grid, block) kernel << <grid, block >> >
__global__ void k(int *o) { *o = blockDim.x; }
RUN { LAUNCH(k, 1, 41)(out); show(); }
#undef LAUNCH

// form macro_of_the_configuration -> 42
#define CONFIGURATION <<<1, 42>>>
__global__ void k(int *o) { *o = blockDim.x; }
RUN { k CONFIGURATION(out); show(); }
#undef CONFIGURATION

// form macro_of_a_spaced_configuration -> 43
#define CONFIGURATION(grid, block) << < grid, block >> >
__global__ void k(int *o) { *o = blockDim.x; }
RUN { k CONFIGURATION(1, 43) (out); show(); }
#undef CONFIGURATION

// form macro_of_each_end -> 44
#define BEGIN << <
#define END >> >
__global__ void k(int *o) { *o = blockDim.x; }
RUN { k BEGIN 1, 44 END (out); show(); }
#undef BEGIN
#undef END

// form macro_of_one_token -> 45
#define LESS <
__global__ void k(int *o) { *o = blockDim.x; }
RUN { k << LESS 1, 45 >>> (out); show(); }
#undef LESS

// form macro_over_lines -> 46
#define LAUNCH(kernel, ...)           \
    do {                              \
        kernel << <1, 46>> >(__VA_ARGS__); \
    } while (0)
__global__ void k(int *o) { *o = blockDim.x; }
RUN { LAUNCH(k, out); show(); }
#undef LAUNCH

// form output_operator_with_template_arguments -> 47
template <typename T> struct box { T value; };
struct stream { int value; };
template <typename T> stream &operator<< (stream &s, const box<T> &b) { s.value = b.value; return s; }
template <typename T> int shown(const box<T> &b) { stream s; operator<< <T>(s, b); return s.value; }
RUN { *out = shown(box<int>{47}); show(); }

// form output_operator_without_a_space -> 48
template <typename T> struct box { T value; };
struct stream { int value; };
template <typename T> stream &operator<<(stream &s, const box<T> &b) { s.value = b.value; return s; }
template <typename T> int shown(const box<T> &b) { stream s; operator<<<T>(s, b); return s.value; }
RUN { *out = shown(box<int>{48}); show(); }

// form shifts_stay_shifts -> 49
__global__ void k(int *o, int n) { *o = 1 << (n < 1 ? 2 : 5) | n >> 1 | 16; }
RUN { k<<<1, 64 >> (1 < 2 ? 1 : 2)>>>(out, 2); show(); }

// form text_in_a_string -> a << < b >> > c
RUN { printf("a << < b >> > c\n"); }

// form text_in_a_comment -> 51
// k << <1, 2 >> > (x) and /* k << <
/* << < >> > */
RUN { *out = 51; show(); }

// form raw_string -> << <"1 >> >
RUN { printf("%s\n", R"x(<< <"1 >> >)x"); }

// form shared_bytes_and_stream -> 53
__global__ void k(int *o) { extern __shared__ int s[]; s[threadIdx.x] = 53; *o = s[threadIdx.x]; }
RUN { cudaStream_t s = 0; k << < dim3(1), dim3(32, 1), 32 * sizeof(int), s >> > (out); show(); }

// form pointer_to_a_kernel -> 54
__global__ void k(int *o) { *o = 54; }
RUN { void (*f)(int *) = k; f << <1, 1>> >(out); show(); }

// form pointer_in_a_structure -> 55
__global__ void k(int *o) { *o = 55; }
struct holder { void (*f)(int *); };
RUN { holder h = {k}; h.f<<<1, 1>>>(out); (*h.f)<<<1, 1>>>(out); show(); }

// form kernel_as_template_argument -> 56
__global__ void k(int *o) { *o = 56; }
template <void (*F)(int *)> void launch() { F<<<1, 1>>>(out); }
RUN { launch<k>(); show(); }

// form kernel_as_function_argument -> 57
template <int N> __global__ void k(int *o) { *o = N; }
template <typename F> void launch(F f) { f<<<1, 1>>>(out); }
RUN { launch(k<57>); show(); }

// form in_a_namespace -> 58
namespace a { namespace b { __global__ void k(int *o) { *o = 58; } } }
RUN { a::b::k<<<1, 1>>>(out); show(); }

// form in_a_nameless_namespace -> 59
namespace { __global__ void k(int *o) { *o = 59; } }
RUN { k<<<1, 1>>>(out); show(); }

// form static_kernel -> 60
static __global__ void k(int *o) { *o = 60; }
RUN { k<<<1, 1>>>(out); show(); }

// form default_argument -> 61
__global__ void k(int *o, int v = 61) { *o = v; }
RUN { k<<<1, 1>>>(out); show(); }

// form variadic_kernel -> 62
template <typename... T> __global__ void k(int *o, T... v) { *o = (v + ... + 0); }
RUN { k<<<1, 1>>>(out, 30, 30L, 2.5f); show(); }

// form friend_kernel -> 63
class secret { int n = 63; friend __global__ void k(int *o, secret s); };
__global__ void k(int *o, secret s) { *o = s.n; }
RUN { k<<<1, 1>>>(out, secret()); show(); }

// form comma_expression_of_launches -> 64
__global__ void k(int *o, int v) { *o += v; }
RUN { *out = 0; k<<<1, 1>>>(out, 60), k<<<1, 1>>>(out, 4); show(); }

// form conditional_launch -> 65
__global__ void k(int *o, int v) { *o = v; }
RUN { if (out) k << <1, 1>> >(out, 65); else k<<<1, 1>>>(out, 0); show(); }

// form braces_in_configuration -> 66
__global__ void k(int *o) { *o = blockDim.x + blockDim.y; }
RUN { k<<<{1, 1}, {64, 2}>>>(out); show(); }

// form extern_c_kernel -> 67
extern "C" __global__ void extern_c_kernel_67(int *o) { *o = 67; }
RUN { extern_c_kernel_67<<<1, 1>>>(out); show(); }

// form launch_bounds_of_three -> 68
__global__ void __launch_bounds__(128, 2) k(int *o) { *o = 68; }
__global__ __launch_bounds__(64) void l(int *o) { *o += 0; }
RUN { k<<<1, 1>>>(out); l<<<1, 1>>>(out); show(); }

// form launch_bounds_of_template -> 69
template <int N> __global__ void __launch_bounds__(N, 1024 / N) k(int *o) { *o = 69; }
RUN { k<256><<<1, 1>>>(out); show(); }

// form shift_of_a_template_argument -> 70
template <int N> __global__ void k(int *o) { *o = N; }
RUN { k<(280 >> 2)> << <1, 1>> > (out); show(); }

// form comparison_in_configuration -> 71
__global__ void k(int *o) { *o = 70 + gridDim.x; }
RUN { int n = 3; k << <n < 4 ? 1 : 2, n > 5 ? 64 : 32>> >(out); show(); }

// form launch_in_a_lambda -> 72
__global__ void k(int *o) { *o = 72; }
RUN { [] { k << <1, 1>> >(out); }(); show(); }

// form end_over_lines -> 73
__global__ void k(int *o) { *o = blockDim.x; }
RUN
{
    k << <1, 70 >>
        > (out);
    k << <1, 71>>
> (out);
    k << <1, 72 >>  
 > (out);
    k << <1, 73>>
>(out);
    show();
}

// form one_and_two_at_the_end -> 74
__global__ void k(int *o) { *o = blockDim.x; }
RUN { k<<<1, 74> >>(out); show(); }

// form three_at_the_end -> 75
__global__ void k(int *o) { *o = blockDim.x; }
RUN { k<<<1, 75> > >(out); show(); }
