// Reads under way from the device, each passed to its reader when it arrives, so that a loop that prints does not wait.
//
//   PendingReads reads;
//   for (...) {
//     ...
//     if (step % 50 == 0) reads.add(loss, [step](const TensorData& x) { print(step, x.as_slice<float>()[0]); });
//     reads.poll();
//   }
//   reads.finish();
#pragma once

#include <deque>
#include <functional>
#include <future>

#include "client/tensor/tensor.h"

namespace burn {

// One thread at a time; the readers are called by poll() and finish(), in the order of add().
class PendingReads {
 public:
  using Reader = std::function<void(const TensorData&)>;

  // Requests the numbers. Sends the recorded ops, so call it after the step that computes them.
  template <int D, Kind K>
  void add(const Tensor<D, K>& tensor, Reader reader) {
    pending_.push_back({tensor.to_data_async(), std::move(reader)});
  }
  // Passes the reads that have arrived to their readers. Errors (thrown): those of the device.
  void poll();
  // Waits for all remaining reads.
  void finish();
  std::size_t size() const { return pending_.size(); }

 private:
  struct Pending {
    std::future<TensorData> data;
    Reader reader;
  };
  void hand_over_first();

  std::deque<Pending> pending_;
};

}  // namespace burn
