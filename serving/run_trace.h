// What is kept of single runs of programs, for traces: which runs are chosen, and where they go.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/status.h"

namespace burn::serving {

// A run of a session.
struct RunTrace {
  std::chrono::system_clock::time_point received;  // all of its call had come
  std::chrono::nanoseconds queued{0};  // from there to its beginning: for calls before it, and for the device
  std::chrono::nanoseconds took{0};    // from its beginning, with compiling, to its end; on devices that work on
                                       // their own until it was handed to the device
  std::chrono::nanoseconds inputs{0}, turn{0};  // of that: waits for tensors on their way, and for other tenants' runs
  std::string device, tenant;                   // tenant: empty where there are none
  std::string program, first_op;                // the program's hash, and the name of its first node's op
  std::uint64_t nodes = 0;
  StatusCode result = StatusCode::ok;
};

// Thread-safe.
class RunTraces {
 public:
  RunTraces() = default;
  RunTraces(const RunTraces&) = delete;
  RunTraces& operator=(const RunTraces&) = delete;
  virtual ~RunTraces() = default;
  // Whether the run that begins now is one of those that are kept.
  virtual bool is_chosen() = 0;
  // Never waits.
  virtual void add(RunTrace trace) = 0;
};

}  // namespace burn::serving
