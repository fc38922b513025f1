// The events of a made-up training run, for tests of the code that displays and stores runs.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "train/events/event.h"

namespace burn::train::events {

inline Start made_up_start(std::string run = "a1b2") {
  Start start{.run = std::move(run), .name = "first-run", .device = "cpu"};
  start.metrics = {{"Loss", "loss", false, {}}, {"Accuracy", "acc", true, {.decimals = 1, .unit = " %"}}};
  start.epochs = 4;
  return start;
}

// An epoch of 100 steps: training losses fall and accuracies rise; validation is best in epoch 2.
inline std::vector<Event> made_up_epoch(std::int64_t epoch) {
  std::vector<Event> events;
  const auto add = [&](Body body) {
    events.push_back(
        {1'764'097'200'000'000 + epoch * 10'000'000 + static_cast<std::int64_t>(events.size()), std::move(body)});
  };
  add(SplitStart{Split::train, epoch, 800});
  for (std::int64_t step = 100 * (epoch - 1) + 1; step <= 100 * epoch; ++step) {
    const auto x = static_cast<double>(step);
    add(MetricPoint::of(0, Split::train, step, 1 / (1 + 0.05 * x)));
    add(MetricPoint::of(1, Split::train, step, 100 - 90 / (1 + 0.05 * x)));
  }
  Progress progress{
      .split = Split::train, .epoch = epoch, .epochs = 4, .step = 100 * epoch, .items = 800, .total_items = 800};
  progress.seconds = 4;
  progress.items_per_second = 200;
  progress.rate = 1e-3;
  add(progress);
  const double distance = std::abs(static_cast<double>(epoch) - 2);
  add(SplitEnd{Split::train, epoch, 100 * epoch, 800, 0, 4, {{0, 0.5 / static_cast<double>(epoch)}, {1, 80}}});
  add(SplitEnd{Split::valid, epoch, 100 * epoch, 200, 0, 1, {{0, 0.3 + 0.1 * distance}, {1, 90 - distance}}});
  add(EpochEnd{epoch, 4, 100 * epoch, 1e-3});
  add(CheckpointWritten{epoch, 100 * epoch, 0.2, false});
  return events;
}

inline std::vector<Event> made_up_run(std::int64_t epochs) {
  std::vector<Event> events{{1'764'097'200'000'000, made_up_start()}};
  for (std::int64_t epoch = 1; epoch <= epochs; ++epoch) {
    const auto more = made_up_epoch(epoch);
    events.insert(events.end(), more.begin(), more.end());
  }
  return events;
}

}  // namespace burn::train::events
