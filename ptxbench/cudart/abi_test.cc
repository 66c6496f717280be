// SPDX-License-Identifier: Apache-2.0

// Holds abi.h against CUDA's own headers. The comparison happens at compile time; without the
// headers the test says so and skips.
#include "ptxbench/cudart/abi.h"

#include <gtest/gtest.h>

#if __has_include(<cuda_runtime_api.h>) && __has_include(<cuda.h>)
#include <cuda.h>
#include <cuda_runtime_api.h>

namespace weft::cudart::abi {

#define SAME_SIZE(ours, theirs) static_assert(sizeof(ours) == sizeof(theirs))
#define SAME_PLACE(ours, our_member, theirs, their_member) \
  static_assert(offsetof(ours, our_member) == offsetof(theirs, their_member))

static_assert(kVersion == CUDART_VERSION && kVersion == CUDA_VERSION);
SAME_SIZE(Dim3, dim3);
SAME_SIZE(Extent, cudaExtent);
SAME_SIZE(Position, cudaPos);
SAME_SIZE(PitchedPointer, cudaPitchedPtr);
SAME_SIZE(ChannelFormat, cudaChannelFormatDesc);
SAME_SIZE(Location, cudaMemLocation);
SAME_SIZE(Copy3D, cudaMemcpy3DParms);
SAME_PLACE(Copy3D, target_array, cudaMemcpy3DParms, dstArray);
SAME_PLACE(Copy3D, kind, cudaMemcpy3DParms, kind);
SAME_SIZE(CopyNode, cudaMemcpyNodeParams);
SAME_SIZE(PeerCopy3D, cudaMemcpy3DPeerParms);
SAME_PLACE(PeerCopy3D, extent, cudaMemcpy3DPeerParms, extent);
SAME_SIZE(Fill, cudaMemsetParams);
SAME_PLACE(Fill, width, cudaMemsetParams, width);
SAME_SIZE(Fill, CUDA_MEMSET_NODE_PARAMS);
SAME_SIZE(HostCall, cudaHostNodeParams);
SAME_SIZE(PointerAttributes, cudaPointerAttributes);
SAME_PLACE(PointerAttributes, host_pointer, cudaPointerAttributes, hostPointer);
SAME_SIZE(FunctionAttributes, cudaFuncAttributes);
SAME_PLACE(FunctionAttributes, max_dynamic_shared_bytes, cudaFuncAttributes,
           maxDynamicSharedSizeBytes);
SAME_PLACE(FunctionAttributes, non_portable_cluster_allowed, cudaFuncAttributes,
           nonPortableClusterSizeAllowed);
SAME_SIZE(PoolProperties, cudaMemPoolProps);
SAME_PLACE(PoolProperties, max_size, cudaMemPoolProps, maxSize);
SAME_SIZE(AccessDescription, cudaMemAccessDesc);
SAME_SIZE(AllocationNode, cudaMemAllocNodeParams);
SAME_PLACE(AllocationNode, pointer, cudaMemAllocNodeParams, dptr);
SAME_SIZE(KernelNode, cudaKernelNodeParams);
SAME_SIZE(KernelNode, cudaKernelNodeParamsV2);
SAME_PLACE(KernelNode, extra, cudaKernelNodeParams, extra);
SAME_SIZE(ChildGraphNode, cudaChildGraphNodeParams);
SAME_SIZE(ConditionalNode, cudaConditionalNodeParams);
SAME_SIZE(NodeParameters, cudaGraphNodeParams);
SAME_PLACE(NodeParameters, kernel, cudaGraphNodeParams, kernel);
SAME_SIZE(NodeParameters, CUgraphNodeParams);
SAME_SIZE(EdgeData, cudaGraphEdgeData);
SAME_SIZE(UpdateResult, cudaGraphExecUpdateResultInfo);
SAME_SIZE(InstantiateParameters, cudaGraphInstantiateParams);
SAME_SIZE(AttributeValue, cudaLaunchAttributeValue);
SAME_SIZE(LaunchAttribute, cudaLaunchAttribute);
SAME_PLACE(LaunchAttribute, value, cudaLaunchAttribute, val);
SAME_SIZE(LaunchAttribute, CUlaunchAttribute);
SAME_SIZE(LaunchConfiguration, cudaLaunchConfig_t);
SAME_PLACE(LaunchConfiguration, attributes, cudaLaunchConfig_t, attrs);
SAME_SIZE(ResourceDescription, cudaResourceDesc);
SAME_PLACE(ResourceDescription, flags, cudaResourceDesc, flags);
SAME_SIZE(ResourceView, cudaResourceViewDesc);
SAME_SIZE(TextureDescription, cudaTextureDesc);
SAME_PLACE(TextureDescription, max_mipmap, cudaTextureDesc, maxMipmapLevelClamp);
SAME_SIZE(DeviceProperties, cudaDeviceProp);
SAME_PLACE(DeviceProperties, total_global_memory, cudaDeviceProp, totalGlobalMem);
SAME_PLACE(DeviceProperties, multiprocessors, cudaDeviceProp, multiProcessorCount);
SAME_PLACE(DeviceProperties, max_surface_1d, cudaDeviceProp, maxSurface1D);
SAME_PLACE(DeviceProperties, concurrent_kernels, cudaDeviceProp, concurrentKernels);
SAME_PLACE(DeviceProperties, memory_bus_width, cudaDeviceProp, memoryBusWidth);
SAME_PLACE(DeviceProperties, shared_per_multiprocessor, cudaDeviceProp, sharedMemPerMultiprocessor);
SAME_PLACE(DeviceProperties, cooperative_launch, cudaDeviceProp, cooperativeLaunch);
SAME_PLACE(DeviceProperties, shared_per_block_optin, cudaDeviceProp, sharedMemPerBlockOptin);
SAME_PLACE(DeviceProperties, reserved_shared_per_block, cudaDeviceProp, reservedSharedMemPerBlock);
SAME_PLACE(DeviceProperties, memory_pools, cudaDeviceProp, memoryPoolsSupported);
SAME_PLACE(DeviceProperties, cluster_launch, cudaDeviceProp, clusterLaunch);
SAME_PLACE(DeviceProperties, host_numa_id, cudaDeviceProp, hostNumaId);
SAME_PLACE(DeviceProperties, reserved, cudaDeviceProp, reserved);
SAME_SIZE(DriverCopy2D, CUDA_MEMCPY2D);
SAME_PLACE(DriverCopy2D, target_type, CUDA_MEMCPY2D, dstMemoryType);
SAME_SIZE(DriverCopy3D, CUDA_MEMCPY3D);
SAME_PLACE(DriverCopy3D, target_pitch, CUDA_MEMCPY3D, dstPitch);
SAME_SIZE(DriverArray, CUDA_ARRAY_DESCRIPTOR);
SAME_SIZE(DriverArray3D, CUDA_ARRAY3D_DESCRIPTOR);
SAME_SIZE(DriverLaunch, CUlaunchConfig);
SAME_PLACE(DriverLaunch, attributes, CUlaunchConfig, attrs);
SAME_SIZE(DriverKernelNode, CUDA_KERNEL_NODE_PARAMS);
SAME_PLACE(DriverKernelNode, kernel, CUDA_KERNEL_NODE_PARAMS, kern);
SAME_SIZE(AllocationProperties, CUmemAllocationProp);
SAME_SIZE(ResourceDescription, CUDA_RESOURCE_DESC);

#define SAME_NUMBER(ours, theirs) static_assert(int{ours} == static_cast<int>(theirs))
SAME_NUMBER(kMaxDynamicShared, cudaFuncAttributeMaxDynamicSharedMemorySize);
SAME_NUMBER(kClusterSchedulingPolicy, cudaFuncAttributeClusterSchedulingPolicyPreference);
SAME_NUMBER(kRecordEventNode, cudaGraphNodeTypeEventRecord);
SAME_NUMBER(kConditionalNode, cudaGraphNodeTypeConditional);
SAME_NUMBER(kAttributeClusterDimension, cudaLaunchAttributeClusterDimension);
SAME_NUMBER(kAttributeProgrammaticSerialization,
            cudaLaunchAttributeProgrammaticStreamSerialization);
SAME_NUMBER(kAttributePreferredCarveout, cudaLaunchAttributePreferredSharedMemoryCarveout);

TEST(Abi, AgreesWithTheVendorsHeaders) {
  SUCCEED() << "checked at compile time";
}

}  // namespace weft::cudart::abi
#else
TEST(Abi, AgreesWithTheVendorsHeaders) {
  GTEST_SKIP() << "CUDA's headers are not installed";
}
#endif
