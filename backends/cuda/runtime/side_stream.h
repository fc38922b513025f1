// A second stream for what members of a group perform together, which goes on beside what is computed.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "backends/cuda/driver/driver.h"
#include "compile/lower/hazards.h"

namespace burn::backends::cuda {

// Which commands of a program go to which stream.
struct Lanes {
  std::vector<bool> is_aside;   // per command: a collective. Empty: all are on one stream
  compile::Predecessors order;  // per command: those that it waits for
};

// Of one thread at a time; its device is current there.
class SideStream {
 public:
  static Result<std::unique_ptr<SideStream>> open();
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;
  ~SideStream();  // waits for nothing: `stream` of every enqueue() is done

  // Calls enqueue_one for commands 0, 1, ... in order, with the stream that each is put on. Between the two streams a
  // command waits for what Lanes::order says. To what is on `stream` before and after, all of it is one. It may be
  // captured from `stream`. Errors: the first of enqueue_one's, with which it stops.
  Status enqueue(const Lanes& lanes, CUstream stream,
                 const std::function<Status(std::size_t command, CUstream on)>& enqueue_one);

 private:
  explicit SideStream(CUstream side) : side_(side) {}
  Result<CUevent> event(std::size_t k);

  const CUstream side_;
  std::vector<CUevent> events_;  // the first is of the main stream, the others of commands aside
};

}  // namespace burn::backends::cuda
