// One curve in bounded memory: any number of points of a metric, aggregated into at most kBuckets buckets.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "train/events/event.h"

namespace burn::train::dashboard {

// The aggregated values of the steps first_step to step.
struct Bucket {
  std::int64_t first_step = 0, step = 0;
  std::int64_t count = 0, not_finite = 0;
  double mean = 0, min = 0, max = 0;

  void add(const Bucket& later);
};

// When all buckets are used, each two neighbours are merged, and a bucket then holds twice as many points. A copy is a
// snapshot. One thread at a time.
class Series {
 public:
  static constexpr std::size_t kBuckets = 2048;  // maximum
  static constexpr std::size_t kRecent = 512;    // how many of the newest points are kept individually

  void add(const events::MetricPoint& point);
  // Removes the points after a step: a resumed run computes them again.
  void truncate(std::int64_t step);

  const std::vector<Bucket>& buckets() const { return buckets_; }
  const std::deque<Bucket>& recent() const { return recent_; }
  bool empty() const { return buckets_.empty(); }
  std::int64_t points() const { return points_; }
  // Changes when buckets other than the last one have changed, so that readers discard what they have read before.
  std::int64_t generation() const { return generation_; }

 private:
  void merge_neighbours();

  std::vector<Bucket> buckets_;
  std::deque<Bucket> recent_;
  std::int64_t per_bucket_ = 1, in_last_ = 0;
  std::int64_t points_ = 0, generation_ = 0;
};

}  // namespace burn::train::dashboard
