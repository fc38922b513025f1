// What is noted while a captured step is recorded: which of its numbers are given anew with each call, and by which
// host.
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

// An argument of a captured step that makes numbers of its own and changes with each call: an optimizer counts its
// steps.
class CaptureHost {
 public:
  virtual ~CaptureHost() = default;
  // The numbers that follow from `number` for the part called `key`, as the host is now.
  virtual std::vector<double> captured_numbers(std::uint64_t key, double number) const = 0;
  // What a call changes in these parts.
  virtual void captured_advance(std::span<const std::uint64_t> keys) = 0;
};

class DeviceState;

class CaptureLog {
 public:
  // A slot that takes a number given with the call.
  struct Given {
    std::size_t slot, number;
    ir::DType dtype;
    friend bool operator==(const Given&, const Given&) = default;
  };
  // What a host does in a call, in its order: numbers for `count` slots, or (count 0) its change.
  struct Event {
    std::size_t host;
    std::vector<std::uint64_t> keys;
    std::size_t slot = 0, count = 0;
    Scalar number = 0;
    ir::DType dtype = ir::DType::f32;
  };

  // `numbers`: of the call; `hosts`: among its arguments. Both outlive the log.
  CaptureLog(const std::vector<Scalar>& numbers, const std::vector<CaptureHost*>& hosts);

  // That of the captured step which this thread is recording, or null.
  static CaptureLog* active();

  // The next `count` scalars recorded are host.captured_numbers(key, number). Errors (thrown): a host that is no
  // argument.
  void follow(const CaptureHost& host, std::uint64_t key, Scalar number, ir::DType dtype, std::size_t count);
  // The host has changed these parts. Errors: as follow.
  void advance(const CaptureHost& host, std::vector<std::uint64_t> keys);
  // For the device: a scalar is recorded in this slot.
  void scalar(std::size_t slot, const Scalar& value, ir::DType dtype);

  const std::vector<Given>& given() const { return given_; }
  const std::vector<Event>& events() const { return events_; }
  // Which of the call's numbers this is; -1 for none.
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

// A program as it was captured, and how it was run.
struct CapturedRun {
  std::shared_ptr<const ir::Program> program;
  proto::Run run;
};

// A further run of it.
struct CapturedCall {
  std::span<Storage* const> inputs;
  // How many Values of each input the caller drops afterwards. If those are all there are, the run may have its memory;
  // -1: it may not.
  std::span<const std::int32_t> dropped;
  std::vector<std::uint64_t> scalars;
  // The program that gives away just these inputs.
  std::function<std::shared_ptr<const ir::Program>(const std::vector<bool>& donated)> program;
};

}  // namespace burn::client
