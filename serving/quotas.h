// What one session may hold and take.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "serving/tenant_account.h"

namespace burn::serving {

// What one session may hold at most; beyond it the call fails with RESOURCE_EXHAUSTED, and the session lives.
struct Quotas {
  std::uint64_t tensor_bytes = std::uint64_t{1} << 40;
  std::uint64_t tensors = 1 << 20;
  std::uint64_t programs = 1 << 16;
  std::uint64_t program_entries = 1 << 22;              // nodes, inputs and operands of all its programs
  std::uint64_t in_flight = 1024;                       // ordered calls waiting; one more blocks its caller
  std::uint64_t queue_bytes = std::uint64_t{64} << 20;  // of calls waiting, beside what is to be written
  // What one run may compute, as ir::estimated_work() has it: a program beyond it is refused. The default takes a core
  // most of a day.
  double program_work = 0x1p46;
  // After which a run ends with DEADLINE_EXCEEDED, where the device can end one or leave it behind (not on GPUs); 0:
  // never.
  std::chrono::milliseconds run_timeout{0};
  // Bytes of tensors waiting to be written; a write() of more blocks its caller, if any wait. Counts as at least what
  // in_flight small tensors may have (proto::kInlineBytes each): a connection does not wait for those.
  std::uint64_t waiting_bytes = std::uint64_t{256} << 20;
  // Whose session it is: its tensors count with the tenant's, and its runs wait for their turn among tenants'. Null: no
  // tenant's.
  std::shared_ptr<TenantAccount> tenant = nullptr;
};

}  // namespace burn::serving
