// The device, as the driver is asked for it.
#include "driver_calls.h"

#include <stdio.h>
#include <string.h>

using namespace gpuprof;

namespace {

struct Constant {
    CUdevice_attribute attribute;
    int value;
};
// Extents of images: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", the same from 7.0 on.
#define A(NAME, VALUE) {CU_DEVICE_ATTRIBUTE_##NAME, VALUE},
#define ABSENT(NAME) A(NAME, 0)
const Constant constants[] = {
    A(GPU_OVERLAP, 1) A(TEXTURE_ALIGNMENT, 512) A(TEXTURE_PITCH_ALIGNMENT, 32) A(SURFACE_ALIGNMENT, 512) A(CAN_TEX2D_GATHER, 1)
        A(MAXIMUM_TEXTURE1D_WIDTH, 131072) A(MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 268435456) A(MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH, 32768)
            A(MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 32768) A(MAXIMUM_TEXTURE1D_LAYERED_LAYERS, 2048) A(MAXIMUM_TEXTURE2D_WIDTH, 131072) A(
                MAXIMUM_TEXTURE2D_HEIGHT, 65536) A(MAXIMUM_TEXTURE2D_LINEAR_WIDTH, 131072) A(MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, 65000)
                A(MAXIMUM_TEXTURE2D_LINEAR_PITCH, 2097120) A(MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH, 32768) A(MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT, 32768) A(
                    MAXIMUM_TEXTURE2D_GATHER_WIDTH, 32768) A(MAXIMUM_TEXTURE2D_GATHER_HEIGHT, 32768) A(MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 32768)
                    A(MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, 32768) A(MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 2048) A(MAXIMUM_TEXTURE3D_WIDTH, 16384) A(
                        MAXIMUM_TEXTURE3D_HEIGHT, 16384) A(MAXIMUM_TEXTURE3D_DEPTH, 16384) A(MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE, 8192)
                        A(MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE, 8192) A(MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE, 32768) A(MAXIMUM_TEXTURECUBEMAP_WIDTH, 32768)
                            A(MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH, 32768) A(MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS, 2046)
                                A(MAXIMUM_SURFACE1D_WIDTH, 32768) A(MAXIMUM_SURFACE1D_LAYERED_WIDTH, 32768) A(MAXIMUM_SURFACE1D_LAYERED_LAYERS, 2048)
                                    A(MAXIMUM_SURFACE2D_WIDTH, 131072) A(MAXIMUM_SURFACE2D_HEIGHT, 65536) A(MAXIMUM_SURFACE2D_LAYERED_WIDTH, 32768)
                                        A(MAXIMUM_SURFACE2D_LAYERED_HEIGHT, 32768) A(MAXIMUM_SURFACE2D_LAYERED_LAYERS, 2048)
                                            A(MAXIMUM_SURFACE3D_WIDTH, 16384) A(MAXIMUM_SURFACE3D_HEIGHT, 16384) A(MAXIMUM_SURFACE3D_DEPTH, 16384)
                                                A(MAXIMUM_SURFACECUBEMAP_WIDTH, 32768) A(MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH, 32768)
                                                    A(MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS, 2046) A(GLOBAL_L1_CACHE_SUPPORTED, 1)
                                                        A(LOCAL_L1_CACHE_SUPPORTED, 1) A(COMPUTE_PREEMPTION_SUPPORTED, 1)
                                                            A(HOST_REGISTER_SUPPORTED, 1) A(CAN_USE_STREAM_MEM_OPS_V1, 1)
                                                                A(CAN_USE_64_BIT_STREAM_MEM_OPS_V1, 1) A(CAN_USE_STREAM_WAIT_VALUE_NOR_V1, 1)
                                                                    A(CAN_USE_64_BIT_STREAM_MEM_OPS, 1) A(CAN_USE_STREAM_WAIT_VALUE_NOR, 1)
                                                                        A(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1) A(PCI_BUS_ID, 1) A(NUMA_ID, -1)
    // what this device does not have
    ABSENT(ECC_ENABLED) ABSENT(PCI_DEVICE_ID) ABSENT(PCI_DOMAIN_ID) ABSENT(TCC_DRIVER) ABSENT(MULTI_GPU_BOARD) ABSENT(MULTI_GPU_BOARD_GROUP_ID)
        ABSENT(HOST_NATIVE_ATOMIC_SUPPORTED) ABSENT(PAGEABLE_MEMORY_ACCESS) ABSENT(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM)
            ABSENT(COOPERATIVE_MULTI_DEVICE_LAUNCH) ABSENT(CAN_FLUSH_REMOTE_WRITES) ABSENT(PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES)
                ABSENT(DIRECT_MANAGED_MEM_ACCESS_FROM_HOST) ABSENT(HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED)
                    ABSENT(HANDLE_TYPE_WIN32_HANDLE_SUPPORTED) ABSENT(HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED) ABSENT(GENERIC_COMPRESSION_SUPPORTED)
                        ABSENT(MAX_PERSISTING_L2_CACHE_SIZE) ABSENT(MAX_ACCESS_POLICY_WINDOW_SIZE) ABSENT(GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED)
                            ABSENT(SPARSE_CUDA_ARRAY_SUPPORTED) ABSENT(READ_ONLY_HOST_REGISTER_SUPPORTED) ABSENT(TIMELINE_SEMAPHORE_INTEROP_SUPPORTED)
                                ABSENT(GPU_DIRECT_RDMA_SUPPORTED) ABSENT(GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS) ABSENT(GPU_DIRECT_RDMA_WRITES_ORDERING)
                                    ABSENT(MEMPOOL_SUPPORTED_HANDLE_TYPES) ABSENT(DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED) ABSENT(DMA_BUF_SUPPORTED)
                                        ABSENT(IPC_EVENT_SUPPORTED) ABSENT(HANDLE_TYPE_FABRIC_SUPPORTED) ABSENT(UNIFIED_FUNCTION_POINTERS)
                                            ABSENT(NUMA_CONFIG) ABSENT(MULTICAST_SUPPORTED) ABSENT(MPS_ENABLED) ABSENT(HOST_NUMA_ID)
                                                ABSENT(D3D12_CIG_SUPPORTED) ABSENT(VULKAN_CIG_SUPPORTED) ABSENT(MEM_DECOMPRESS_ALGORITHM_MASK)
                                                    ABSENT(MEM_DECOMPRESS_MAXIMUM_LENGTH) ABSENT(GPU_PCI_DEVICE_ID) ABSENT(GPU_PCI_SUBSYSTEM_ID)
                                                        ABSENT(HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) ABSENT(HOST_NUMA_MEMORY_POOLS_SUPPORTED)
                                                            ABSENT(HOST_NUMA_MULTINODE_IPC_SUPPORTED) ABSENT(HOST_MEMORY_POOLS_SUPPORTED)
                                                                ABSENT(HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) ABSENT(HOST_ALLOC_DMA_BUF_SUPPORTED)
                                                                    ABSENT(ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED)};
#undef ABSENT
#undef A

int capability()
{
    int major = 0, minor = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
    return 10 * major + minor;
}

// Arithmetic throughput of float over that of double: CUDA C++ Programming Guide, "Arithmetic Instructions".
int float_to_double()
{
    switch (capability()) {
    case 70:
    case 80:
    case 90:
    case 100: return 2;
    case 75: return 32;
    default: return 64;
    }
}

bool value_by_capability(CUdevice_attribute attribute, int *value)
{
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED: *value = capability() >= 90; return true;
    case CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT: *value = capability() >= 90 ? 4 : 1; return true;
    case CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO: *value = float_to_double(); return true;
    default: return false;
    }
}

