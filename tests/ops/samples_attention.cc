#include "tests/ops/sample_builder.h"

namespace burn::testing {
namespace {

using ir::DType;
using ir::Shape;

struct AttentionCase {
  Shape batch;
  std::int64_t n, m, d, e;
  bool causal = false, mask = false, bias = false;
};

std::vector<AttentionCase> attention_cases() {
  return {
      {{}, 3, 4, 2, 5},
      {{2, 2}, 5, 5, 4, 4, true},
      {{1, 3}, 3, 7, 8, 8, true, false, true},
      {{2}, 7, 3, 4, 6, true},  // the first queries see nothing
      {{2, 2}, 6, 9, 4, 4, false, true},
      {{2, 1}, 6, 9, 4, 3, true, true, true},
      {{1, 2}, 130, 130, 16, 16, true},  // several blocks of queries
      {{1}, 70, 1100, 8, 8, false},      // several blocks of keys
      {{1}, 100, 1100, 8, 4, true, true, true},
      {{3}, 1, 20, 8, 8},                   // one query after another, as in generation
      {{1, 2, 1, 2, 1}, 3, 4, 2, 2, true},  // many dims
      {{2}, 3, 0, 4, 4},                    // no key
      {{2}, 0, 3, 4, 4},                    // no query
      {{0, 2}, 3, 3, 4, 4},
      {{2}, 3, 4, 0, 2},  // all scores 0
      {{2}, 3, 4, 2, 0},
  };
}

Shape with(Shape batch, std::int64_t rows, std::int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

Sample attention_sample(const AttentionCase& c, DType dtype, View view, bool is_grad, Values bias = Values::ordinary) {
  SampleBuilder sample(std::string(ir::name(dtype)) + to_string(with(c.batch, c.n, c.m)) + std::string(name(view)) +
                       (c.causal ? "causal" : "") + (c.mask ? "mask" : "") + (c.bias ? "bias" : ""));
  const auto x = [&](std::int64_t rows, std::int64_t columns, Values values = Values::ordinary) {
    return sample.view({dtype, with(c.batch, rows, columns)}, view, values);
  };
  constexpr double kScale = 0.25;
  std::vector<ir::Ref> operands{x(c.n, c.d), x(c.m, c.d), x(c.m, c.e)};
  const std::size_t plain = operands.size();
  if (c.mask) operands.push_back(sample.view({DType::bool_, with(c.batch, c.n, c.m)}, view));
  if (c.bias) operands.push_back(x(c.n, c.m, bias));
  const auto y = sample.add(ir::Attention{kScale, c.causal}, operands);
  if (!is_grad) return sample.finish({y, y.result(1)}, 4, 3);
  operands.insert(operands.begin() + static_cast<std::ptrdiff_t>(plain), {y, y.result(1), x(c.n, c.e)});
  const auto grads = sample.add(ir::AttentionGrad{kScale, c.causal}, operands);
  return sample.finish({grads, grads.result(1), grads.result(2)}, 8, 30);
}

// --- sizes that kernels of their own are made for
// ----------------------------------------------------------------------

// How queries, keys and values lie in memory.
enum class Layout {
  rows,        // [batch, heads, length, dim]
  heads,       // heads split from rows: [batch, length, heads, dim]
  packed,      // all three side by side: [batch, length, 3, heads, dim]
  transposed,  // columns apart
};

struct FusedCase {
  AttentionCase of;
  Layout layout;
  std::string_view name;
};

std::vector<FusedCase> fused_cases() {
  return {
      {{{2, 3}, 64, 64, 64, 64, true}, Layout::rows, "causal"},
      {{{1, 2}, 96, 128, 64, 64, true}, Layout::rows, "whole tiles"},
      {{{2, 3}, 100, 100, 64, 64}, Layout::packed, "packed"},
      {{{2, 3}, 100, 100, 32, 32, true}, Layout::packed, "causal packed"},
      {{{2, 2}, 75, 133, 64, 64}, Layout::heads, "cross"},
      {{{2, 2}, 80, 144, 40, 24, true}, Layout::heads, "causal cross"},
      {{{3}, 133, 75, 16, 8}, Layout::rows, "more queries than keys"},
      {{{}, 65, 66, 8, 16, true}, Layout::rows, "one head"},
      {{{1, 2, 2}, 70, 70, 16, 16, true}, Layout::rows, "many dims"},
      {{{1, 2}, 130, 130, 128, 128, true}, Layout::heads, "wide"},
      {{{1, 2}, 80, 80, 256, 256, true}, Layout::heads, "very wide"},
      {{{1, 2}, 64, 64, 16, 16}, Layout::transposed, "transposed"},
  };
}

ir::Ref permuted(SampleBuilder& sample, ir::Ref x, const ir::Dims& axes) { return sample.add(ir::Permute{axes}, {x}); }

// [batch, heads, rows, columns] as it comes out of a layer: a view of what lies otherwise.
ir::Ref split_heads(SampleBuilder& sample, DType dtype, const AttentionCase& c, std::int64_t rows,
                    std::int64_t columns) {
  const auto x = sample.input({dtype, {c.batch[0], rows, c.batch[1] * columns}});
  const auto split = sample.add(ir::Reshape{{c.batch[0], rows, c.batch[1], columns}}, {x});
  return permuted(sample, split, {0, 2, 1, 3});
}

std::vector<ir::Ref> fused_operands(SampleBuilder& sample, DType dtype, const FusedCase& fused) {
  const auto& c = fused.of;
  if (fused.layout == Layout::packed) {
    const ir::Shape split{c.batch[0], c.n, 3, c.batch[1], c.d};
    const auto rows = sample.input({dtype, {c.batch[0], c.n, 3 * c.batch[1] * c.d}});
    const auto all = sample.add(ir::Reshape{split}, {rows});
    std::vector<ir::Ref> operands;
    for (std::int64_t i = 0; i < 3; ++i) {
      auto sizes = split;
      sizes[2] = 1;
      const auto one = sample.add(ir::Slice{{0, 0, i, 0, 0}, sizes, {1, 1, 1, 1, 1}}, {all});
      const auto four = sample.add(ir::Reshape{{c.batch[0], c.n, c.batch[1], c.d}}, {one});
      operands.push_back(permuted(sample, four, {0, 2, 1, 3}));
    }
    return operands;
  }
  const auto x = [&](std::int64_t rows, std::int64_t columns) {
    if (fused.layout == Layout::heads) return split_heads(sample, dtype, c, rows, columns);
    return sample.view({dtype, with(c.batch, rows, columns)},
                       fused.layout == Layout::transposed ? View::transposed : View::plain);
  };
  return {x(c.n, c.d), x(c.m, c.d), x(c.m, c.e)};
}

Sample fused_sample(const FusedCase& fused, DType dtype, bool is_grad) {
  const auto& c = fused.of;
  SampleBuilder sample(std::string(ir::name(dtype)) + " fused " + std::string(fused.name));
  constexpr double kScale = 0.125;
  auto operands = fused_operands(sample, dtype, fused);
  const auto y = sample.add(ir::Attention{kScale, c.causal}, operands);
  if (!is_grad) return sample.finish({y, y.result(1)}, 4, 3);
  const auto g = fused.layout == Layout::heads || fused.layout == Layout::packed
                     ? split_heads(sample, dtype, c, c.n, c.e)
                     : sample.view({dtype, with(c.batch, c.n, c.e)}, View::plain);
  for (const auto ref : {y, y.result(1), g}) operands.push_back(ref);
  const auto grads = sample.add(ir::AttentionGrad{kScale, c.causal}, operands);
  return sample.finish({grads, grads.result(1), grads.result(2)}, 8, 30);
}

}  // namespace

std::vector<Sample> attention_samples(std::string_view op) {
  std::vector<Sample> all;
  if (op != "attention" && op != "attention_grad") return all;
  const bool is_grad = op == "attention_grad";
  for (const auto& c : attention_cases()) {
    for (const auto dtype : kFloats) {
      for (const auto view : {View::plain, View::transposed}) all.push_back(attention_sample(c, dtype, view, is_grad));
    }
  }
  for (const auto& fused : fused_cases()) {
    for (const auto dtype : {DType::f16, DType::bf16}) all.push_back(fused_sample(fused, dtype, is_grad));
  }
  const auto cases = attention_cases();
  for (const auto view : kViews) all.push_back(attention_sample(cases[5], DType::f32, view, is_grad));
  // NaN and infinities among the scores stay in the rows that they are in.
  for (const auto dtype : {DType::f32, DType::f64}) {
    if (!is_grad) all.push_back(attention_sample(cases[2], dtype, View::plain, false, Values::special));
  }
  return all;
}

}  // namespace burn::testing
