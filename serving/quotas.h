// The limits of one session.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "serving/tenant_account.h"

namespace burn::serving {

// Limits of one session; beyond them the call fails with RESOURCE_EXHAUSTED, and the session continues.
struct Quotas {
  std::uint64_t tensor_bytes = std::uint64_t{1} << 40;
  std::uint64_t tensors = 1 << 20;
  std::uint64_t programs = 1 << 16;
  std::uint64_t program_entries = 1 << 22;              // nodes, inputs and operands of all its programs
  std::uint64_t in_flight = 1024;                       // ordered calls waiting; one more blocks its caller
  std::uint64_t queue_bytes = std::uint64_t{64} << 20;  // of waiting calls, without the tensors to be written
  // The most that one run may compute, by ir::estimated_work(): larger programs are refused. The default takes a core
  // most of a day.
  double program_work = 0x1p46;
  // Time after which a run ends with DEADLINE_EXCEEDED, if the device can interrupt or abandon it (not on GPUs); 0:
  // unlimited.
  std::chrono::milliseconds run_timeout{0};
  // Bytes of tensors waiting to be written; a write() beyond it blocks its caller, if any tensor waits. At least
  // in_flight * proto::kInlineBytes is allowed: a connection does not wait for small tensors.
  std::uint64_t waiting_bytes = std::uint64_t{256} << 20;
  // The session's tenant: its tensors count for the tenant, and its runs are scheduled among the tenants'. Null: no
  // tenant.
  std::shared_ptr<TenantAccount> tenant = nullptr;
};

}  // namespace burn::serving
