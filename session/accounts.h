// The accounts of a session on a backend, which connect a serving::Budget to the device's memory.
#pragma once

#include <memory>
#include <utility>

#include "backends/backend.h"
#include "serving/budget.h"

namespace burn::session {

// The host memory that the backend counts. The backend must outlive it.
class BackendAccount final : public serving::HostAccount {
 public:
  explicit BackendAccount(backends::Backend& backend) : backend_(backend) {}
  Status take_host(std::uint64_t bytes) override { return backend_.take_host(bytes); }
  void give_host(std::uint64_t bytes) override { backend_.give_host(bytes); }

 private:
  backends::Backend& backend_;
};

// A share that lives as long as a buffer: for a tensor that its session released while it is still being read.
class BufferCharge final : public backends::Buffer::Charge {
 public:
  BufferCharge(std::shared_ptr<serving::Budget> budget, serving::Budget::Share share)
      : budget_(std::move(budget)), share_(std::move(share)) {}

 private:
  const std::shared_ptr<serving::Budget> budget_;  // outlives the share
  const serving::Budget::Share share_;
};

}  // namespace burn::session