// The runtime's attributes have the same numbers.
CUresult attribute_of(CUdevice_attribute attribute, int *value)
{
    for (const Constant &each : constants)
        if (each.attribute == attribute) {
            *value = each.value;
            return CUDA_SUCCESS;
        }
    return value_by_capability(attribute, value) ? CUDA_SUCCESS : as(cudaDeviceGetAttribute(value, (cudaDeviceAttr)attribute, 0));
}

int attribute(CUdevice_attribute which)
{
    int value = 0;
    attribute_of(which, &value);
    return value;
}

// `how` is about the device, which it has checked.
template <typename How> CUresult about(CUdevice device, bool has_places, How how)
{
    return driver_call<Needs::cu_init>([=] {
        if (device)
            return CUDA_ERROR_INVALID_DEVICE;
        return has_places ? how() : CUDA_ERROR_INVALID_VALUE;
    });
}

void give_text(char *to, int nbytes, const char *text) { snprintf(to, (size_t)nbytes, "%s", text); }

CUresult properties_of(CUdevprop *to)
{
    const CUdevprop found = {
        attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        {attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X), attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
         attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)},
        {attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y), attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)},
        attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
        attribute(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
        attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE),
        attribute(CU_DEVICE_ATTRIBUTE_MAX_PITCH),
        attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
        attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
        attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT),
    };
    *to = found;
    return CUDA_SUCCESS;
}

