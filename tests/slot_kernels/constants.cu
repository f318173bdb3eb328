// Loops of operations with constants: in immediates, in the constant bank, in registers across the loop or made anew in each turn.
#define LOOP _Pragma("unroll 1") for (int i = 0; i < n; i++)

__global__ void chains(double* out, int n) {
    double a = threadIdx.x, b = a + 1;
    LOOP { a = fma(a, 0.99999, 1e-7); b = fma(b, 0.99999, 1e-7); }
    out[threadIdx.x] = a + b;
}

__global__ void exact(double* out, int n) {
    double a = threadIdx.x;
    LOOP a = fma(a, 0.5, 1.25);
    out[threadIdx.x] = a;
}

__global__ void eight_sums(double* out, int n) {
    double a = threadIdx.x;
    LOOP a = (((((((a + 0.1) * 0.2) + 0.3) * 0.4) + 0.6) * 0.7) + 0.8) * 0.9;
    out[threadIdx.x] = a;
}

__global__ void compared(double* out, int n) {
    double a = threadIdx.x, b = a;
    LOOP {
        a = (a + 0.3) * 0.7;
        if (b < 0.9) b = b * 1.5;
        b += 1.0;
    }
    out[threadIdx.x] = a + b;
}

__global__ void seven_pairs(double* out, int n) {  // more than ptxas keeps: it makes half of them in every turn
    double a = threadIdx.x;
    LOOP {
        a = fma(a, 0.31, 0.71); a = fma(a, 0.32, 0.72); a = fma(a, 0.33, 0.73); a = fma(a, 0.34, 0.74);
        a = fma(a, 0.35, 0.76); a = fma(a, 0.36, 0.77); a = fma(a, 0.37, 0.78);
    }
    out[threadIdx.x] = a;
}

__global__ void crowded(double* out, int n) {  // sums that live on take the room: the addend is made in every turn
    double a = threadIdx.x, s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0;
    LOOP {
        a = fma(a, 0.31, 0.71); a = fma(a, 0.32, 0.71);
        s0 += a; s1 += s0; s2 += s1; s3 += s2; s4 += s3; s5 += s4;
    }
    out[threadIdx.x] = a + s0 + s1 + s2 + s3 + s4 + s5;
}

__global__ void singles(float* out, int n) {
    float a = threadIdx.x;
    LOOP { a = fmaf(a, 0.3f, 0.7f); a = fmaf(a, 0.31f, 0.7f); a = fmaf(a, 0.32f, 0.71f); }
    out[threadIdx.x] = a;
}

__global__ void integers(int* out, int n) {
    int a = threadIdx.x;
    LOOP a = (a * 12345678 + 87654321) ^ 0x55555555;
    out[threadIdx.x] = a;
}
