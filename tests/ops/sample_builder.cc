#include "tests/ops/sample_builder.h"

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "base/error.h"
#include "ir/dispatch.h"

namespace burn::testing {
namespace {

std::uint64_t double_bits(double value) { return std::bit_cast<std::uint64_t>(value); }

// The numbers at the edges of a dtype.
std::vector<std::uint64_t> edges(ir::DType dtype) {
  if (ir::is_floating(dtype)) {
    const double infinity = std::numeric_limits<double>::infinity();
    std::vector<double> values = {0.0,      -0.0,      1.0,          -1.0,    0.5,    2.5,   -3.5,
                                  infinity, -infinity, std::nan(""), 1e30,    -300.7, 65504, 65520,
                                  1e-7,     -3e-5,     2147483648.0, -9.3e18, 1.9e19};
    std::vector<std::uint64_t> bits;
    for (const auto value : values) bits.push_back(double_bits(value));
    return bits;
  }
  if (ir::is_bool(dtype)) return {0, 1};
  const int width = static_cast<int>(ir::size_of(dtype)) * 8;
  const std::uint64_t top = std::uint64_t{1} << (width - 1);
  return {0, 1, ~std::uint64_t{0}, top, top - 1, static_cast<std::uint64_t>(width), 3};
}

}  // namespace

std::string_view name(View view) {
  switch (view) {
    case View::plain:
      return "plain";
    case View::transposed:
      return "transposed";
    case View::strided:
      return "strided";
    case View::reversed:
      return "reversed";
    case View::expanded:
      return "expanded";
  }
  return "";
}

std::vector<ir::DType> numbers() {
  std::vector<ir::DType> all;
  for (const auto dtype : kFloats) all.push_back(dtype);
  for (const auto dtype : kIntegers) all.push_back(dtype);
  return all;
}

std::vector<ir::DType> dtypes() {
  auto all = numbers();
  all.push_back(ir::DType::bool_);
  return all;
}

SampleBuilder::SampleBuilder(std::string name) : random_(std::hash<std::string>{}(name)) {
  sample_.name = std::move(name);
  sample_.bindings.seed = 0x1234567890abcdef;
  sample_.bindings.random_offset = 0xfffffffeu;  // the low word of the counter is about to carry
}

std::uint64_t SampleBuilder::draw(ir::DType dtype, Values values) {
  if (values == Values::special && random_() % 2 == 0) {
    const auto choices = edges(dtype);
    return choices[random_() % choices.size()];
  }
  const bool positive = values == Values::positive;
  if (ir::is_bool(dtype)) return random_() % 2;
  if (ir::is_floating(dtype)) {
    const double unit = std::uniform_real_distribution<double>()(random_);
    return double_bits(positive ? 0.1 + 2.9 * unit : 6 * unit - 3);
  }
  const bool is_signed = ir::dtype_class(dtype) == ir::DTypeClass::signed_integer;
  if (positive || !is_signed) return random_() % 9 + (positive ? 1 : 0);
  return random_() % 19 - 9;
}

ir::Ref SampleBuilder::input(const ir::TensorType& type, Values values) {
  reference::Tensor tensor(type);
  for (std::size_t i = 0; i < tensor.size(); ++i) tensor.set_bits(i, draw(type.dtype, values));
  return input(std::move(tensor));
}

ir::Ref SampleBuilder::input(reference::Tensor tensor) {
  const auto ref = program_.add_input(tensor.type);
  sample_.inputs.push_back(std::move(tensor));
  return ref;
}

ir::Ref SampleBuilder::index(const ir::Shape& shape, std::int64_t limit, ir::DType dtype) {
  reference::Tensor tensor({dtype, shape});
  for (std::size_t i = 0; i < tensor.size(); ++i) tensor.bits[i] = random_() % static_cast<std::uint64_t>(limit);
  return input(std::move(tensor));
}

ir::Ref SampleBuilder::view(const ir::TensorType& type, View view, Values values) {
  const int rank = type.shape.rank();
  ir::TensorType stored = type;
  ir::Dims axes, starts = ir::Dims::filled(rank, 0), steps = ir::Dims::filled(rank, 1);
  switch (rank == 0 ? View::plain : view) {
    case View::plain:
      return input(type, values);
    case View::transposed:
      for (int i = 0; i < rank; ++i) {
        stored.shape[i] = type.shape[rank - 1 - i];
        axes.push_back(rank - 1 - i);
      }
      return add(ir::Permute{axes}, {input(stored, values)});
    case View::strided:
      for (int i = 0; i < rank; ++i) {
        stored.shape[i] = 2 * type.shape[i] + 1;
        starts[i] = 1;
        steps[i] = 2;
      }
      return add(ir::Slice{starts, type.shape, steps}, {input(stored, values)});
    case View::reversed:
      for (int i = 0; i < rank; ++i) {
        starts[i] = type.shape[i] > 0 ? type.shape[i] - 1 : 0;
        steps[i] = -1;
      }
      return add(ir::Slice{starts, type.shape, steps}, {input(stored, values)});
    case View::expanded:
      stored.shape[rank / 2] = 1;
      return add(ir::Expand{type.shape}, {input(stored, values)});
  }
  return {};
}

ir::Ref SampleBuilder::scalar(ir::DType dtype, double value) {
  sample_.bindings.scalars.push_back(
      ir::is_floating(dtype) ? double_bits(value) : static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
  return program_.add_scalar(dtype);
}

ir::Ref SampleBuilder::random(ir::RandomFn fn, ir::DType dtype, const ir::Shape& shape) {
  return random({.fn = fn, .dtype = dtype, .shape = shape});
}

ir::Ref SampleBuilder::random(const ir::Random& op) { return value_or_throw(program_.add_random(op)); }

ir::Ref SampleBuilder::add(const ir::Op& op, std::span<const ir::Ref> operands) {
  const auto ref = program_.add(op, operands, {.file = "samples.cc", .line = 1});
  BURN_CHECK(ref.ok(), (sample_.name + ": " + ref.status().message()).c_str());
  return *ref;
}

Sample SampleBuilder::finish(std::vector<ir::Ref> outputs, double slack, double cancelled) {
  sample_.cancelled = cancelled;
  sample_.slack = slack;
  sample_.program = program_.finish(std::move(outputs));
  return std::move(sample_);
}

}  // namespace burn::testing
