// Builds samples: programs whose inputs are random numbers, read through views.
#pragma once

#include <random>

#include "tests/ops/samples.h"

namespace burn::testing {

enum class Values {
  ordinary,  // floats in [-3, 3], whole numbers in [-9, 9], where signed
  positive,  // floats in (0.1, 3], whole numbers in [1, 9]
  special,   // ordinary values mixed with NaN, infinities, zeros and the extremes of the dtype
};

// How a value is laid out in memory.
enum class View { plain, transposed, strided, reversed, expanded };
inline constexpr View kViews[] = {View::plain, View::transposed, View::strided, View::reversed, View::expanded};
std::string_view name(View view);

inline constexpr ir::DType kFloats[] = {ir::DType::f64, ir::DType::f32, ir::DType::f16, ir::DType::bf16};
inline constexpr ir::DType kIntegers[] = {ir::DType::i64, ir::DType::i32, ir::DType::i16, ir::DType::i8,
                                          ir::DType::u64, ir::DType::u32, ir::DType::u16, ir::DType::u8};
std::vector<ir::DType> numbers();  // all but bool
std::vector<ir::DType> dtypes();   // all

// Must not be used after finish().
class SampleBuilder {
 public:
  explicit SampleBuilder(std::string name);

  ir::Ref input(const ir::TensorType& type, Values values = Values::ordinary);
  ir::Ref input(reference::Tensor tensor);
  // Whole numbers below `limit`, for use as indices.
  ir::Ref index(const ir::Shape& shape, std::int64_t limit, ir::DType dtype = ir::DType::i64);
  // A value of that type with the memory layout of `view`.
  ir::Ref view(const ir::TensorType& type, View view, Values values = Values::ordinary);
  ir::Ref scalar(ir::DType dtype, double value);
  ir::Ref random(ir::RandomFn fn, ir::DType dtype, const ir::Shape& shape);
  ir::Ref random(const ir::Random& op);  // with the next offset
  // Aborts if the op does not accept the operands, which is a mistake in the sample.
  ir::Ref add(const ir::Op& op, std::span<const ir::Ref> operands);
  ir::Ref add(const ir::Op& op, std::initializer_list<ir::Ref> operands) {
    return add(op, std::span(operands.begin(), operands.size()));
  }

  ir::TensorType type_of(ir::Ref ref) const { return program_.type_of(ref); }
  Sample finish(std::vector<ir::Ref> outputs, double slack = 1, double cancelled = 0);

 private:
  std::uint64_t draw(ir::DType dtype, Values values);

  ir::ProgramBuilder program_;
  Sample sample_;
  std::mt19937_64 random_;
};

// The samples of one op, one function per file.
std::vector<Sample> pointwise_samples(ir::PointwiseFn fn);
std::vector<Sample> source_samples(std::string_view op);
std::vector<Sample> axis_samples(std::string_view op);
std::vector<Sample> move_samples(std::string_view op);
std::vector<Sample> window_samples(std::string_view op);
std::vector<Sample> attention_samples(std::string_view op);
std::vector<Sample> sampling_samples(std::string_view op);
std::vector<Sample> lattice_samples(std::string_view op);
std::vector<Sample> linalg_samples(std::string_view op);
std::vector<Sample> fourier_samples(std::string_view op);
std::vector<Sample> collective_samples(std::string_view op);

}  // namespace burn::testing
