// Values that are put side by side, which GPUs compute where they lie in the result: whatever else reads them, and in
// whatever order they are made.
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "tests/backends/test_device.h"

namespace burn::testing {
namespace {

using ir::DType;
using ir::PointwiseFn;
using ir::Ref;
using ir::Shape;

constexpr std::int64_t kColumns = 64;

// Formulas, products and concatenations over values of some rows of 64 columns, at random; some of them are outputs.
class Writer {
 public:
  explicit Writer(std::uint32_t seed) : random_(seed) {
    for (const std::int64_t rows : {1, 4, 16, 16})
      values_.push_back(builder_.add_input({DType::f32, {rows, kColumns}}));
    square_ = builder_.add_input({DType::f32, {kColumns, kColumns}});
    tall_ = builder_.add_input({DType::f32, {2 * kColumns, kColumns}});
  }

  ir::Program write(int nodes) {
    for (int i = 0; i < nodes; ++i) add_node();
    std::vector<Ref> outputs;
    for (const auto ref : values_) {
      if (!ref.is_input() && (below(6) == 0 || ref == values_.back())) outputs.push_back(ref);
    }
    return builder_.finish(std::move(outputs));
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  std::int64_t rows(Ref ref) const { return builder_.type_of(ref).shape[0]; }
  Ref add(const ir::Op& op, std::vector<Ref> operands) { return *builder_.add(op, operands); }
  Ref any() {
    const auto recent = std::min<std::size_t>(values_.size(), 7);
    return below(4) == 0 ? values_[below(values_.size())] : values_[values_.size() - 1 - below(recent)];
  }
  Ref like(Ref ref) {
    for (int i = 0; i < 20; ++i) {
      if (const auto other = any(); rows(other) == rows(ref)) return other;
    }
    return ref;
  }

  void add_node() {
    const auto a = any();
    switch (below(7)) {
      case 0:
        return values_.push_back(add(ir::Pointwise{PointwiseFn::tanh}, {a}));
      case 1:
        return values_.push_back(add(ir::Pointwise{PointwiseFn::add}, {a, like(a)}));
      case 2:
        return values_.push_back(add(ir::Pointwise{PointwiseFn::sin}, {add(ir::MatMul{}, {a, square_})}));
      case 3:  // columns beside columns
        return values_.push_back(add(ir::MatMul{}, {add(ir::Concat{1}, {a, like(a)}), tall_}));
      case 4: {  // columns beside columns, of what is computed for it
        const auto b = like(a);
        const auto part = [&](PointwiseFn fn, Ref x) { return add(ir::Pointwise{fn}, {x}); };
        const auto whole = add(ir::Concat{1}, {part(PointwiseFn::sigmoid, a), part(PointwiseFn::cos, b)});
        return values_.push_back(add(ir::MatMul{}, {whole, tall_}));
      }
      case 5: {  // rows below rows, some twice
        std::vector<Ref> parts{a};
        for (std::size_t k = 1 + below(3); k > 0; --k) parts.push_back(any());
        std::int64_t all = 0;
        for (const auto part : parts) all += rows(part);
        if (all > 512) return;
        return values_.push_back(add(ir::Concat{0}, parts));
      }
      default: {  // in a new dim before all others
        const Shape stacked{1, rows(a), kColumns};
        const auto b = like(a);
        const auto whole = add(ir::Concat{0}, {add(ir::Reshape{stacked}, {a}), add(ir::Reshape{stacked}, {b})});
        return values_.push_back(add(ir::Reshape{{2 * rows(a), kColumns}}, {whole}));
      }
    }
  }

  std::mt19937 random_;
  ir::ProgramBuilder builder_;
  std::vector<Ref> values_;
  Ref square_, tall_;
};

class SideBySide : public ::testing::TestWithParam<backends::BackendKind> {};

INSTANTIATE_TEST_SUITE_P(Backends, SideBySide, ::testing::ValuesIn(computing_kinds()),
                         [](const auto& info) { return info.param.name; });

TEST_P(SideBySide, IsWhatTheReferenceComputes) {
  TestDevice device{GetParam().name};
  for (std::uint32_t seed = 0; seed < 16; ++seed) {
    const auto program = Writer{seed}.write(12 + 2 * static_cast<int>(seed));
    std::vector<reference::Tensor> inputs;
    for (const auto& input : program.inputs) {
      reference::Tensor numbers(input.type);
      for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers.set(i, (static_cast<double>(i * 7919 % 2003) - 1001) / (inputs.size() < 4 ? 1000 : 8000));
      inputs.push_back(std::move(numbers));
    }
    const auto expected = reference::evaluate(program, inputs);
    const auto got = run_program(device, program, inputs);
    ASSERT_TRUE(got.ok()) << got.status().to_string();
    ASSERT_EQ(got->size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < expected[k].size(); ++i) {
        const double a = (*got)[k].get<double>(i), b = expected[k].get<double>(i);
        wrong += std::abs(a - b) <= 2e-3 * (1 + std::abs(b)) ? 0 : 1;
      }
      EXPECT_EQ(wrong, 0U) << "elements of output " << k << " of program " << seed;
    }
  }
}

}  // namespace
}  // namespace burn::testing
