#include "train/dashboard/series.h"

#include <algorithm>

namespace burn::train::dashboard {

void Bucket::add(const Bucket& later) {
  step = later.step;
  not_finite += later.not_finite;
  if (later.count == 0) return;
  if (count == 0) {
    mean = later.mean;
    min = later.min;
    max = later.max;
  } else {
    mean += (later.mean - mean) * static_cast<double>(later.count) / static_cast<double>(count + later.count);
    min = std::min(min, later.min);
    max = std::max(max, later.max);
  }
  count += later.count;
}

void Series::add(const events::MetricPoint& point) {
  const Bucket bucket{point.first_step, point.step, point.count, point.not_finite, point.mean, point.min, point.max};
  ++points_;
  recent_.push_back(bucket);
  if (recent_.size() > kRecent) recent_.pop_front();
  if (!buckets_.empty() && in_last_ < per_bucket_) {
    buckets_.back().add(bucket);
    ++in_last_;
    return;
  }
  if (buckets_.size() == kBuckets) merge_neighbours();
  buckets_.push_back(bucket);
  in_last_ = 1;
}

void Series::merge_neighbours() {
  for (std::size_t i = 0; i < buckets_.size() / 2; ++i) {
    buckets_[i] = buckets_[2 * i];
    buckets_[i].add(buckets_[2 * i + 1]);
  }
  buckets_.resize(buckets_.size() / 2);
  per_bucket_ *= 2;
  ++generation_;
}

void Series::truncate(std::int64_t step) {
  const auto is_after = [&](const Bucket& bucket) { return bucket.step > step; };
  std::erase_if(buckets_, is_after);
  std::erase_if(recent_, is_after);
  in_last_ = per_bucket_;  // the next point begins a bucket
  ++generation_;
}

}  // namespace burn::train::dashboard
