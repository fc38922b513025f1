// Notes on a captured step while it is recorded: which of its scalar slots get a new number with each call, and which
// host computes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "client/record/recorder.h"
#include "client/scalar.h"

namespace burn::client {

// An argument of a captured step that computes numbers and changes with each call, such as an optimizer, which counts
// its steps.
class CaptureHost {
 public:
  virtual ~CaptureHost() = default;
  // The numbers that the host computes from `number` for its part `key`, in its current state.
  virtual std::vector<double> captured_numbers(std::uint64_t key, double number) const = 0;
  // Makes the change that a call makes to these parts.
  virtual void captured_advance(std::span<const std::uint64_t> keys) = 0;
};

class DeviceState;

class CaptureLog {
 public:
  // A slot that takes a number of the call's arguments.
  struct Given {
    std::size_t slot, number;
    ir::DType dtype;
    friend bool operator==(const Given&, const Given&) = default;
  };
  // One action of a host in a call, in order: it computes numbers for `count` slots, or (count 0) changes `keys`.
  struct Event {
    std::size_t host;
    std::vector<std::uint64_t> keys;
    std::size_t slot = 0, count = 0;
    Scalar number = 0;
    ir::DType dtype = ir::DType::f32;
  };

  // `numbers`: the call's; `hosts`: those among its arguments. Requires: both outlive the log.
  CaptureLog(const std::vector<Scalar>& numbers, const std::vector<CaptureHost*>& hosts);

  // The log of the captured step that this thread is recording, or null.
  static CaptureLog* active();

  // Notes that the next `count` scalars to be recorded are host.captured_numbers(key, number). Errors (thrown): a host
  // that is not among the arguments.
  void follow(const CaptureHost& host, std::uint64_t key, Scalar number, ir::DType dtype, std::size_t count);
  // Notes that the host has changed these parts. Errors: as follow().
  void advance(const CaptureHost& host, std::vector<std::uint64_t> keys);
  // Called by the device when it records a scalar in this slot.
  void scalar(std::size_t slot, const Scalar& value, ir::DType dtype);

  const std::vector<Given>& given() const { return given_; }
  const std::vector<Event>& events() const { return events_; }
  // The index of `value` among the call's numbers; -1 if it is none of them.
  std::int64_t number_of(const Scalar& value) const;

 private:
  friend void begin_capture(DeviceState& device, CaptureLog& log);
  std::size_t index_of(const CaptureHost& host) const;

  const std::vector<Scalar>& numbers_;
  const std::vector<CaptureHost*>& hosts_;
  Recorder* recorder_ = nullptr;
  std::vector<Given> given_;
  std::vector<Event> events_;
};

// The program of a captured step, and its first run.
struct CapturedRun {
  std::shared_ptr<const ir::Program> program;
  proto::Run run;
};

// The arguments of a further run of it.
struct CapturedCall {
  std::span<Storage* const> inputs;
  // For each input, how many Values that hold it the caller drops afterwards. If no other Values hold it, the input is
  // donated to the run; -1: it must not be.
  std::span<const std::int32_t> dropped;
  std::vector<std::uint64_t> scalars;
  // Returns the program that donates exactly these inputs.
  std::function<std::shared_ptr<const ir::Program>(const std::vector<bool>& donated)> program;
};

}  // namespace burn::client
