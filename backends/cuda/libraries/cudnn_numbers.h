// Enumerators that cuDNN's headers have since 9.8 and 9.13, as numbers, so that older headers suffice for the build.
#pragma once

#include <cudnn.h>

namespace burn::backends::cuda::dnn {

// Since 9.8: descriptions of devices.
inline constexpr auto kDevice = static_cast<cudnnBackendDescriptorType_t>(38);
inline constexpr auto kDeviceJson = static_cast<cudnnBackendAttributeName_t>(2702);
inline constexpr auto kHeuristicsDevice = static_cast<cudnnBackendAttributeName_t>(204);
inline constexpr auto kPlanDevice = static_cast<cudnnBackendAttributeName_t>(407);
// Since 9.13: attention as one operation.
inline constexpr auto kAttention = static_cast<cudnnBackendDescriptorType_t>(41);
inline constexpr auto kAttentionQ = static_cast<cudnnBackendAttributeName_t>(2800);
inline constexpr auto kAttentionK = static_cast<cudnnBackendAttributeName_t>(2801);
inline constexpr auto kAttentionV = static_cast<cudnnBackendAttributeName_t>(2802);
inline constexpr auto kAttentionY = static_cast<cudnnBackendAttributeName_t>(2803);
inline constexpr auto kAttentionStatistics = static_cast<cudnnBackendAttributeName_t>(2804);
inline constexpr auto kAttentionScale = static_cast<cudnnBackendAttributeName_t>(2805);

#if CUDNN_VERSION >= 91301
static_assert(kDevice == CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
static_assert(kDeviceJson == CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION);
static_assert(kHeuristicsDevice == CUDNN_ATTR_ENGINEHEUR_DEVICEPROP);
static_assert(kPlanDevice == CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP);
static_assert(kAttention == CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR);
static_assert(kAttentionQ == CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC);
static_assert(kAttentionK == CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC);
static_assert(kAttentionV == CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC);
static_assert(kAttentionY == CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC);
static_assert(kAttentionStatistics == CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC);
static_assert(kAttentionScale == CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC);
#endif

}  // namespace burn::backends::cuda::dnn
