// The forms of the driver's calls: the name that cuGetProcAddress knows each by, the function, and the release of CUDA that
// brought it, as CUDA_VERSION has it.
#pragma once

#define GPUPROF_DRIVER_CALLS(DO) \
    DO(cuGetErrorString, cuGetErrorString, 6000) DO(cuGetErrorName, cuGetErrorName, 6000) DO(cuInit, cuInit, 2000)                         \
    DO(cuDriverGetVersion, cuDriverGetVersion, 2020) DO(cuDeviceGet, cuDeviceGet, 2000) DO(cuDeviceGetCount, cuDeviceGetCount, 2000)       \
    DO(cuDeviceGetName, cuDeviceGetName, 2000) DO(cuDeviceGetUuid, cuDeviceGetUuid, 9020) DO(cuDeviceTotalMem, cuDeviceTotalMem, 3020)     \
    DO(cuDeviceGetTexture1DLinearMaxWidth, cuDeviceGetTexture1DLinearMaxWidth, 11010)                                                      \
    DO(cuDeviceGetAttribute, cuDeviceGetAttribute, 2000) DO(cuDeviceSetMemPool, cuDeviceSetMemPool, 11020)                                 \
    DO(cuDeviceGetMemPool, cuDeviceGetMemPool, 11020) DO(cuDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool, 11020)                      \
    DO(cuDeviceGetProperties, cuDeviceGetProperties, 2000) DO(cuDeviceComputeCapability, cuDeviceComputeCapability, 2000)                  \
    DO(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain, 7000) DO(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease, 11000)           \
    DO(cuDevicePrimaryCtxSetFlags, cuDevicePrimaryCtxSetFlags, 11000) DO(cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState, 7000)     \
    DO(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset, 11000) DO(cuCtxCreate, cuCtxCreate, 12050) DO(cuCtxDestroy, cuCtxDestroy, 4000)   \
    DO(cuCtxPushCurrent, cuCtxPushCurrent, 4000) DO(cuCtxPopCurrent, cuCtxPopCurrent, 4000) DO(cuCtxSetCurrent, cuCtxSetCurrent, 4000)     \
    DO(cuCtxGetCurrent, cuCtxGetCurrent, 4000) DO(cuCtxGetDevice, cuCtxGetDevice, 2000) DO(cuCtxGetFlags, cuCtxGetFlags, 7000)             \
    DO(cuCtxSetFlags, cuCtxSetFlags, 12010) DO(cuCtxGetId, cuCtxGetId, 12000) DO(cuCtxSynchronize, cuCtxSynchronize, 2000)                 \
    DO(cuCtxSetLimit, cuCtxSetLimit, 3010) DO(cuCtxGetLimit, cuCtxGetLimit, 3010) DO(cuCtxGetCacheConfig, cuCtxGetCacheConfig, 3020)       \
    DO(cuCtxSetCacheConfig, cuCtxSetCacheConfig, 3020) DO(cuCtxGetApiVersion, cuCtxGetApiVersion, 3020)                                    \
    DO(cuCtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange, 5050)                                                                     \
    DO(cuCtxResetPersistingL2Cache, cuCtxResetPersistingL2Cache, 11000) DO(cuCtxGetExecAffinity, cuCtxGetExecAffinity, 11040)              \
    DO(cuCtxAttach, cuCtxAttach, 2000) DO(cuCtxDetach, cuCtxDetach, 2000) DO(cuCtxGetSharedMemConfig, cuCtxGetSharedMemConfig, 4020)       \
    DO(cuCtxSetSharedMemConfig, cuCtxSetSharedMemConfig, 4020) DO(cuModuleLoad, cuModuleLoad, 2000)                                        \
    DO(cuModuleLoadData, cuModuleLoadData, 2000) DO(cuModuleLoadDataEx, cuModuleLoadDataEx, 2010)                                          \
    DO(cuModuleLoadFatBinary, cuModuleLoadFatBinary, 2000) DO(cuModuleUnload, cuModuleUnload, 2000)                                        \
    DO(cuModuleGetLoadingMode, cuModuleGetLoadingMode, 11070) DO(cuModuleGetFunction, cuModuleGetFunction, 2000)                           \
    DO(cuModuleGetFunctionCount, cuModuleGetFunctionCount, 12040) DO(cuModuleEnumerateFunctions, cuModuleEnumerateFunctions, 12040)        \
    DO(cuModuleGetGlobal, cuModuleGetGlobal, 3020) DO(cuLinkCreate, cuLinkCreate, 6050) DO(cuLinkAddData, cuLinkAddData, 6050)             \
    DO(cuLinkAddFile, cuLinkAddFile, 6050) DO(cuLinkComplete, cuLinkComplete, 5050) DO(cuLinkDestroy, cuLinkDestroy, 5050)                 \
    DO(cuLibraryLoadData, cuLibraryLoadData, 12000) DO(cuLibraryLoadFromFile, cuLibraryLoadFromFile, 12000)                                \
    DO(cuLibraryUnload, cuLibraryUnload, 12000) DO(cuLibraryGetKernel, cuLibraryGetKernel, 12000)                                          \
    DO(cuLibraryGetKernelCount, cuLibraryGetKernelCount, 12040) DO(cuLibraryEnumerateKernels, cuLibraryEnumerateKernels, 12040)            \
    DO(cuLibraryGetModule, cuLibraryGetModule, 12000) DO(cuKernelGetFunction, cuKernelGetFunction, 12000)                                  \
    DO(cuKernelGetLibrary, cuKernelGetLibrary, 12050) DO(cuLibraryGetGlobal, cuLibraryGetGlobal, 12000)                                    \
    DO(cuLibraryGetManaged, cuLibraryGetManaged, 12000) DO(cuKernelGetAttribute, cuKernelGetAttribute, 12000)                              \
    DO(cuKernelSetAttribute, cuKernelSetAttribute, 12000) DO(cuKernelSetCacheConfig, cuKernelSetCacheConfig, 12000)                        \
    DO(cuKernelGetName, cuKernelGetName, 12030) DO(cuKernelGetParamInfo, cuKernelGetParamInfo, 12040)                                      \
    DO(cuMemGetInfo, cuMemGetInfo, 3020) DO(cuMemAlloc, cuMemAlloc, 3020) DO(cuMemAllocPitch, cuMemAllocPitch, 3020)                       \
    DO(cuMemFree, cuMemFree, 3020) DO(cuMemGetAddressRange, cuMemGetAddressRange, 3020) DO(cuMemAllocHost, cuMemAllocHost, 3020)           \
    DO(cuMemFreeHost, cuMemFreeHost, 2000) DO(cuMemHostAlloc, cuMemHostAlloc, 2020)                                                        \
    DO(cuMemHostGetDevicePointer, cuMemHostGetDevicePointer, 3020) DO(cuMemHostGetFlags, cuMemHostGetFlags, 2030)                          \
    DO(cuMemAllocManaged, cuMemAllocManaged, 6000) DO(cuDeviceGetByPCIBusId, cuDeviceGetByPCIBusId, 4010)                                  \
    DO(cuDeviceGetPCIBusId, cuDeviceGetPCIBusId, 4010) DO(cuMemHostRegister, cuMemHostRegister, 6050)                                      \
    DO(cuMemHostUnregister, cuMemHostUnregister, 4000) DO(cuMemcpy, cuMemcpy, 4000) DO(cuMemcpyPeer, cuMemcpyPeer, 4000)                   \
    DO(cuMemcpyHtoD, cuMemcpyHtoD, 3020) DO(cuMemcpyDtoH, cuMemcpyDtoH, 3020) DO(cuMemcpyDtoD, cuMemcpyDtoD, 3020)                         \
    DO(cuMemcpyDtoA, cuMemcpyDtoA, 3020) DO(cuMemcpyAtoD, cuMemcpyAtoD, 3020) DO(cuMemcpyHtoA, cuMemcpyHtoA, 3020)                         \
    DO(cuMemcpyAtoH, cuMemcpyAtoH, 3020) DO(cuMemcpyAtoA, cuMemcpyAtoA, 3020) DO(cuMemcpy2D, cuMemcpy2D, 3020)                             \
    DO(cuMemcpy2DUnaligned, cuMemcpy2DUnaligned, 3020) DO(cuMemcpy3D, cuMemcpy3D, 3020) DO(cuMemcpyAsync, cuMemcpyAsync, 4000)             \
    DO(cuMemcpyPeerAsync, cuMemcpyPeerAsync, 4000) DO(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync, 3020)                                          \
    DO(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync, 3020) DO(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync, 3020)                                          \
    DO(cuMemcpyHtoAAsync, cuMemcpyHtoAAsync, 3020) DO(cuMemcpyAtoHAsync, cuMemcpyAtoHAsync, 3020)                                          \
    DO(cuMemcpy2DAsync, cuMemcpy2DAsync, 3020) DO(cuMemcpy3DAsync, cuMemcpy3DAsync, 3020)                                                  \
    DO(cuMemcpyBatchAsync, cuMemcpyBatchAsync, 13000) DO(cuMemsetD8, cuMemsetD8, 3020) DO(cuMemsetD16, cuMemsetD16, 3020)                  \
    DO(cuMemsetD32, cuMemsetD32, 3020) DO(cuMemsetD2D8, cuMemsetD2D8, 3020) DO(cuMemsetD2D16, cuMemsetD2D16, 3020)                         \
    DO(cuMemsetD2D32, cuMemsetD2D32, 3020) DO(cuMemsetD8Async, cuMemsetD8Async, 3020) DO(cuMemsetD16Async, cuMemsetD16Async, 3020)         \
    DO(cuMemsetD32Async, cuMemsetD32Async, 3020) DO(cuMemsetD2D8Async, cuMemsetD2D8Async, 3020)                                            \
    DO(cuMemsetD2D16Async, cuMemsetD2D16Async, 3020) DO(cuMemsetD2D32Async, cuMemsetD2D32Async, 3020)                                      \
    DO(cuArrayCreate, cuArrayCreate, 3020) DO(cuArrayGetDescriptor, cuArrayGetDescriptor, 3020) DO(cuArrayDestroy, cuArrayDestroy, 2000)   \
    DO(cuArray3DCreate, cuArray3DCreate, 3020) DO(cuArray3DGetDescriptor, cuArray3DGetDescriptor, 3020)                                    \
    DO(cuMipmappedArrayCreate, cuMipmappedArrayCreate, 5000) DO(cuMipmappedArrayGetLevel, cuMipmappedArrayGetLevel, 5000)                  \
    DO(cuMipmappedArrayDestroy, cuMipmappedArrayDestroy, 5000) DO(cuMemAddressReserve, cuMemAddressReserve, 10020)                         \
    DO(cuMemAddressFree, cuMemAddressFree, 10020) DO(cuMemCreate, cuMemCreate, 10020) DO(cuMemRelease, cuMemRelease, 10020)                \
    DO(cuMemMap, cuMemMap, 10020) DO(cuMemUnmap, cuMemUnmap, 10020) DO(cuMemSetAccess, cuMemSetAccess, 10020)                              \
    DO(cuMemGetAccess, cuMemGetAccess, 10020) DO(cuMemGetAllocationGranularity, cuMemGetAllocationGranularity, 10020)                      \
    DO(cuMemGetAllocationPropertiesFromHandle, cuMemGetAllocationPropertiesFromHandle, 10020)                                              \
    DO(cuMemRetainAllocationHandle, cuMemRetainAllocationHandle, 11000) DO(cuMemFreeAsync, cuMemFreeAsync, 11020)                          \
    DO(cuMemAllocAsync, cuMemAllocAsync, 11020) DO(cuMemPoolTrimTo, cuMemPoolTrimTo, 11020)                                                \
    DO(cuMemPoolSetAttribute, cuMemPoolSetAttribute, 11020) DO(cuMemPoolGetAttribute, cuMemPoolGetAttribute, 11020)                        \
    DO(cuMemPoolSetAccess, cuMemPoolSetAccess, 11020) DO(cuMemPoolGetAccess, cuMemPoolGetAccess, 11020)                                    \
    DO(cuMemPoolCreate, cuMemPoolCreate, 11020) DO(cuMemPoolDestroy, cuMemPoolDestroy, 11020)                                              \
    DO(cuMemAllocFromPoolAsync, cuMemAllocFromPoolAsync, 11020) DO(cuPointerGetAttribute, cuPointerGetAttribute, 4000)                     \
    DO(cuMemPrefetchAsync, cuMemPrefetchAsync, 12020) DO(cuMemAdvise, cuMemAdvise, 12020)                                                  \
    DO(cuMemRangeGetAttribute, cuMemRangeGetAttribute, 8000) DO(cuMemRangeGetAttributes, cuMemRangeGetAttributes, 8000)                    \
    DO(cuPointerSetAttribute, cuPointerSetAttribute, 6000) DO(cuPointerGetAttributes, cuPointerGetAttributes, 7000)                        \
    DO(cuStreamCreate, cuStreamCreate, 2000) DO(cuStreamCreateWithPriority, cuStreamCreateWithPriority, 5050)                              \
    DO(cuStreamGetPriority, cuStreamGetPriority, 5050) DO(cuStreamGetDevice, cuStreamGetDevice, 12080)                                     \
    DO(cuStreamGetFlags, cuStreamGetFlags, 5050) DO(cuStreamGetId, cuStreamGetId, 12000) DO(cuStreamGetCtx, cuStreamGetCtx, 9020)          \
    DO(cuStreamWaitEvent, cuStreamWaitEvent, 3020) DO(cuStreamAddCallback, cuStreamAddCallback, 5000)                                      \
    DO(cuStreamBeginCapture, cuStreamBeginCapture, 10010) DO(cuStreamEndCapture, cuStreamEndCapture, 10000)                                \
    DO(cuStreamIsCapturing, cuStreamIsCapturing, 10000) DO(cuStreamAttachMemAsync, cuStreamAttachMemAsync, 6000)                           \
    DO(cuStreamQuery, cuStreamQuery, 2000) DO(cuStreamSynchronize, cuStreamSynchronize, 2000) DO(cuStreamDestroy, cuStreamDestroy, 4000)   \
    DO(cuStreamCopyAttributes, cuStreamCopyAttributes, 11000) DO(cuStreamGetAttribute, cuStreamGetAttribute, 11000)                        \
    DO(cuStreamSetAttribute, cuStreamSetAttribute, 11000) DO(cuEventCreate, cuEventCreate, 2000) DO(cuEventRecord, cuEventRecord, 2000)    \
    DO(cuEventRecordWithFlags, cuEventRecordWithFlags, 11010) DO(cuEventQuery, cuEventQuery, 2000)                                         \
    DO(cuEventSynchronize, cuEventSynchronize, 2000) DO(cuEventDestroy, cuEventDestroy, 4000)                                              \
    DO(cuEventElapsedTime, cuEventElapsedTime, 2000) DO(cuStreamWaitValue32, cuStreamWaitValue32, 11070)                                   \
    DO(cuStreamWaitValue64, cuStreamWaitValue64, 11070) DO(cuStreamWriteValue32, cuStreamWriteValue32, 11070)                              \
    DO(cuStreamWriteValue64, cuStreamWriteValue64, 11070) DO(cuStreamBatchMemOp, cuStreamBatchMemOp, 11070)                                \
    DO(cuFuncGetAttribute, cuFuncGetAttribute, 2020) DO(cuFuncSetAttribute, cuFuncSetAttribute, 9000)                                      \
    DO(cuFuncSetCacheConfig, cuFuncSetCacheConfig, 3000) DO(cuFuncGetModule, cuFuncGetModule, 11000)                                       \
    DO(cuFuncGetName, cuFuncGetName, 12030) DO(cuFuncGetParamInfo, cuFuncGetParamInfo, 12040) DO(cuFuncIsLoaded, cuFuncIsLoaded, 12040)    \
    DO(cuFuncLoad, cuFuncLoad, 12040) DO(cuLaunchKernel, cuLaunchKernel, 4000) DO(cuLaunchKernelEx, cuLaunchKernelEx, 11060)               \
    DO(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel, 9000) DO(cuLaunchHostFunc, cuLaunchHostFunc, 10000)                           \
    DO(cuFuncSetBlockShape, cuFuncSetBlockShape, 2000) DO(cuFuncSetSharedSize, cuFuncSetSharedSize, 2000)                                  \
    DO(cuParamSetSize, cuParamSetSize, 2000) DO(cuParamSeti, cuParamSeti, 2000) DO(cuParamSetf, cuParamSetf, 2000)                         \
    DO(cuParamSetv, cuParamSetv, 2000) DO(cuLaunch, cuLaunch, 2000) DO(cuLaunchGrid, cuLaunchGrid, 2000)                                   \
    DO(cuLaunchGridAsync, cuLaunchGridAsync, 2000) DO(cuFuncSetSharedMemConfig, cuFuncSetSharedMemConfig, 4020)                            \
    DO(cuGraphCreate, cuGraphCreate, 10000) DO(cuGraphAddKernelNode, cuGraphAddKernelNode, 12000)                                          \
    DO(cuGraphKernelNodeSetParams, cuGraphKernelNodeSetParams, 12000) DO(cuGraphAddMemcpyNode, cuGraphAddMemcpyNode, 10000)                \
    DO(cuGraphAddMemsetNode, cuGraphAddMemsetNode, 10000) DO(cuGraphMemsetNodeGetParams, cuGraphMemsetNodeGetParams, 10000)                \
    DO(cuGraphMemsetNodeSetParams, cuGraphMemsetNodeSetParams, 10000) DO(cuGraphAddHostNode, cuGraphAddHostNode, 10000)                    \
    DO(cuGraphHostNodeGetParams, cuGraphHostNodeGetParams, 10000) DO(cuGraphHostNodeSetParams, cuGraphHostNodeSetParams, 10000)            \
    DO(cuGraphAddChildGraphNode, cuGraphAddChildGraphNode, 10000) DO(cuGraphChildGraphNodeGetGraph, cuGraphChildGraphNodeGetGraph, 10000)  \
    DO(cuGraphAddEmptyNode, cuGraphAddEmptyNode, 10000) DO(cuGraphAddEventRecordNode, cuGraphAddEventRecordNode, 11010)                    \
    DO(cuGraphEventRecordNodeGetEvent, cuGraphEventRecordNodeGetEvent, 11010)                                                              \
    DO(cuGraphEventRecordNodeSetEvent, cuGraphEventRecordNodeSetEvent, 11010) DO(cuGraphAddEventWaitNode, cuGraphAddEventWaitNode, 11010)  \
    DO(cuGraphEventWaitNodeGetEvent, cuGraphEventWaitNodeGetEvent, 11010)                                                                  \
    DO(cuGraphEventWaitNodeSetEvent, cuGraphEventWaitNodeSetEvent, 11010) DO(cuGraphClone, cuGraphClone, 10000)                            \
    DO(cuGraphNodeFindInClone, cuGraphNodeFindInClone, 10000) DO(cuGraphNodeGetType, cuGraphNodeGetType, 10000)                            \
    DO(cuGraphGetNodes, cuGraphGetNodes, 10000) DO(cuGraphGetRootNodes, cuGraphGetRootNodes, 10000)                                        \
    DO(cuGraphGetEdges, cuGraphGetEdges, 12030) DO(cuGraphNodeGetDependencies, cuGraphNodeGetDependencies, 12030)                          \
    DO(cuGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes, 12030) DO(cuGraphAddDependencies, cuGraphAddDependencies, 12030)        \
    DO(cuGraphRemoveDependencies, cuGraphRemoveDependencies, 12030) DO(cuGraphDestroyNode, cuGraphDestroyNode, 10000)                      \
    DO(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags, 11040)                                                                    \
    DO(cuGraphInstantiateWithParams, cuGraphInstantiateWithParams, 12000) DO(cuGraphExecGetFlags, cuGraphExecGetFlags, 12000)              \
    DO(cuGraphExecKernelNodeSetParams, cuGraphExecKernelNodeSetParams, 12000)                                                              \
    DO(cuGraphExecMemsetNodeSetParams, cuGraphExecMemsetNodeSetParams, 10020)                                                              \
    DO(cuGraphExecHostNodeSetParams, cuGraphExecHostNodeSetParams, 10020)                                                                  \
    DO(cuGraphExecChildGraphNodeSetParams, cuGraphExecChildGraphNodeSetParams, 11010)                                                      \
    DO(cuGraphExecEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent, 11010)                                                      \
    DO(cuGraphExecEventWaitNodeSetEvent, cuGraphExecEventWaitNodeSetEvent, 11010) DO(cuGraphNodeSetEnabled, cuGraphNodeSetEnabled, 11060)  \
    DO(cuGraphNodeGetEnabled, cuGraphNodeGetEnabled, 11060) DO(cuGraphUpload, cuGraphUpload, 11010)                                        \
    DO(cuGraphLaunch, cuGraphLaunch, 10000) DO(cuGraphExecDestroy, cuGraphExecDestroy, 10000) DO(cuGraphDestroy, cuGraphDestroy, 10000)    \
    DO(cuGraphExecUpdate, cuGraphExecUpdate, 12000) DO(cuGraphKernelNodeCopyAttributes, cuGraphKernelNodeCopyAttributes, 11000)            \
    DO(cuGraphKernelNodeGetAttribute, cuGraphKernelNodeGetAttribute, 11000)                                                                \
    DO(cuGraphKernelNodeSetAttribute, cuGraphKernelNodeSetAttribute, 11000)                                                                \
    DO(cuOccupancyMaxActiveBlocksPerMultiprocessor, cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050)                                     \
    DO(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000)                   \
    DO(cuOccupancyMaxPotentialBlockSize, cuOccupancyMaxPotentialBlockSize, 6050)                                                           \
    DO(cuOccupancyMaxPotentialBlockSizeWithFlags, cuOccupancyMaxPotentialBlockSizeWithFlags, 7000)                                         \
    DO(cuOccupancyAvailableDynamicSMemPerBlock, cuOccupancyAvailableDynamicSMemPerBlock, 10020)                                            \
    DO(cuOccupancyMaxPotentialClusterSize, cuOccupancyMaxPotentialClusterSize, 11070)                                                      \
    DO(cuOccupancyMaxActiveClusters, cuOccupancyMaxActiveClusters, 11070) DO(cuTexObjectCreate, cuTexObjectCreate, 5000)                   \
    DO(cuTexObjectDestroy, cuTexObjectDestroy, 5000) DO(cuTexObjectGetResourceDesc, cuTexObjectGetResourceDesc, 5000)                      \
    DO(cuTexObjectGetTextureDesc, cuTexObjectGetTextureDesc, 5000) DO(cuSurfObjectCreate, cuSurfObjectCreate, 5000)                        \
    DO(cuSurfObjectDestroy, cuSurfObjectDestroy, 5000) DO(cuSurfObjectGetResourceDesc, cuSurfObjectGetResourceDesc, 5000)                  \
    DO(cuTensorMapEncodeTiled, cuTensorMapEncodeTiled, 12000) DO(cuTensorMapEncodeIm2col, cuTensorMapEncodeIm2col, 12000)                  \
    DO(cuTensorMapReplaceAddress, cuTensorMapReplaceAddress, 12000) DO(cuDeviceCanAccessPeer, cuDeviceCanAccessPeer, 4000)                 \
    DO(cuCtxEnablePeerAccess, cuCtxEnablePeerAccess, 4000) DO(cuCtxDisablePeerAccess, cuCtxDisablePeerAccess, 4000)                        \
    DO(cuGetProcAddress, cuGetProcAddress, 12000) DO(cuProfilerStart, cuProfilerStart, 4000) DO(cuProfilerStop, cuProfilerStop, 4000)

// Those that a later release has replaced, the oldest of a name first.
#define GPUPROF_OLDER_DRIVER_CALLS(DO) \
    DO(cuCtxCreate, cuCtxCreate_v2, 3020) DO(cuCtxCreate, cuCtxCreate_v3, 11040) DO(cuMemPrefetchAsync, cuMemPrefetchAsync_v1, 8000)       \
    DO(cuMemAdvise, cuMemAdvise_v1, 8000) DO(cuGraphGetEdges, cuGraphGetEdges_v1, 10000)                                                   \
    DO(cuGraphNodeGetDependencies, cuGraphNodeGetDependencies_v1, 10000)                                                                   \
    DO(cuGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes_v1, 10000) DO(cuGraphAddDependencies, cuGraphAddDependencies_v1, 10000)  \
    DO(cuGraphRemoveDependencies, cuGraphRemoveDependencies_v1, 10000)
