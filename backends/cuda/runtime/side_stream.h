// A second stream for collectives, which run concurrently with the computation.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "backends/cuda/driver/driver.h"
#include "compile/lower/hazards.h"

namespace burn::backends::cuda {

// Which stream each command of a program runs on.
struct Lanes {
  std::vector<bool> is_on_side_stream;  // per command: whether it is a collective. Empty: all are on one stream
  compile::Predecessors order;          // per command: the commands that it waits for
};

// Used by one thread at a time, on which its device is current.
class SideStream {
 public:
  static Result<std::unique_ptr<SideStream>> open();
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;
  ~SideStream();  // does not wait. Requires: all work on `stream` of every enqueue() is done

  // Calls enqueue_one for commands 0, 1, ... in order, with the stream that each is enqueued on. Between the two
  // streams a command waits as Lanes::order says. Work on `stream` before and after the call is ordered with all of the
  // commands. May be captured from `stream`. Errors: the first of enqueue_one's, after which no command is enqueued.
  Status enqueue(const Lanes& lanes, CUstream stream,
                 const std::function<Status(std::size_t command, CUstream on)>& enqueue_one);

 private:
  explicit SideStream(CUstream side) : side_(side) {}
  Result<CUevent> event(std::size_t k);

  const CUstream side_;
  std::vector<CUevent>
      events_;  // the first is recorded on the main stream, the others after commands on the side stream
};

}  // namespace burn::backends::cuda
