// A polynomial of degree 7 at every element.
//
// LAUNCH: evaluate<<<160, 256>>>(x: f32[40960]=random, coefficients: f32[8]=random, out: f32[40960], 8)

__global__ void evaluate(const float *x, const float *coefficients, float *out, int terms)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i], sum = 0, power = 1;
    for (int k = 0; k < terms; k++) {
        sum += coefficients[k] * power;
        power *= v;
    }
    out[i] = sum;
}
