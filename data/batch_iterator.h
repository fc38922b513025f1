// A pass over the batches of a loader (data/loader.h).
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "data/prefetcher.h"

namespace burn::data {

// A batch, and the stream's position after it, which is empty for a data set.
template <typename Batch>
struct MadeBatch {
  Batch batch;
  std::string position = {};
};

// An input iterator that can be moved but not copied; used by one thread.
template <typename Batch>
class BatchIterator {
 public:
  using value_type = Batch;
  using difference_type = std::ptrdiff_t;

  // `position_out`: set to the position after each batch that is taken from a stream. May be null.
  explicit BatchIterator(Prefetcher::Owner source, std::shared_ptr<std::string> position_out = {})
      : source_(std::move(source)), position_out_(std::move(position_out)) {
    ++*this;
  }

  Batch& operator*() const { return current_->batch; }
  Batch* operator->() const { return &current_->batch; }
  // The stream's position after this batch.
  const std::string& position() const { return current_->position; }
  BatchIterator& operator++() {
    current_ = nullptr;  // freed before the next batch arrives, which may need its memory
    current_ = std::static_pointer_cast<MadeBatch<Batch>>(source_->next());
    if (position_out_ && current_) *position_out_ = current_->position;
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const BatchIterator& it, std::default_sentinel_t) { return it.current_ == nullptr; }

 private:
  Prefetcher::Owner source_;
  std::shared_ptr<MadeBatch<Batch>> current_;
  std::shared_ptr<std::string> position_out_;
};

}  // namespace burn::data
