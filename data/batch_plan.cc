#include "data/batch_plan.h"

#include <algorithm>

#include "base/error.h"
#include "data/indices.h"
#include "data/random.h"

namespace burn::data {

void check(const LoaderOptions& options) {
  if (options.batch_size == 0) throw Error(StatusCode::invalid_argument, "loader: the batch size is 0");
}

void check_stream(const LoaderOptions& options, std::size_t batches) {
  if (batches == 0) throw Error(StatusCode::invalid_argument, "loader of a stream: an epoch of 0 batches");
  if (options.shuffle_seed) {
    throw Error(
        StatusCode::invalid_argument,
        "loader of a stream: shuffle() needs a data set; a stream has its own order, which may differ from pass "
        "to pass (Stream::open)");
  }
}

std::size_t num_batches(const LoaderOptions& options, std::size_t num_items) {
  const std::size_t whole = num_items / options.batch_size;
  return whole + (!options.drop_last && num_items % options.batch_size != 0 ? 1 : 0);
}

BatchPlan::BatchPlan(const LoaderOptions& options, std::size_t begin, std::size_t end, std::size_t epoch)
    : batch_size_(options.batch_size), size_(num_batches(options, end - begin)) {
  if (options.shuffle_seed) {
    order_ = permutation(end - begin, Rng(*options.shuffle_seed, epoch));
    for (auto& index : order_) index += begin;
  } else {
    order_ = range(begin, end);
  }
}

std::span<const std::size_t> BatchPlan::indices(std::size_t batch) const {
  const std::size_t first = batch * batch_size_;
  return std::span(order_).subspan(first, std::min(batch_size_, order_.size() - first));
}

}  // namespace burn::data
