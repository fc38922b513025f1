#include "train/tune/find_batch_size.h"

#include <algorithm>
#include <cmath>

namespace burn::train::detail {
namespace {

void check(bool is_right, const std::string& what) {
  if (!is_right) throw Error(StatusCode::invalid_argument, "find_batch_size: " + what);
}

}  // namespace

FoundBatchSize find_batch_size(const FindBatchSizeOptions& options, const std::function<void(std::int64_t)>& fits) {
  check(options.first >= 1, "first is " + std::to_string(options.first) + ", must be at least 1");
  check(options.most >= options.first,
        "most is " + std::to_string(options.most) + ", must be at least first, " + std::to_string(options.first));
  check(options.steps >= 1, "steps is " + std::to_string(options.steps) + ", must be at least 1");
  check(options.precision >= 0 && std::isfinite(options.precision),
        "precision is " + std::to_string(options.precision) + ", must be at least 0");
  FoundBatchSize found;
  const auto has_room = [&](std::int64_t size) {
    try {
      fits(size);
    } catch (const Error& error) {
      if (error.code() != StatusCode::resource_exhausted) throw;
      found.too_large = size;
      found.why = error.what();
      return false;
    }
    found.size = size;
    return true;
  };
  if (!has_room(options.first)) {
    throw Error(StatusCode::resource_exhausted, "find_batch_size: there is no memory for a batch of " +
                                                    std::to_string(options.first) + ": " + found.why);
  }
  while (found.size < options.most && !found.too_large) (void)has_room(std::min(2 * found.size, options.most));
  while (found.too_large) {
    const auto gap = *found.too_large - found.size;
    if (gap <= 1 || static_cast<double>(gap) <= options.precision * static_cast<double>(found.size)) break;
    (void)has_room(found.size + gap / 2);
  }
  return found;
}

}  // namespace burn::train::detail
