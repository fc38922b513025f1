// Small programs and tensors for tests of sessions, and a gate that holds a run.
#pragma once

#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "base/error.h"
#include "ir/program.h"
#include "proto/session.h"

namespace burn::session {

using ProgramPtr = std::shared_ptr<const ir::Program>;

inline ir::TensorType f32(ir::Shape shape) { return {ir::DType::f32, shape}; }

// in0 + in1 over `shape`; the flags say which of the two are donated.
inline ProgramPtr add_program(ir::Shape shape, bool donate_first = false, bool donate_second = false) {
  ir::ProgramBuilder builder;
  const ir::Ref inputs[] = {builder.add_input(f32(shape)), builder.add_input(f32(shape))};
  if (donate_first) builder.donate(0);
  if (donate_second) builder.donate(1);
  const auto sum = value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::add}, inputs, {"model.cc", 41}));
  return std::make_shared<const ir::Program>(builder.finish({sum}));
}

// in0 * scalar.
inline ProgramPtr scale_program(ir::Shape shape, bool donate = false) {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input(f32(shape));
  if (donate) builder.donate(0);
  const ir::Ref operands[] = {x, builder.add_scalar(ir::DType::f32)};
  const auto y = value_or_throw(builder.add(ir::Pointwise{ir::PointwiseFn::mul}, operands));
  return std::make_shared<const ir::Program>(builder.finish({y}));
}

// in0 reshaped.
inline ProgramPtr reshape_program(ir::Shape from, ir::Shape to) {
  ir::ProgramBuilder builder;
  const auto x = builder.add_input(f32(from));
  const auto y = value_or_throw(builder.add(ir::Reshape{to}, {&x, 1}));
  return std::make_shared<const ir::Program>(builder.finish({y}));
}

inline proto::HostTensor tensor(ir::Shape shape, std::vector<float> values) {
  return {f32(shape), SharedBytes::own(std::move(values))};
}

inline std::vector<float> values(const proto::HostTensor& tensor) {
  std::vector<float> numbers(tensor.bytes.size() / sizeof(float));
  if (!numbers.empty()) std::memcpy(numbers.data(), tensor.bytes.data(), tensor.bytes.size());
  return numbers;
}

// Blocks the threads in pass() until it is opened.
class Gate {
 public:
  // Opens, and waits until the waiting threads have left: they still hold the mutex on their way out.
  ~Gate() {
    open();
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return inside_ == 0; });
  }
  void open() {
    {
      const std::lock_guard lock{mutex_};
      open_ = true;
    }
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock{mutex_};
    ++waiting_;
    ++inside_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
    --inside_;
    changed_.notify_all();  // under the lock: afterwards the gate may be destroyed
  }
  // Waits until pass() has been called `count` times.
  void await(int count) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return waiting_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int waiting_ = 0;  // calls of pass() so far
  int inside_ = 0;   // calls of pass() that have not returned
};

}  // namespace burn::session
