// A pass over the batches of a loader (data/loader.h).
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "data/prefetcher.h"

namespace burn::data {

// A batch, and where the stream is after it; empty for a data set.
template <typename Batch>
struct MadeBatch {
  Batch batch;
  std::string position = {};
};

// A pass under way. An input iterator that can be moved but not copied; belongs to one thread.
template <typename Batch>
class BatchIterator {
 public:
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;

  // `told`: gets the position after each batch that is taken of a stream.
  explicit BatchIterator(Prefetcher::Owner source, std::shared_ptr<std::string> told = {})
      : source_(std::move(source)), told_(std::move(told)) {
    ++*this;
  }

  Batch& operator*() const { return current_->batch; }
  Batch* operator->() const { return &current_->batch; }
  // Where the stream is after this batch.
  const std::string& position() const { return current_->position; }
  BatchIterator& operator++() {
    current_ = nullptr;  // before the next one comes: its memory may be needed
    current_ = std::static_pointer_cast<MadeBatch<Batch>>(source_->next());
    if (told_ && current_) *told_ = current_->position;
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const BatchIterator& it, std::default_sentinel_t) { return it.current_ == nullptr; }

 private:
  Prefetcher::Owner source_;
  std::shared_ptr<MadeBatch<Batch>> current_;
  std::shared_ptr<std::string> told_;
};

}  // namespace burn::data
