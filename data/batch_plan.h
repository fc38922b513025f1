// Assigns the items of a data set to the batches of an epoch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "data/batch_hooks.h"

namespace burn::data {

struct LoaderOptions {
  std::size_t batch_size = 1;
  std::optional<std::uint64_t> shuffle_seed;  // none: in the order of the data set
  std::size_t num_workers = 0;                // 0: batches are made by the thread that iterates
  std::optional<std::size_t> prefetch;        // batches made ahead; none: two per worker
  bool drop_last = false;                     // leave out an incomplete last batch
  std::shared_ptr<const BatchHooks> hooks;    // none: the global ones
};

// Throws if an option is out of range, naming it.
void check(const LoaderOptions& options);

// The same for a loader of a stream, with `batches` in an epoch.
void check_stream(const LoaderOptions& options, std::size_t batches);

std::size_t num_batches(const LoaderOptions& options, std::size_t num_items);

// The order of the items [begin, end) in an epoch; depends on the seed and the epoch, not on the workers.
class BatchPlan {
 public:
  BatchPlan(const LoaderOptions& options, std::size_t begin, std::size_t end, std::size_t epoch);

  std::size_t size() const { return size_; }
  std::span<const std::size_t> indices(std::size_t batch) const;

 private:
  std::vector<std::size_t> order_;
  std::size_t batch_size_, size_;
};

}  // namespace burn::data
