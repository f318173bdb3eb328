// One kernel for each assumption of gpuprof/compile/undefined.py; `o` holds eight times -1.
#include <new>
#define KERNEL(name) __global__ void name(int *o, int x, int y, float f)

KERNEL(aliasing)
{
    short h[2] = {(short)x, (short)y};
    o[0] = *(unsigned *)h;
    o[2] = x;
    *(short *)(o + 2) = (short)y;
    o[1] = o[2];
}

__device__ __noinline__ int is_null(int &r) { return &r == nullptr ? 3 : 4; }
struct Object {
    __device__ __noinline__ int is_null() { return this == nullptr ? 5 : 6; }
};
KERNEL(null)
{
    o[0] = is_null(*(int *)(size_t)x);
    o[1] = ((Object *)(size_t)x)->is_null();
}

KERNEL(endless_loop)
{
    while (o[1] == 0) {
    }
    o[0] = 1;
}

KERNEL(endless_loop_of_known_turns)
{
    int i = x;
    while (i != 3) i += 2;
    o[0] = 1;
}

KERNEL(float_to_integer)
{
    float large = 3e9f, minus = -5.5f;
    double nan = __longlong_as_double(0x7ff8000000000000);
    o[0] = (int)large;
    o[1] = (unsigned)minus;
    o[2] = (unsigned char)300.0f;
    o[3] = (signed char)f;
    o[4] = (short)f;
    o[5] = (int)nan;
    o[6] = (int)((long long)nan >> 32);
    o[7] = (int)f;
}

KERNEL(scope)
{
    int *p;
    {
        int a[2] = {x, x + 1};
        p = a;
    }
    {
        int b[2] = {9, x};
        o[1] = b[y & 1];
    }
    o[0] = p[y & 1];
}

KERNEL(unset_argument)
{
    int v;
    if (x > 3) v = 7;
    o[0] = __shfl_sync(1, x > 3 ? v : 5, 0);
}

KERNEL(signed_overflow)
{
    o[0] = x + 1 > x;
    o[1] = x * 2 / 2 == x;
    int turns = 0;
    for (int i = x; i <= x + 7; i++) turns++;
    o[2] = turns;
}

KERNEL(signed_index) { o[0] = o[y + 1]; }

KERNEL(shift)
{
    int n = 33;
    o[0] = x << n;
    o[1] = 1;
}

KERNEL(shift_by_variable)
{
    o[0] = x << y;
    o[1] = x >> y;
    o[2] = y < 32;
}

KERNEL(pointer_overflow)
{
    char *p = (char *)o;
    o[0] = p + (unsigned)x < p;
}

__device__ __noinline__ int without_end(int x)
{
    if (x > 3) return 5;
}
KERNEL(missing_return) { o[0] = without_end(x); }

KERNEL(unset_variable)
{
    int v;
    if (x > 3) v = 7;
    o[0] = v;
}

enum Enumeration { first, second, third, fourth };
KERNEL(enumeration) { o[0] = *(Enumeration *)&x <= fourth; }

KERNEL(alignment)
{
    int *p = (int *)((char *)o + (x & 1));
    o[0] = (size_t)p & 3;
}

KERNEL(assume)
{
    __builtin_assume(x > 3);
    o[0] = x > 2;
}

__device__ __noinline__ int second_store(int *__restrict__ a, int *__restrict__ b)
{
    *a = 1;
    *b = 2;
    return *a;
}
KERNEL(restrict) { o[0] = second_store(o + 1, o + 1); }

KERNEL(constant)
{
    const int c = 5;
    *(int *)&c = x;
    o[0] = c;
}

struct Base {
    __device__ virtual int turn() = 0;
};
struct Other : Base {
    __device__ int turn() override { return 2; }
};
struct One : Base {
    __device__ __noinline__ int turn() override
    {
        new (this) Other;
        return 1;
    }
};
KERNEL(virtual_table)
{
    One one;
    Base *p = &one;
    o[0] = p->turn();
    o[1] = p->turn();
}

KERNEL(contraction) { o[0] = __float_as_int(f * f - 1.0f); }

KERNEL(reassociation) { o[0] = __float_as_int((f + 1e8f) - 1e8f); }

KERNEL(boolean)
{
    o[1] = x;
    bool b = *(volatile bool *)(o + 1);
    o[0] = b;
    o[2] = b ? 5 : 6;
}

KERNEL(division)
{
    int q = x / y;
    if (y == 0) q = 77;
    o[0] = q;
}
