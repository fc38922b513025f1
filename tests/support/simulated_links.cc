#include "tests/support/simulated_links.h"

#include <algorithm>

namespace burn::testing {

class SimulatedGroup::End final : public backends::Links {
 public:
  End(SimulatedGroup& group, int rank) : group_(group), rank_(rank) {
    const std::lock_guard lock{group_.mutex_};
    ++group_.ends_;
  }
  ~End() override {
    const std::lock_guard lock{group_.mutex_};
    group_.end(rank_, backends::member_left(rank_), {});
    --group_.ends_;
    group_.changed_.notify_all();
  }

  int rank() const override { return rank_; }
  int size() const override { return group_.size_; }

  Result<std::size_t> send(int peer, std::span<const iovec> bytes) override {
    const std::lock_guard lock{group_.mutex_};
    BURN_RETURN_IF_ERROR(own().ended);
    if (group_.member(peer).is_gone) return lose(peer);
    auto& stream = group_.pipe(rank_, peer).bytes;
    std::size_t sent = 0;
    for (const auto& piece : bytes) {
      const auto size = std::min({piece.iov_len, group_.capacity_ - stream.size(), own().may_send});
      const auto* const first = static_cast<const std::byte*>(piece.iov_base);
      stream.insert(stream.end(), first, first + size);
      sent += size;
      own().may_send -= own().may_send == ~std::size_t{0} ? 0 : size;
      if (size < piece.iov_len) break;
    }
    if (own().may_send == 0) group_.end(rank_, unavailable("the test has ended this member"), {});
    if (sent > 0) group_.changed_.notify_all();
    return sent;
  }

  Result<std::size_t> receive(int peer, std::span<const iovec> places) override {
    const std::lock_guard lock{group_.mutex_};
    BURN_RETURN_IF_ERROR(own().ended);
    auto& stream = group_.pipe(peer, rank_).bytes;
    if (stream.empty() && group_.member(peer).is_gone) return lose(peer);
    std::size_t received = 0;
    for (const auto& piece : places) {
      const auto size = std::min(piece.iov_len, stream.size());
      std::copy_n(stream.begin(), size, static_cast<std::byte*>(piece.iov_base));
      stream.erase(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(size));
      received += size;
    }
    if (received > 0) group_.changed_.notify_all();
    return received;
  }

  Status wait(std::span<const Wanted> wanted, std::chrono::milliseconds most) override {
    std::unique_lock lock{group_.mutex_};
    const auto may_go_on = [&] {
      if (!own().ended.ok()) return true;
      for (int peer = 0; peer < size(); ++peer) {
        if (peer == rank_) continue;
        auto& there = group_.pipe(rank_, peer);
        const auto& want = wanted[static_cast<std::size_t>(peer)];
        const bool is_gone = group_.member(peer).is_gone;
        if (!there.said.ok()) return true;
        if (want.to_send && (is_gone || there.bytes.size() < group_.capacity_)) return true;
        if (want.to_receive && (is_gone || !group_.pipe(peer, rank_).bytes.empty())) return true;
      }
      return false;
    };
    (void)group_.changed_.wait_for(lock, most, may_go_on);
    for (int peer = 0; peer < size(); ++peer) {
      const auto said = group_.pipe(rank_, peer).said;
      if (!said.ok()) group_.end(rank_, said, said);
    }
    return own().ended;
  }

  void abort(const Status& why) override {
    const std::lock_guard lock{group_.mutex_};
    group_.end(rank_, why, backends::of_member(rank_, why));
  }
  void leave(const Status& why) override {
    const std::lock_guard lock{group_.mutex_};
    group_.end(rank_, why, {});
  }
  Status health() const override {
    const std::lock_guard lock{group_.mutex_};
    return group_.member(rank_).ended;
  }

 private:
  Member& own() { return group_.member(rank_); }
  Status lose(int peer) {
    const auto said = group_.pipe(rank_, peer).said;
    const auto why = said.ok() ? backends::member_left(peer) : said;
    group_.end(rank_, why, why);
    return own().ended;
  }

  SimulatedGroup& group_;
  const int rank_;
};

SimulatedGroup::SimulatedGroup(int size, std::size_t capacity)
    : size_(size),
      capacity_(capacity),
      pipes_(static_cast<std::size_t>(size * size)),
      members_(static_cast<std::size_t>(size)) {}

SimulatedGroup::~SimulatedGroup() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [&] { return ends_ == 0; });
}

std::unique_ptr<backends::Links> SimulatedGroup::links(int rank) { return std::make_unique<End>(*this, rank); }

void SimulatedGroup::vanish(int rank) {
  const std::lock_guard lock{mutex_};
  end(rank, unavailable("the test has ended this member"), {});
}

void SimulatedGroup::vanish_after(int rank, std::size_t bytes) {
  const std::lock_guard lock{mutex_};
  member(rank).may_send = bytes;
}

void SimulatedGroup::end(int rank, const Status& why, const Status& told) {
  if (!member(rank).ended.ok()) return;
  member(rank).ended = why;
  member(rank).is_gone = true;
  for (int peer = 0; peer < size_; ++peer) pipe(peer, rank).said = told;
  changed_.notify_all();
}

}  // namespace burn::testing