// "0000:01:00.0", also without its domain or its function.
bool is_bus(const char *text)
{
    unsigned domain = 0, bus = 0, device = 0, function = 0;
    if (sscanf(text, "%x:%x:%x.%x", &domain, &bus, &device, &function) < 3) {
        domain = function = 0;
        if (sscanf(text, "%x:%x.%x", &bus, &device, &function) < 2)
            return false;
    }
    return !domain && bus == 1 && !device && !function;
}

} // namespace

extern "C" {
CUresult cuDriverGetVersion(int *version)
{
    return driver_call<Needs::nothing>([=] { return version ? as(cudaDriverGetVersion(version)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    return about(ordinal, device, [=] {
        *device = 0;
        return CUDA_SUCCESS;
    });
}
CUresult cuDeviceGetCount(int *n)
{
    return driver_call<Needs::cu_init>([=] { return n ? as(cudaGetDeviceCount(n)) : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuDeviceGetName(char *name, int nbytes, CUdevice device)
{
    return about(device, name && nbytes > 0, [=] {
        cudaDeviceProp known;
        const CUresult error = as(cudaGetDeviceProperties(&known, 0));
        if (!error)
            give_text(name, nbytes, known.name);
        return error;
    });
}
// It is made of the name: two cards of one kind have the same.
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    return about(device, uuid, [=] {
        cudaDeviceProp known;
        const CUresult error = as(cudaGetDeviceProperties(&known, 0));
        unsigned long long hash = 0xcbf29ce484222325ull; // FNV-1a
        for (size_t i = 0; !error && i < sizeof uuid->bytes; ++i) {
            for (const char *each = known.name; *each; ++each)
                hash = (hash ^ (unsigned char)*each) * 0x100000001b3ull;
            uuid->bytes[i] = (char)(hash >> 32);
        }
        return error;
    });
}
CUresult cuDeviceTotalMem(size_t *nbytes, CUdevice device)
{
    return about(device, nbytes, [=] {
        cudaDeviceProp known;
        const CUresult error = as(cudaGetDeviceProperties(&known, 0));
        if (!error)
            *nbytes = known.totalGlobalMem;
        return error;
    });
}
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    return about(device, value, [=] { return attribute_of(attribute, value); });
}
CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    return about(device, major && minor, [=] {
        *major = capability() / 10;
        *minor = capability() % 10;
        return CUDA_SUCCESS;
    });
}
CUresult cuDeviceGetProperties(CUdevprop *properties, CUdevice device)
{
    return about(device, properties, [=] { return properties_of(properties); });
}
CUresult cuDeviceGetPCIBusId(char *bus, int nbytes, CUdevice device)
{
    return about(device, bus && nbytes > 0, [=] { return cudaDeviceGetPCIBusId(bus, nbytes, 0) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; });
}
CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *bus)
{
    return driver_call<Needs::cu_init>([=] {
        if (!device || !bus)
            return CUDA_ERROR_INVALID_VALUE;
        if (!is_bus(bus))
            return CUDA_ERROR_INVALID_DEVICE;
        *device = 0;
        return CUDA_SUCCESS;
    });
}
CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *most, CUarray_format, unsigned int channels, CUdevice device)
{
    const bool is_form = most && (channels == 1 || channels == 2 || channels == 4);
    return about(device, is_form, [=] {
        *most = (size_t)attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH);
        return CUDA_SUCCESS;
    });
}
CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    return about(device || peer, can, [=] { return as(cudaDeviceCanAccessPeer(can, device, peer)); });
}
CUresult cuProfilerStart(void)
{
    return driver_call([] { return cudaProfilerStart(); });
}
CUresult cuProfilerStop(void)
{
    return driver_call([] { return cudaProfilerStop(); });
}
}
