// LAUNCH: kinds<<<1, 32>>>(u32[32])
struct Bits {
    unsigned low : 3;
    int middle : 5;
    unsigned long long high : 40;
    unsigned char behind;
};

union Either {
    float number;
    unsigned char bytes[4];
};

enum class Small : unsigned char { none = 0, big = 200 };

namespace space {
struct Grid {
    double x;
    short cells[2][3];
};
__device__ int counter = 42;
__device__ int count(int by) { return counter + by; }
}  // namespace space

struct Base {
    int base = 11;
};

struct Derived : Base {
    bool flag = true;
    __device__ int plus(int added) { return base + added; }
};

struct Mixed {
    int tag;
    union {
        unsigned whole;
        float real;
    };
};

__global__ void kinds(unsigned *out) {
    Bits bits;
    bits.low = 5;
    bits.middle = -3;
    bits.high = 123456789012ull;
    bits.behind = 9;
    Either either;
    either.number = 1.0f;
    Small small = Small::big;
    space::Grid grid = {2.5, {{1, 2, 3}, {4, 5, 6}}};
    Derived derived;
    int &ref = derived.base;
    Mixed mixed;
    mixed.tag = 7;
    mixed.real = 3.14159274f;
    const char *text = "say \"hi\"";
    out[threadIdx.x] = bits.low + either.bytes[3] + (int)small + grid.cells[1][2] + ref;
    out[1] += text[0] + mixed.whole;
    out[0] += derived.plus(8) + space::count(4);
}
