// Between a transport's threads and a ChannelHandler: ensures one call at a time, on_closed once and last, and no call
// after shut().
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "proto/channel.h"

namespace burn::net {

// Thread-safe. Holds the handler until on_closed has returned or the gate is shut.
class HandlerGate {
 public:
  // Requires: called once, before any other call but shut().
  void open(std::shared_ptr<proto::ChannelHandler> handler) {
    std::lock_guard lock(mutex_);
    if (!shut_) handler_ = std::move(handler);
  }

  std::size_t max_frame_bytes() {
    std::lock_guard lock(mutex_);
    return handler_ ? handler_->max_frame_bytes() : 0;
  }

  void frame(SharedBytes bytes) {
    std::lock_guard lock(mutex_);
    const auto handler = handler_;  // the call may shut the gate
    if (handler) handler->on_frame(std::move(bytes));
  }

  proto::ReceiveSpace receive_space(std::span<const std::byte> head, std::uint64_t size) {
    std::lock_guard lock(mutex_);
    return handler_ ? handler_->receive_space(head, size) : proto::ReceiveSpace{};
  }

  void frame_in_place(SharedBytes head, SharedBytes rest) {
    std::lock_guard lock(mutex_);
    const auto handler = handler_;
    if (handler) handler->on_frame_in_place(std::move(head), std::move(rest));
  }

  void closed(Status why) {
    std::lock_guard lock(mutex_);
    shut_ = true;
    const auto handler = std::exchange(handler_, nullptr);
    if (handler) handler->on_closed(std::move(why));
  }

  // Waits for a running call, unless it is the caller's own: a handler may drop its channel.
  void shut() {
    std::shared_ptr<proto::ChannelHandler> handler;  // released outside the lock
    std::lock_guard lock(mutex_);
    shut_ = true;
    handler = std::exchange(handler_, nullptr);
  }

 private:
  std::recursive_mutex mutex_;  // recursive for shut() from within a call
  std::shared_ptr<proto::ChannelHandler> handler_;
  bool shut_ = false;
};

}  // namespace burn::net
