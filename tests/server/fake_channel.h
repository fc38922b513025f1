// A channel that ends in memory: what a server sends is kept for the test, in the order of its lanes' frames.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

#include "base/error.h"
#include "proto/channel.h"
#include "tests/proto/frames.h"

namespace burn::server {

class FakeChannel final : public proto::Channel {
 public:
  struct Sent {
    proto::Frame frame;
    proto::Lane lane;
  };

  void send(proto::EncodedFrame frame, proto::Lane lane) override {
    auto decoded = value_or_throw(proto::decode(proto::shared(proto::to_string(frame))));
    const std::lock_guard lock{mutex_};
    if (closed_) return;
    sent_.push_back({std::move(decoded), lane});
    changed_.notify_all();
  }
  void close() override {
    const std::lock_guard lock{mutex_};
    closed_ = true;
    changed_.notify_all();
  }
  std::size_t queued_bytes() const override { return backlog; }
  std::string peer() const override { return "test"; }

  // The next frame that was sent; std::nullopt if the channel is closed and empty, or after a long wait.
  std::optional<Sent> next(std::chrono::milliseconds patience = std::chrono::seconds{10}) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, patience, [&] { return closed_ || !sent_.empty(); });
    if (sent_.empty()) return std::nullopt;
    auto first = std::move(sent_.front());
    sent_.pop_front();
    return first;
  }
  // The next frame, which must be a Kind. Acks are skipped, unless Kind is Ack.
  template <typename Kind>
  Kind expect(SharedBytes* payload = nullptr) {
    while (auto sent = next()) {
      if (std::holds_alternative<proto::Ack>(sent->frame.body) && !std::is_same_v<Kind, proto::Ack>) continue;
      if (payload) *payload = sent->frame.payload;
      if (auto* kind = std::get_if<Kind>(&sent->frame.body)) return std::move(*kind);
      ADD_FAILURE() << "the server said " << proto::name(sent->frame.body);
      if (auto* close = std::get_if<proto::Close>(&sent->frame.body)) ADD_FAILURE() << close->status.to_string();
      return {};
    }
    ADD_FAILURE() << "the server says nothing";
    return {};
  }
  bool is_closed() const {
    const std::lock_guard lock{mutex_};
    return closed_;
  }

  std::atomic<std::size_t> backlog = 0;  // returned by queued_bytes()

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Sent> sent_;
  bool closed_ = false;
};

}  // namespace burn::server
