#include "backends/collective/links.h"

#include <mutex>

#include <fmt/format.h>

#include "backends/collective/direct_collective.h"

namespace burn::backends {
namespace {

// The links of a group of one member: none.
class NoLinks final : public Links {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  Result<std::size_t> send(int, std::span<const iovec>) override { return std::size_t{0}; }
  Result<std::size_t> receive(int, std::span<const iovec>) override { return std::size_t{0}; }
  Status wait(std::span<const Wanted>, std::chrono::milliseconds) override { return health(); }
  void abort(const Status& why) override {
    const std::lock_guard lock{mutex_};
    if (why_.ok()) why_ = why;
  }
  void leave(const Status& why) override { abort(why); }
  Status health() const override {
    const std::lock_guard lock{mutex_};
    return why_;
  }

 private:
  mutable std::mutex mutex_;
  Status why_;
};

}  // namespace

Status of_member(int rank, const Status& why) { return why.with_context(fmt::format("member {}", rank)); }
Status member_left(int rank) { return unavailable(fmt::format("member {} left the group", rank)); }

std::shared_ptr<Collective> make_collective_of_one() { return make_direct_collective(std::make_unique<NoLinks>()); }

}  // namespace burn::backends
