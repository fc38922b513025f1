// What the sessions of one tenant share in this process: a limit on the bytes of their tensors, their weight and
// priority on devices shared with other tenants (fair_gate.h), and their use of both.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "base/status.h"

namespace burn::serving {

// Priority class: runs of a higher class begin first when several tenants wait for a device.
enum class TenantClass : std::uint8_t { high, normal, low };

// Thread-safe.
class TenantAccount {
 public:
  static constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
  struct Limits {
    std::uint64_t memory = kUnlimited;  // bytes of tensors, of all its sessions on all devices
    unsigned weight = 1;                // relative share of a device's time within its class
    TenantClass priority = TenantClass::normal;
  };

  explicit TenantAccount(std::string name) : name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  // Memory in use beyond a lowered limit is not freed.
  void set(const Limits& limits) {
    limit_ = limits.memory;
    weight_ = limits.weight;
    priority_ = limits.priority;
  }
  unsigned weight() const { return weight_; }
  TenantClass priority() const { return priority_; }

  // Errors: RESOURCE_EXHAUSTED with the numbers; nothing is charged then.
  Status take(std::uint64_t bytes);
  void give(std::uint64_t bytes) { in_use_ -= bytes; }
  std::uint64_t in_use() const { return in_use_; }

  void count_device(std::chrono::nanoseconds time) { device_ += time.count(); }
  void count_queue(std::chrono::nanoseconds time) { queue_ += time.count(); }
  // Time spent on runs, and time that runs waited for other tenants' runs.
  std::chrono::nanoseconds device() const { return std::chrono::nanoseconds{device_}; }
  std::chrono::nanoseconds queue() const { return std::chrono::nanoseconds{queue_}; }
  std::uint64_t refused() const { return refused_; }  // times that take() failed

 private:
  const std::string name_;
  std::atomic<std::uint64_t> limit_ = kUnlimited, in_use_ = 0, refused_ = 0;
  std::atomic<unsigned> weight_ = 1;
  std::atomic<TenantClass> priority_ = TenantClass::normal;
  std::atomic<std::int64_t> device_ = 0, queue_ = 0;  // ns
};

}  // namespace burn::serving
