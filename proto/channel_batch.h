// Forwards frames that arrived together as one burst on the channels they are forwarded to.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "proto/channel.h"

namespace burn::proto {

// Scoped: a transport's thread has one while it delivers frames that it received together. Code that forwards these
// calls join() for the other channel, which begins a burst there that ends with this object. May be nested; the
// innermost one is used.
class ChannelBatch {
 public:
  ChannelBatch() : outer_(std::exchange(current_, this)) {}
  ~ChannelBatch() {
    current_ = outer_;
    for (const auto& channel : channels_) channel->end_burst();
  }
  ChannelBatch(const ChannelBatch&) = delete;
  ChannelBatch& operator=(const ChannelBatch&) = delete;

  // Holds back what this thread sends on `channel` until the end of the current batch. No effect without a batch.
  static void join(const std::shared_ptr<Channel>& channel) {
    if (!current_ || std::ranges::find(current_->channels_, channel) != current_->channels_.end()) return;
    current_->channels_.push_back(channel);
    channel->begin_burst();
  }

 private:
  static inline thread_local ChannelBatch* current_ = nullptr;
  ChannelBatch* const outer_;
  std::vector<std::shared_ptr<Channel>> channels_;
};

}  // namespace burn::proto
