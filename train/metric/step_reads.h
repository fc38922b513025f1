// What steps measure, on its way from the device: the numbers of many short steps come in one read. Private to
// train/metric.
//
// A read costs some microseconds of the device and of three threads, beside a step of a hundred. So the numbers of up
// to kSteps steps stay on the device, where one kernel puts them side by side, and are read together. Where steps are
// longer than kWait / kSteps, each has a read of its own, which there costs nothing that shows, and all are asked for
// at least every kWait.
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
  static constexpr std::chrono::milliseconds kWait{20};  // what events merge (train/events/event_stream.h)
  // More numbers of a step than these are read at once: the bytes cost more than the read.
  static constexpr std::int64_t kMaxNumbers = 1024;

  class Group;
  // The numbers of one step.
  class Read {
   public:
    bool is_here() const;  // never while they are not asked for
    // Asks for them if that has not been done, and waits. At most once.
    // Errors (thrown): that of the step, whatever became of others that were to be read with it.
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
  // Asks for all that has not been asked for: no step follows soon.
  void ask();
  // What has not been asked for is not wanted.
  void forget() { open_.clear(); }

 private:
  const std::function<Clock::time_point()> now_;
  std::vector<std::shared_ptr<Group>> open_;  // of each device that has steps which are not asked for
  Clock::time_point asked_;                   // when that was done last
};

}  // namespace burn::metric
