// The account of one session: what its tensors take, counted by their types, what a run takes beside them while it
// lasts, and what else it makes the worker keep:
// calls that wait, programs and their plans, tables. Asked before anything is allocated or decoded.
//
// Above it stands the account of all sessions: tensors lie in a device's memory, whose limit the device keeps; the rest
// is counted with a HostAccount, against the memory of the process.
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

// The host's memory that sessions share. Thread-safe.
class HostAccount {
 public:
  virtual ~HostAccount() = default;
  // Errors: RESOURCE_EXHAUSTED, and nothing is taken.
  virtual Status take_host(std::uint64_t bytes) = 0;
  virtual void give_host(std::uint64_t bytes) = 0;
};

// Thread-safe. Outlives its shares: shares of an unknown life hold it by a shared_ptr.
class Budget {
 public:
  // What every session has for its calls and tables without being charged.
  static constexpr std::uint64_t kFree = std::uint64_t{64} << 10;

  // `account`: what the host's part is counted with, too; null: with nothing. Outlives it, or until leave_account().
  // `tenant`: what tensors are counted with, too; may be null.
  explicit Budget(std::uint64_t limit, HostAccount* account = nullptr, std::shared_ptr<TenantAccount> tenant = nullptr)
      : limit_(limit), tenant_(std::move(tenant)), account_(account) {}
  ~Budget() { give_granted(granted_); }
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // A part of the budget, given back at the end of its life.
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
    // The two in one. Requires: of the same budget, if both are of one.
    void join(Share&& other) {
      bytes_ = bytes() + other.bytes();
      if (auto* theirs = std::exchange(other.budget_, nullptr)) budget_ = theirs;
    }
    // A part as a share of its own; less where there is less.
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

  // Of tensors, and of what runs take beside them. Errors: RESOURCE_EXHAUSTED with the numbers.
  Result<Share> take(std::uint64_t bytes);
  // The same of the host's memory.
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
    // So many bytes from now on. Errors: RESOURCE_EXHAUSTED; it is then what it was.
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
  // The session ends: from now on nothing of the host is taken, and the account may go. Tensors' shares may live on.
  void leave_account() {
    const std::lock_guard lock{granting_};
    give_granted(granted_.exchange(0));
    account_ = nullptr;
  }
  // Counts what is too little to be refused.
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
  HostAccount* account_;  // null: left; under granting_
  std::atomic<std::uint64_t> in_use_ = 0, peak_ = 0;
  // Of the host: what is taken; and what the account has granted for it, which goes in large steps, so that
  // sessions do not meet there for every call.
  std::atomic<std::uint64_t> host_ = 0, granted_ = 0;
  std::mutex granting_;
};

}  // namespace burn::serving
