// The account of one session: the bytes of its tensors, computed from their types, of a run's additional memory while
// it lasts, and of everything else that the worker stores for the session: waiting calls, programs and their plans,
// tables. Memory is charged before it is allocated or anything is decoded.
//
// Limits across sessions are separate: a device limits the memory of all tensors; all other memory is also counted in a
// HostAccount, against the memory of the process.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "base/status.h"
#include "serving/tenant_account.h"

namespace burn::serving {

// Accounts for the host memory of all sessions. Thread-safe.
class HostAccount {
 public:
  virtual ~HostAccount() = default;
  // Errors: RESOURCE_EXHAUSTED; nothing is charged then.
  virtual Status take_host(std::uint64_t bytes) = 0;
  virtual void give_host(std::uint64_t bytes) = 0;
};

// Thread-safe. Must outlive its shares: owners of long-lived shares also have a shared_ptr to it.
class Budget {
 public:
  // Bytes for calls and tables that every session has without being charged.
  static constexpr std::uint64_t kFree = std::uint64_t{64} << 10;

  // `account`: also counts the host memory; may be null. Must outlive the Budget, or stay until leave_account().
  // `tenant`: also counts tensors; may be null.
  explicit Budget(std::uint64_t limit, HostAccount* account = nullptr, std::shared_ptr<TenantAccount> tenant = nullptr)
      : limit_(limit), tenant_(std::move(tenant)), account_(account) {}
  ~Budget() { give_granted(granted_); }
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // A charge of some bytes, released by its destructor.
  class Share {
   public:
    Share() = default;
    Share(Budget* budget, std::uint64_t bytes) : budget_(budget), bytes_(bytes) {}
    Share(Share&& other) noexcept : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Share() {
      if (budget_) budget_->give(bytes_);
    }
    std::uint64_t bytes() const { return budget_ ? bytes_ : 0; }
    // Adds `other` to this share. Requires: both belong to the same budget, or one to none.
    void join(Share&& other) {
      bytes_ = bytes() + other.bytes();
      if (auto* theirs = std::exchange(other.budget_, nullptr)) budget_ = theirs;
    }
    // Splits off up to `wanted` bytes as a new share.
    Share split(std::uint64_t wanted) {
      if (!budget_) return {};
      const auto part = std::min(wanted, bytes_);
      bytes_ -= part;
      return {budget_, part};
    }

   private:
    Budget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  // Charges memory of tensors, or additional memory of runs. Errors: RESOURCE_EXHAUSTED with the numbers.
  Result<Share> take(std::uint64_t bytes);
  // A charge of host memory, released by its destructor.
  class HostShare {
   public:
    HostShare() = default;
    HostShare(HostShare&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    HostShare& operator=(HostShare&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~HostShare() {
      if (budget_ && bytes_ > 0) budget_->give_host(bytes_);
    }
    // Changes the charge to `bytes`. Errors: RESOURCE_EXHAUSTED; the charge is then unchanged.
    Status resize(Budget& budget, std::uint64_t bytes);
    std::uint64_t bytes() const { return bytes_; }

   private:
    Budget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };
  Result<HostShare> take_host_share(std::uint64_t bytes) {
    HostShare share;
    BURN_RETURN_IF_ERROR(share.resize(*this, bytes));
    return share;
  }
  Status take_host(std::uint64_t bytes);
  void give_host(std::uint64_t bytes);
  // Call when the session ends: host memory is no longer counted, and the HostAccount may be destroyed. Tensors' shares
  // may live on.
  void leave_account() {
    const std::lock_guard lock{granting_};
    give_granted(granted_.exchange(0));
    account_ = nullptr;
  }
  // Charges an amount that is too small to be refused.
  void add_host(std::uint64_t bytes) { host_.fetch_add(bytes, std::memory_order_relaxed); }

  std::uint64_t limit() const { return limit_; }
  std::uint64_t in_use() const { return in_use_; }  // by tensors
  std::uint64_t peak() const { return peak_; }
  std::uint64_t host() const { return host_.load(std::memory_order_relaxed); }

 private:
  std::uint64_t counted_host() const {
    const auto host = this->host();
    return host > kFree ? host - kFree : 0;
  }
  void give(std::uint64_t bytes) {
    in_use_ -= bytes;
    if (tenant_) tenant_->give(bytes);
  }
  Status refuse(std::uint64_t host) const;
  Status grow_granted(std::uint64_t host);
  void shrink_granted();
  void give_granted(std::uint64_t bytes) {
    if (account_ && bytes > 0) account_->give_host(bytes);
  }

  const std::uint64_t limit_;
  const std::shared_ptr<TenantAccount> tenant_;
  HostAccount* account_;  // null after leave_account(); guarded by granting_
  std::atomic<std::uint64_t> in_use_ = 0, peak_ = 0;
  // Host memory: bytes in use, and bytes charged to account_ for them. The latter change in large steps, so that
  // sessions do not contend for the account at every call.
  std::atomic<std::uint64_t> host_ = 0, granted_ = 0;
  std::mutex granting_;
};

}  // namespace burn::serving
