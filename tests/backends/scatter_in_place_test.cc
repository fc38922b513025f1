// Rows written into a large table that is given away: into the table itself, wherever that is right.
#include <numeric>

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/backends/test_device.h"

namespace burn::testing {
namespace {

using ir::DType;
using ir::Ref;

constexpr std::int64_t kCount = 4096, kWidth = 4, kRows = 100;

// A table [count, width], a donated input; an index [rows, 1] and values [rows, width].
struct Writing {
  ir::ProgramBuilder builder;
  Ref table, index, values;

  Writing() {
    table = builder.add_input({DType::f32, {kCount, kWidth}});
    index = builder.add_input({DType::i64, {kRows, 1}});
    values = builder.add_input({DType::f32, {kRows, kWidth}});
    builder.donate(table.index());
  }
  Ref add(const ir::Op& op, std::initializer_list<Ref> operands) {
    return value_or_throw(builder.add(op, std::span(operands.begin(), operands.size()), {}));
  }
  Ref rows() { return add(ir::Expand{{kRows, kWidth}}, {index}); }
  Ref written(ir::ScatterFn fn = ir::ScatterFn::assign) { return add(ir::Scatter{0, fn}, {table, rows(), values}); }
};

// All over the table, some of them several times.
std::vector<std::int64_t> indices() {
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < kRows; ++i) rows.push_back(i / 4 * 977 % kCount + i % 2);
  return rows;
}
std::vector<float> numbers(std::int64_t count, float first) {
  std::vector<float> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

class ScatterInPlace : public ::testing::TestWithParam<backends::BackendKind> {
 protected:
  struct Outcome {
    const backends::Buffer* table;  // that was given away
    std::vector<backends::BufferPtr> outputs;
  };
  Outcome run(const ir::Program& program) {
    const auto executable = value_or_throw(device_.compile(program));
    backends::RunArgs args;
    args.inputs.push_back(value_or_throw(device_.stream().upload(SharedBytes::own(numbers(kCount * kWidth, 0)))));
    args.inputs.push_back(value_or_throw(device_.stream().upload(SharedBytes::own(indices()))));
    args.inputs.push_back(value_or_throw(device_.stream().upload(SharedBytes::own(numbers(kRows * kWidth, -9000)))));
    const auto* table = args.inputs[0].get();
    auto result = value_or_throw(device_.run(executable, std::move(args)));
    return {table, std::move(result.outputs)};
  }
  // The delayed device's thread may still hold an upload that it has just done when the run looks for sole owners.
  static bool has_sole_inputs() { return GetParam().name != "delayed"; }
  std::vector<float> read(const backends::BufferPtr& buffer, std::int64_t count) {
    const auto bytes = value_or_throw(device_.download(buffer, static_cast<std::size_t>(count) * sizeof(float)));
    std::vector<float> numbers(static_cast<std::size_t>(count));
    std::ranges::copy(bytes.span(), std::as_writable_bytes(std::span(numbers)).begin());
    return numbers;
  }
  static std::vector<float> assigned() {
    auto table = numbers(kCount * kWidth, 0);
    const auto values = numbers(kRows * kWidth, -9000);
    const auto rows = indices();
    for (std::int64_t i = 0; i < kRows * kWidth; ++i) {
      const auto row = rows[static_cast<std::size_t>(i / kWidth)];
      table[static_cast<std::size_t>(row * kWidth + i % kWidth)] = values[static_cast<std::size_t>(i)];
    }
    return table;
  }

  TestDevice device_{GetParam().name};
};

INSTANTIATE_TEST_SUITE_P(Backends, ScatterInPlace, ::testing::ValuesIn(computing_kinds()),
                         [](const auto& info) { return info.param.name; });

TEST_P(ScatterInPlace, ATableThatIsReadBeforeIsWrittenWhereItIs) {
  Writing writing;
  const auto before = writing.add(ir::Gather{0}, {writing.table, writing.rows()});
  const auto outcome = run(writing.builder.finish({writing.written(), before}));
  if (has_sole_inputs()) {
    EXPECT_EQ(outcome.outputs[0].get(), outcome.table);
  }
  EXPECT_EQ(read(outcome.outputs[0], kCount * kWidth), assigned());
  EXPECT_EQ(read(outcome.outputs[1], 1)[0], 0) << "as it was before";
}

TEST_P(ScatterInPlace, ATableIsAddedToWhereItIs) {
  Writing writing;
  const auto outcome = run(writing.builder.finish({writing.written(ir::ScatterFn::add)}));
  if (has_sole_inputs()) {
    EXPECT_EQ(outcome.outputs[0].get(), outcome.table);
  }
  auto table = numbers(kCount * kWidth, 0);
  const auto values = numbers(kRows * kWidth, -9000);
  const auto rows = indices();
  for (std::int64_t i = 0; i < kRows * kWidth; ++i)
    table[static_cast<std::size_t>(rows[static_cast<std::size_t>(i / kWidth)] * kWidth + i % kWidth)] +=
        values[static_cast<std::size_t>(i)];
  EXPECT_EQ(read(outcome.outputs[0], kCount * kWidth), table);
}

TEST_P(ScatterInPlace, ATableThatIsReadAfterwardsIsAsItWas) {
  Writing writing;
  const auto written = writing.written();
  const auto doubled = writing.add(ir::Pointwise{ir::PointwiseFn::add}, {writing.table, writing.table});
  const auto outcome = run(writing.builder.finish({written, doubled}));
  EXPECT_EQ(read(outcome.outputs[0], kCount * kWidth), assigned());
  EXPECT_EQ(read(outcome.outputs[1], 2)[1], 2);
}

TEST_P(ScatterInPlace, RowsOfTheTableItselfAreThoseOfBefore) {
  Writing writing;
  const auto first = writing.add(ir::Slice{{0, 0}, {kRows, kWidth}, {1, 1}}, {writing.table});
  const auto moved = writing.add(ir::Scatter{0, ir::ScatterFn::assign}, {writing.table, writing.rows(), first});
  const auto outcome = run(writing.builder.finish({moved}));
  auto table = numbers(kCount * kWidth, 0);
  const auto rows = indices();
  for (std::int64_t i = 0; i < kRows * kWidth; ++i)
    table[static_cast<std::size_t>(rows[static_cast<std::size_t>(i / kWidth)] * kWidth + i % kWidth)] =
        static_cast<float>(i);
  EXPECT_EQ(read(outcome.outputs[0], kCount * kWidth), table);
}

}  // namespace
}  // namespace burn::testing
