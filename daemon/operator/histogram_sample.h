// Converts a histogram of durations that a part of a daemon keeps into a metrics sample in seconds.
#pragma once

#include <chrono>

#include "daemon/operator/metrics.h"
#include "serving/duration_histogram.h"

namespace burn::daemon {

inline HistogramSample histogram_sample(const serving::DurationHistogram& times) {
  const auto counted = times.counts();
  HistogramSample sample{.bounds = {},
                         .counts = {counted.counts.begin(), counted.counts.end()},
                         .sum = std::chrono::duration<double>(counted.sum).count()};
  for (const auto bound : serving::DurationCounts::kBounds)
    sample.bounds.push_back(std::chrono::duration<double>(bound).count());
  return sample;
}

}  // namespace burn::daemon
