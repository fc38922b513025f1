// Every sample of every op, with each input split along each of its dims, gives what it gives on one device.
#include "ir/catalogue.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include <gtest/gtest.h>

#include "compile/partition/exact.h"
#include "ir/work.h"
#include "tests/compile/partition/lockstep.h"
#include "tests/ops/samples.h"

namespace burn::testing {
namespace {

using compile::partition::balanced;
using compile::partition::Bounds;
using compile::partition::is_exact;
using compile::partition::Layout;

bool is_exact_program(const ir::Program& program) {
  for (const auto& node : program.nodes) {
    if (!is_exact(node.op, program.type_of(node))) return false;
  }
  return true;
}

// Bit by bit, where neither is NaN.
std::string first_other_bits(const reference::Tensor& actual, const reference::Tensor& expected) {
  if (auto difference = first_difference(actual, expected, 0); !difference.empty()) return difference;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const bool is_nan = ir::is_floating(expected.type.dtype) && std::isnan(expected.get<double>(i));
    if (!is_nan && actual.bits[i] != expected.bits[i]) return "bits differ at element " + std::to_string(i);
  }
  return {};
}

// Balanced, uneven, and with parts that are empty.
std::vector<Bounds> ways_to_split(std::int64_t size, int members) {
  std::vector<Bounds> ways{balanced(size, members)};
  Bounds uneven = balanced(size, members);
  uneven[1] = std::min<std::int64_t>(uneven[1], size / 3);
  ways.push_back(uneven);
  Bounds last(static_cast<std::size_t>(members) + 1, 0);
  last.back() = size;
  ways.push_back(last);
  Bounds first(static_cast<std::size_t>(members) + 1, size);
  first.front() = 0;
  ways.push_back(first);
  return ways;
}

// 16-bit floats are rounded before parts are added: relative to the largest of them, which the sum may not show.
double what_cancels(const Sample& sample, const reference::Tensor& expected) {
  double largest = sample.cancelled;
  if (ir::compute_dtype(expected.type.dtype) == expected.type.dtype) return largest;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double number = std::abs(expected.get<double>(i));
    if (std::isfinite(number)) largest = std::max(largest, 4 * number);
  }
  return largest;
}

// Steps that the reference takes for a sample, roughly: its transforms are sums by definition.
double reference_steps(const Sample& sample) {
  double steps = 16 * ir::estimated_work(sample.program);
  for (const auto& node : sample.program.nodes) {
    std::visit(
        [&](const auto& op) {
          const auto& shape = sample.program.type_of(node).shape;
          if constexpr (requires { op.align_corners; }) steps += 64 * static_cast<double>(ir::num_elements(shape));
          if constexpr (requires { op.axis; })
            steps += 8 * static_cast<double>(ir::num_elements(shape)) *
                     static_cast<double>(shape[static_cast<int>(op.axis)]);
        },
        node.op);
  }
  return steps;
}
// Large samples are split in fewer ways; too large ones are left out, as smaller samples cover the same op.
bool is_large(const Sample& sample) { return reference_steps(sample) > 2e4; }
bool is_too_large(const Sample& sample) { return reference_steps(sample) > 5e5; }

// A program that has collectives is one member's already.
bool is_left_out(const Sample& sample) {
  const auto& nodes = sample.program.nodes;
  return is_too_large(sample) ||
         std::any_of(nodes.begin(), nodes.end(), [](const ir::Node& node) { return ir::is_collective(node.op); });
}

class PartitionedCatalogue : public ::testing::TestWithParam<std::string> {};

TEST_P(PartitionedCatalogue, GivesWhatOneDeviceGives) {
  for (const auto& sample : samples(GetParam())) {
    if (is_left_out(sample)) continue;
    const auto& program = sample.program;
    const auto expected = reference::evaluate(program, sample.inputs, sample.bindings);
    const bool is_exact = is_exact_program(program);
    const auto check = [&](const std::vector<Layout>& layouts, int members, const std::string& what) {
      SCOPED_TRACE(sample.name + ": " + what);
      const auto partitioned = compile::partition::partition(program, layouts, members);
      ASSERT_TRUE(partitioned.ok()) << partitioned.status().message();
      std::vector<reference::Tensor> actual;
      ASSERT_NO_THROW(actual = run_partitioned(program, *partitioned, layouts, sample.inputs, sample.bindings))
          << to_string(program) << to_string(*partitioned);
      for (std::size_t k = 0; k < expected.size(); ++k) {
        const auto difference =
            is_exact ? first_other_bits(actual[k], expected[k])
                     : first_difference(actual[k], expected[k], sample.slack, what_cancels(sample, expected[k]));
        ASSERT_EQ(difference, "") << "output " << k << "\n" << to_string(program) << to_string(*partitioned);
      }
    };
    check(std::vector<Layout>(sample.inputs.size()), 2, "whole");
    for (const int members : {2, 3}) {
      if (members == 3 && is_large(sample)) continue;
      for (std::size_t i = 0; i < sample.inputs.size(); ++i) {
        const auto& shape = sample.inputs[i].type.shape;
        for (int dim = 0; dim < shape.rank(); ++dim) {
          if (dim > 1 && is_large(sample)) continue;
          for (const auto& bounds : ways_to_split(shape[dim], members)) {
            if (is_large(sample) && bounds != balanced(shape[dim], members)) continue;
            std::vector<Layout> layouts(sample.inputs.size());
            layouts[i] = Layout::split(dim, bounds);
            check(layouts, members, "input " + std::to_string(i) + " " + to_string(layouts[i]));
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

// Of two inputs, both are split.
TEST_P(PartitionedCatalogue, TakesOperandsThatAreSplitOtherwise) {
  for (const auto& sample : samples(GetParam())) {
    if (is_left_out(sample)) continue;
    std::vector<Layout> layouts(sample.inputs.size());
    for (std::size_t i = 0; i < sample.inputs.size(); ++i) {
      const auto& shape = sample.inputs[i].type.shape;
      const int dim = shape.rank() - 1 - static_cast<int>(i) % std::max(shape.rank(), 1);
      if (dim >= 0) layouts[i] = Layout::split(dim, balanced(shape[dim], 2));
    }
    SCOPED_TRACE(sample.name);
    const auto partitioned = compile::partition::partition(sample.program, layouts, 2);
    ASSERT_TRUE(partitioned.ok()) << partitioned.status().message();
    const auto expected = reference::evaluate(sample.program, sample.inputs, sample.bindings);
    const auto actual = run_partitioned(sample.program, *partitioned, layouts, sample.inputs, sample.bindings);
    for (std::size_t k = 0; k < expected.size(); ++k)
      ASSERT_EQ(first_difference(actual[k], expected[k], sample.slack, what_cancels(sample, expected[k])), "")
          << to_string(sample.program) << to_string(*partitioned);
  }
}

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (const auto& entry : ir::catalogue()) names.push_back(entry.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(EveryOp, PartitionedCatalogue, ::testing::ValuesIn(op_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace burn::testing
