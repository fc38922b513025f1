// The open recordings of one device: one for each thread that uses it, and those being handed from one thread to
// another. Begins them, appends nodes, and turns them into runs.
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
  // Number of nodes at which a program is closed automatically.
  static constexpr std::size_t kMaxRecorded = 16384;
  // A program is also closed when tensors that were made and dropped since it began, and that only it holds, have this
  // many bytes. Older tensors do not count: a training step may replace any number of parameters in one program.
  static constexpr std::uint64_t kMaxHeldBytes = std::uint64_t{256} << 20;

  Recorders(DeviceState& device, LiveTensors& tensors, Outbox& outbox);
  // Discards the open recordings and frees the inputs that only they hold. Requires: no tensor is held.
  ~Recorders();
  Recorders(const Recorders&) = delete;
  Recorders& operator=(const Recorders&) = delete;

  // This thread's recorder. Errors (thrown): the thread records a captured step on another device.
  Recorder& current() {
    if (last_recorder.serial == serial_) [[likely]]
      return *last_recorder.recorder;
    return look_up();
  }
  // The reference to the tensor in the recording's program, to which it is added as an input if needed. Closes another
  // thread's recording in which the tensor is pending.
  ir::Ref operand(Recorder& recorder, Storage& storage);
  // Appends a node, and returns its first result. Errors (thrown): those of the op's shape rule.
  ir::Ref append(Recorder& recorder, const ir::Op& op, std::span<const Value* const> operands,
                 const ir::CallSite& site);
  // Makes the tensor of a value that the recording's last node computes.
  Ptr<Storage> new_pending(Recorder& recorder, ir::Ref value);
  // Called after each node: closes a recording that is too long or holds too much memory.
  void close_if_full(Recorder& recorder) {
    nodes_recorded_ += 1;
    if (recorder.builder.size() >= kMaxRecorded || recorder.held_bytes >= kMaxHeldBytes) [[unlikely]]
      close(recorder);
  }

  // Sends the recording as a run, unless it is that of a captured step. Also stores the run in `captured`, if that is
  // not null.
  void close(Recorder& recorder, CapturedRun* captured = nullptr);
  void close_all();
  void begin(Recorder& recorder);  // starts an empty program
  std::uint64_t take_epoch() { return next_epoch_++; }

  // Removes this thread's recorder, so that the thread starts a new one; null if it is empty. keep() adds one again.
  std::shared_ptr<Recorder> detach();
  void keep(std::shared_ptr<Recorder> recorder);

  RandomState random;  // after the programs sent so far
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

[[noreturn]] void refuse_in_capture(const char* what);  // what: "given to another one"

}  // namespace burn::client
