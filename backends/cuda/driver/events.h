// Marks in the work of streams, kept for the next time: making one takes longer than setting it.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "backends/cuda/driver/driver.h"

namespace burn::backends::cuda {

// Nobody sets it anew while somebody holds it.
using Event = std::shared_ptr<CUevent_st>;

// Thread-safe; lives as long as its last event.
class Events : public std::enable_shared_from_this<Events> {
 public:
  explicit Events(CUcontext context) : context_(context) {}
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  ~Events();

  // After everything that is enqueued on the stream by now.
  Result<Event> record(CUstream stream);

 private:
  Result<CUevent> take();
  void give_back(CUevent event);

  const CUcontext context_;
  std::mutex mutex_;
  std::vector<CUevent> idle_;
};

// Whether the device has come so far. Failures of the device count: whoever waits for the event is told.
inline bool is_reached(const Event& event) { return driver().cuEventQuery(event.get()) != CUDA_ERROR_NOT_READY; }

}  // namespace burn::backends::cuda
