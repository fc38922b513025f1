// NCCL without GPUs: notes what it is asked for, and connects, waits and fails as a test says.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "backends/cuda/libraries/nccl.h"

namespace burn::testing {

namespace cuda = backends::cuda;

// One at a time. Communicators are numbers: the rank and one.
class FakeNccl {
 public:
  FakeNccl() { current_ = this; }
  ~FakeNccl() { current_ = nullptr; }
  FakeNccl(const FakeNccl&) = delete;
  FakeNccl& operator=(const FakeNccl&) = delete;

  const cuda::Nccl& table() const { return table_; }

  // What get_async_error says of a member's communicator, once all have begun to connect.
  void set_state(int rank, cuda::NcclResult state) {
    const std::lock_guard lock(mutex_);
    states_[rank] = state;
  }
  void never_connects() {
    const std::lock_guard lock(mutex_);
    connects_ = false;
  }
  // The calls so far, such as "all_gather 12".
  std::vector<std::string> calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  std::vector<std::string> ids() const {
    const std::lock_guard lock(mutex_);
    return ids_;
  }
  std::size_t aborted() const {
    const std::lock_guard lock(mutex_);
    return aborted_;
  }
  bool waits_for_aborts(std::size_t count) const {
    for (int i = 0; i < 500 && aborted() < count; ++i) std::this_thread::sleep_for(std::chrono::milliseconds{10});
    return aborted() == count;
  }

 private:
  using Result = cuda::NcclResult;
  using Comm = cuda::NcclComm;
  using Type = cuda::NcclType;

  static FakeNccl& it() { return *current_; }
  static int rank_of(Comm comm) { return static_cast<int>(reinterpret_cast<std::uintptr_t>(comm)) - 1; }
  static Result note(std::string call) {
    const std::lock_guard lock(it().mutex_);
    it().calls_.push_back(std::move(call));
    return Result::success;
  }
  static cuda::Nccl make_table() {
    cuda::Nccl t;
    t.get_version = [](int* version) { return *version = 22809, Result::success; };
    t.get_unique_id = [](cuda::NcclId* id) {
      std::string_view("an id that rank 0 has made").copy(id->bytes, sizeof id->bytes);
      return Result::success;
    };
    t.init_rank = [](Comm* comm, int size, cuda::NcclId id, int rank, cuda::NcclConfig* config) {
      const std::lock_guard lock(it().mutex_);
      *comm = reinterpret_cast<Comm>(static_cast<std::uintptr_t>(rank) + 1);
      it().size_ = size;
      it().ids_.emplace_back(id.bytes);
      return config->blocking == 0 && config->magic == 0xcafebeef ? Result::in_progress : Result::invalid_argument;
    };
    t.get_async_error = [](Comm comm, Result* state) {
      const std::lock_guard lock(it().mutex_);
      const bool is_connected = it().connects_ && it().ids_.size() == static_cast<std::size_t>(it().size_);
      *state = is_connected ? it().states_[rank_of(comm)] : Result::in_progress;
      return Result::success;
    };
    t.abort = [](Comm) {
      const std::lock_guard lock(it().mutex_);
      ++it().aborted_;
      return Result::success;
    };
    t.all_reduce = [](const void*, void*, std::size_t count, Type type, cuda::NcclFunction fn, Comm, CUstream) {
      return note(fmt::format("all_reduce {} type {} fn {}", count, static_cast<int>(type), static_cast<int>(fn)));
    };
    t.reduce_scatter = [](const void*, void*, std::size_t count, Type, cuda::NcclFunction, Comm, CUstream) {
      return note(fmt::format("reduce_scatter {}", count));
    };
    t.reduce = [](const void*, void*, std::size_t count, Type, cuda::NcclFunction, int root, Comm, CUstream) {
      return note(fmt::format("reduce {} to {}", count, root));
    };
    t.all_gather = [](const void*, void*, std::size_t count, Type, Comm, CUstream) {
      return note(fmt::format("all_gather {}", count));
    };
    t.broadcast = [](const void*, void*, std::size_t count, Type, int root, Comm, CUstream) {
      return note(fmt::format("broadcast {} of {}", count, root));
    };
    t.send = [](const void*, std::size_t count, Type, int peer, Comm, CUstream) {
      return note(fmt::format("send {} to {}", count, peer));
    };
    t.receive = [](void*, std::size_t count, Type, int peer, Comm, CUstream) {
      return note(fmt::format("receive {} of {}", count, peer));
    };
    t.group_start = [] { return note("begin"); };
    t.group_end = [] { return note("end"); };
    t.error_text = [](Result) { return "an error of the fake"; };
    return t;
  }

  static inline FakeNccl* current_ = nullptr;

  const cuda::Nccl table_ = make_table();
  mutable std::mutex mutex_;
  std::vector<std::string> calls_, ids_;
  std::map<int, Result> states_;
  int size_ = 0;
  bool connects_ = true;
  std::size_t aborted_ = 0;
};

}  // namespace burn::testing
