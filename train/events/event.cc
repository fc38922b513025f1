#include "train/events/event.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

namespace burn::train {

std::string_view name(Split split) {
  switch (split) {
    case Split::train:
      return "train";
    case Split::valid:
      return "valid";
    case Split::test:
      return "test";
  }
  return "unknown";
}

namespace events {

std::string_view name(Ended reason) {
  switch (reason) {
    case Ended::completed:
      return "completed";
    case Ended::stopped_early:
      return "stopped early";
    case Ended::interrupted:
      return "interrupted";
    case Ended::failed:
      return "failed";
  }
  return "unknown";
}

std::string format_value(const ValueFormat& format, double value) {
  return (format.scientific ? fmt::format("{:.{}e}", value, format.decimals)
                            : fmt::format("{:.{}f}", value, format.decimals)) +
         format.unit;
}

MetricPoint MetricPoint::of(std::int32_t metric, Split split, std::int64_t step, double value) {
  const bool is_finite = std::isfinite(value);
  MetricPoint point{.metric = metric, .split = split, .first_step = step, .step = step};
  point.count = is_finite ? 1 : 0;
  point.not_finite = is_finite ? 0 : 1;
  point.mean = point.min = point.max = value;
  return point;
}

void MetricPoint::add(const MetricPoint& later) {
  step = later.step;
  not_finite += later.not_finite;
  if (later.count == 0) return;
  if (count == 0) {
    mean = later.mean;
    min = later.min;
    max = later.max;
  } else {
    const auto share = static_cast<double>(later.count) / static_cast<double>(count + later.count);
    mean += (later.mean - mean) * share;
    min = std::fmin(min, later.min);
    max = std::fmax(max, later.max);
  }
  count += later.count;
}

std::string advice(const Phases& phases) {
  const double total = phases.total();
  if (total <= 0) return {};
  const auto share = [&](double seconds) { return 100 * seconds / total; };
  // The largest share that the user can reduce.
  const double largest = std::max({phases.waiting_for_data, phases.checkpoint, phases.recording});
  if (phases.waiting_for_data == largest && share(largest) >= 10) {
    auto text = fmt::format("{:.0f} % of the time waits for the loader", share(phases.waiting_for_data));
    if (phases.cores > 0) text += fmt::format(": num_workers {} of {} cores", phases.workers, phases.cores);
    return text;
  }
  if (phases.checkpoint == largest && share(largest) >= 10)
    return fmt::format("{:.0f} % of the time writes checkpoints: write fewer", share(phases.checkpoint));
  if (phases.recording == largest && share(largest) >= 25)
    return fmt::format("{:.0f} % of the time records steps: larger batches, or capture()", share(phases.recording));
  if (share(phases.waiting_for_numbers) >= 50)
    return fmt::format("the device is the limit: {:.0f} % of the time waits for it", share(phases.waiting_for_numbers));
  return {};
}

std::int64_t now_us() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace events
}  // namespace burn::train
