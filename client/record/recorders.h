// The recordings that are open on one device: one for each thread that uses it, and those on their way from one thread
// to another. Here they begin, grow, and become runs.
//
// Guarded by the device's lock.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "client/device.h"
#include "client/record/live_tensors.h"
#include "client/record/outbox.h"
#include "client/record/recorder.h"
#include "client/record/thread_recorders.h"
#include "ir/program.h"

namespace burn::client {

struct CapturedRun;

class Recorders {
 public:
  // Nodes after which a program is closed without being asked.
  static constexpr std::size_t kMaxRecorded = 16384;
  // Bytes of tensors that came and were dropped since the recording began, and that it alone keeps, after which it is
  // closed, too. What was there before does not count: a training step replaces any number of parameters in one
  // program.
  static constexpr std::uint64_t kMaxHeldBytes = std::uint64_t{256} << 20;

  Recorders(DeviceState& device, LiveTensors& tensors, Outbox& outbox);
  // What is recorded still will not be wanted, but holds what it would have read. Requires: no tensor is held.
  ~Recorders();
  Recorders(const Recorders&) = delete;
  Recorders& operator=(const Recorders&) = delete;

  // This thread's. Errors (thrown): the thread records a captured step on another device.
  Recorder& current() {
    if (last_recorder.serial == serial_) [[likely]]
      return *last_recorder.recorder;
    return look_up();
  }
  // What stands for the tensor in the recording's program. Closes another thread's in which it is pending.
  ir::Ref operand(Recorder& recorder, Storage& storage);
  // Appends a node; its first result. Errors (thrown): what infer says.
  ir::Ref append(Recorder& recorder, const ir::Op& op, std::span<const Value* const> operands,
                 const ir::CallSite& site);
  // The tensor of a value that the recording's last node makes.
  Ptr<Storage> new_pending(Recorder& recorder, ir::Ref value);
  // After a node: closes a recording that has become too long, or keeps too much.
  void close_if_full(Recorder& recorder) {
    nodes_recorded_ += 1;
    if (recorder.builder.size() >= kMaxRecorded || recorder.held_bytes >= kMaxHeldBytes) [[unlikely]]
      close(recorder);
  }

  // Sends what is recorded as a run, unless it is a captured step's. `captured` gets the run, too.
  void close(Recorder& recorder, CapturedRun* captured = nullptr);
  void close_all();
  void begin(Recorder& recorder);  // nothing of it yet
  std::uint64_t take_epoch() { return next_epoch_++; }

  // Takes this thread's out, which starts afresh; null if there is nothing in it. keep() takes one back.
  std::shared_ptr<Recorder> detach();
  void keep(std::shared_ptr<Recorder> recorder);

  RandomState random;  // after what has been sent so far
  std::uint64_t nodes_recorded() const { return nodes_recorded_; }

 private:
  Recorder& look_up();
  void prune();

  DeviceState& device_;
  LiveTensors& tensors_;
  Outbox& outbox_;
  const std::uint64_t serial_;  // distinguishes the device in thread-local memory, also after its address is used again
  std::vector<std::shared_ptr<Recorder>> all_;
  std::uint64_t next_epoch_ = 1;
  std::uint64_t nodes_recorded_ = 0;
};

[[noreturn]] void refuse_in_capture(const char* what);  // "given to another one"

}  // namespace burn::client
