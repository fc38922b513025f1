// Every kind of device that this program knows: for tests of what backends/backend.h and backends/stream.h promise.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/backends/test_device.h"

namespace burn::testing {

using backends::BufferPtr;
using backends::Failure;
using ir::DType;
using ir::PointwiseFn;
using ir::Ref;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

inline ir::TensorType f32(std::int64_t n) { return {DType::f32, {n}}; }

// Builds a program one node at a time.
class Writer {
 public:
  Ref input(const ir::TensorType& type, bool donated = false) {
    const auto ref = builder_.add_input(type);
    if (donated) builder_.donate(ref.index());
    return ref;
  }
  Ref scalar() { return builder_.add_scalar(DType::f32); }
  Ref add(const ir::Op& op, std::initializer_list<Ref> operands) {
    return value_or_throw(builder_.add(op, std::span(operands.begin(), operands.size()), {"model.cc", 41}));
  }
  Ref add(PointwiseFn fn, std::initializer_list<Ref> operands) { return add(ir::Pointwise{fn}, operands); }
  ir::Program finish(std::vector<Ref> outputs) { return builder_.finish(std::move(outputs)); }

 private:
  ir::ProgramBuilder builder_;
};

class BackendContract : public ::testing::TestWithParam<backends::BackendKind> {
 protected:
  bool computes() const { return GetParam().computes; }

  Result<BufferPtr> upload(std::vector<float> numbers) {
    return device_.stream().upload(SharedBytes::own(std::move(numbers)));
  }
  std::vector<float> numbers(const BufferPtr& buffer) {
    const auto bytes = value_or_throw(device_.download(buffer, buffer->size()));
    std::vector<float> numbers(bytes.size() / sizeof(float));
    std::ranges::copy(bytes.span(), std::as_writable_bytes(std::span(numbers)).begin());
    return numbers;
  }
  std::shared_ptr<backends::Executable> compile(const ir::Program& program) {
    return value_or_throw(device_.compile(program));
  }
  // The failure of an output, reported by the run or by a later download; null if it was computed.
  Failure failure_of(const backends::RunResult& result, std::size_t k) {
    if (!result.failures.empty() && result.failures[k]) return result.failures[k];
    Failure failure;
    (void)device_.download(result.outputs[k], 0, &failure);
    return failure;
  }

  TestDevice device_{GetParam().name};
};

class ComputingContract : public BackendContract {};

// Outputs: x gathered at an index, twice that, and x + x, which needs no index.
inline ir::Program pick_program() {
  Writer w;
  const auto x = w.input(f32(3)), index = w.input({DType::i64, {1}});
  const auto picked = w.add(ir::Gather{0}, {x, index});
  return w.finish({picked, w.add(PointwiseFn::add, {picked, picked}), w.add(PointwiseFn::add, {x, x})});
}

}  // namespace burn::testing
