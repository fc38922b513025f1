// What is sent on other channels because of frames that arrived together: it leaves together, too.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "proto/channel.h"

namespace burn::proto {

// From its construction to its end on a transport's thread, while it hands over frames that it has received at once.
// Code that passes these on has the other channels begin a burst by join(), which ends with this. May be nested; the
// innermost counts.
class ChannelBatch {
 public:
  ChannelBatch() : outer_(std::exchange(current_, this)) {}
  ~ChannelBatch() {
    current_ = outer_;
    for (const auto& channel : channels_) channel->end_burst();
  }
  ChannelBatch(const ChannelBatch&) = delete;
  ChannelBatch& operator=(const ChannelBatch&) = delete;

  // What this thread sends on `channel` until the end of its batch leaves then. Without a batch: nothing.
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
