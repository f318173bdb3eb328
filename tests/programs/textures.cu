// Every texture and surface function, each result in a row of its own. tests/ptx/textures.ptx is nvcc's PTX of this file.

extern "C" __global__ void fetches(cudaTextureObject_t line, cudaTextureObject_t lines, cudaTextureObject_t plane, cudaTextureObject_t planes,
                                   cudaTextureObject_t solid, cudaTextureObject_t cube, cudaTextureObject_t cubes, const float4 *at, float *out)
{
    int i = threadIdx.x, n = blockDim.x, row = 0, layer = i % 3;
    float x = at[i].x, y = at[i].y, z = at[i].z, level = at[i].w;
    auto put = [&](float value) { out[row++ * n + i] = value; };
    put(tex1D<float>(line, x));
    put(tex1DLod<float>(line, x, level));
    put(tex1DGrad<float>(line, x, 0.25f, 0.125f));
    put(tex1DLayered<float>(lines, x, layer));
    put(tex1DLayeredLod<float>(lines, x, layer, level));
    put(tex1DLayeredGrad<float>(lines, x, layer, 0.25f, 0.125f));
    put(tex2D<float>(plane, x, y));
    put(tex2DLod<float>(plane, x, y, level));
    put(tex2DGrad<float>(plane, x, y, make_float2(0.25f, 0), make_float2(0, 0.125f)));
    put(tex2DLayered<float>(planes, x, y, layer));
    put(tex2DLayeredLod<float>(planes, x, y, layer, level));
    put(tex2DLayeredGrad<float>(planes, x, y, layer, make_float2(0.25f, 0), make_float2(0, 0.125f)));
    put(tex3D<float>(solid, x, y, z));
    put(tex3DLod<float>(solid, x, y, z, level));
    put(tex3DGrad<float>(solid, x, y, z, make_float4(0.25f, 0, 0, 0), make_float4(0, 0.125f, 0, 0)));
    put(texCubemap<float>(cube, x, y, z));
    put(texCubemapLod<float>(cube, x, y, z, level));
    put(texCubemapLayered<float>(cubes, x, y, z, layer));
    put(texCubemapLayeredLod<float>(cubes, x, y, z, layer, level));
    float4 four = tex2Dgather<float4>(plane, x, y, 0);
    put(four.x);
    put(four.y);
    put(four.z);
    put(four.w);
}

extern "C" __global__ void elements(cudaTextureObject_t bytes, cudaTextureObject_t shorts, cudaTextureObject_t words, cudaTextureObject_t floats, int *out)
{
    int i = threadIdx.x, n = blockDim.x, row = 0;
    auto put = [&](int value) { out[row++ * n + i] = value; };
    uchar4 b = tex1Dfetch<uchar4>(bytes, i);
    put(b.x);
    put(b.y);
    put(b.z);
    put(b.w);
    short2 s = tex1Dfetch<short2>(shorts, i);
    put(s.x);
    put(s.y);
    put(tex1Dfetch<unsigned int>(words, i));
    float2 f = tex1Dfetch<float2>(floats, i);
    put(__float_as_int(f.x));
    put(__float_as_int(f.y));
}

extern "C" __global__ void surfaces(cudaSurfaceObject_t line, cudaSurfaceObject_t plane, cudaSurfaceObject_t solid, cudaSurfaceObject_t lines,
                                    cudaSurfaceObject_t planes, cudaSurfaceObject_t cube)
{
    int i = threadIdx.x;
    surf1Dwrite(surf1Dread<uchar4>(line, 4 * i), line, 4 * (i + 32));
    surf2Dwrite(surf2Dread<float2>(plane, 8 * i, 0), plane, 8 * i, 1);
    surf2Dwrite(surf2Dread<unsigned char>(plane, i, 0, cudaBoundaryModeClamp), plane, i, 2, cudaBoundaryModeZero);
    surf2Dwrite(surf2Dread<short>(plane, 2 * i - 20, 0, cudaBoundaryModeZero), plane, 2 * i, 3, cudaBoundaryModeClamp);
    surf3Dwrite(surf3Dread<float4>(solid, 16 * (i % 4), i / 4 % 2, 0), solid, 16 * (i % 4), i / 4 % 2, 1);
    surf1DLayeredwrite(surf1DLayeredread<int>(lines, 4 * i, 0), lines, 4 * i, 1);
    surf2DLayeredwrite(surf2DLayeredread<int2>(planes, 8 * (i % 4), i / 4 % 2, 0), planes, 8 * (i % 4), i / 4 % 2, 1);
    surfCubemapwrite(surfCubemapread<int>(cube, 4 * (i % 4), i / 4 % 4, 2), cube, 4 * (i % 4), i / 4 % 4, 5);
}
