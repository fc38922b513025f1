// Reads the measurements of steps from the device: the numbers of many short steps are read together. Private to
// train/metric.
//
// A read costs some microseconds of the device and of three threads, while a short step takes a hundred. So the numbers
// of up to kSteps steps stay on the device, where one kernel combines them into one tensor, and are read together. If
// steps are longer than kWait / kSteps, each is read separately, at a negligible cost. Pending reads are started at
// least every kWait.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <vector>

#include "client/tensor/data.h"
#include "client/value.h"

namespace burn::metric {

// One thread at a time.
class StepReads {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kSteps = 16;
  static constexpr std::chrono::milliseconds kWait{20};  // as events are merged (train/events/event_stream.h)
  // A step with more numbers than these is read at once: the bytes cost more than the read.
  static constexpr std::int64_t kMaxNumbers = 1024;

  class Group;
  // The read of one step's numbers.
  class Read {
   public:
    bool is_ready() const;  // false until the read is started
    // Starts the read if necessary, and waits. May be called once. Errors (thrown): only that of this step, even if
    // other steps of the same read failed.
    TensorData get();

   private:
    friend class StepReads;
    Read(std::shared_ptr<Group> group, std::size_t index) : group_(std::move(group)), index_(index) {}
    std::shared_ptr<Group> group_;
    std::size_t index_;
  };

  explicit StepReads(std::function<Clock::time_point()> now = Clock::now) : now_(std::move(now)) {}

  // `numbers`: f32 [n] of a step that has been sent. Does not wait.
  Read add(const client::Value& numbers);
  // Starts all pending reads, as no step follows soon.
  void ask();
  // Drops the pending reads.
  void forget() { open_.clear(); }

 private:
  const std::function<Clock::time_point()> now_;
  std::vector<std::shared_ptr<Group>> open_;  // steps whose read has not been started, by device
  Clock::time_point asked_;                   // time of the last start of a read
};

}  // namespace burn::metric
