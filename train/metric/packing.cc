#include "train/metric/packing.h"

#include <cmath>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "client/ops/formula.h"

namespace burn::metric {
namespace {

using client::Value;
using Fn = ir::PointwiseFn;

constexpr int kBits = 24;  // f32 represents whole numbers of this many bits exactly
constexpr std::int64_t kMask = (std::int64_t{1} << kBits) - 1;

bool is_wide_integer(ir::DType dtype) { return ir::is_integer(dtype) && ir::size_of(dtype) >= 4; }

void add_pieces(const Value& x, std::vector<Value>& pieces) {
  const auto& site = client::current_site();
  const auto piece = [&](const Value& part) { pieces.push_back(client::cast(part, ir::DType::f32, site)); };
  const int count = pieces_of(x.dtype());
  if (is_wide_integer(x.dtype())) {
    for (int i = 0; i < count; ++i) {
      const auto shifted = i == 0 ? x : client::pointwise(Fn::bitwise_right_shift, x, i * kBits, site);
      piece(i + 1 == count ? shifted : client::pointwise(Fn::bitwise_and, shifted, kMask, site));
    }
  } else if (x.dtype() == ir::DType::f64) {
    auto rest = x;
    for (int i = 0; i < count; ++i) {
      const auto nearest = client::cast(rest, ir::DType::f32, site);
      pieces.push_back(nearest);
      if (i + 1 < count) rest = client::pointwise(Fn::sub, rest, client::cast(nearest, ir::DType::f64, site), site);
    }
  } else {
    piece(x);
  }
}

// The numbers of one tensor from its pieces; each piece has `count` elements.
template <typename Whole>
std::vector<Whole> whole_numbers(std::span<const float> pieces, std::size_t count, int pieces_each) {
  std::vector<Whole> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t bits = 0;
    for (int k = 0; k < pieces_each; ++k) {
      const auto piece = static_cast<std::int64_t>(pieces[static_cast<std::size_t>(k) * count + i]);
      bits += static_cast<std::uint64_t>(piece) << (k * kBits);  // a negative last piece is added as two's complement
    }
    numbers[i] = static_cast<Whole>(bits);
  }
  return numbers;
}

std::vector<double> doubles(std::span<const float> pieces, std::size_t count, int pieces_each) {
  std::vector<double> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    double sum = pieces[i];
    for (int k = 1; k < pieces_each && std::isfinite(sum); ++k) sum += pieces[static_cast<std::size_t>(k) * count + i];
    numbers[i] = sum;
  }
  return numbers;
}

TensorData unpack_one(std::span<const float> pieces, const ir::TensorType& type) {
  const auto count = static_cast<std::size_t>(type.num_elements());
  const int each = pieces_of(type.dtype);
  if (type.dtype == ir::DType::f64) return {doubles(pieces, count, each), type.shape};
  if (type.dtype == ir::DType::u64) return {whole_numbers<std::uint64_t>(pieces, count, each), type.shape};
  if (is_wide_integer(type.dtype))
    return TensorData(whole_numbers<std::int64_t>(pieces, count, each), type.shape).convert_dtype(type.dtype);
  const TensorData numbers(std::vector<float>(pieces.begin(), pieces.end()), type.shape);
  return type.dtype == ir::DType::f32 ? numbers : numbers.convert_dtype(type.dtype);
}

}  // namespace

int pieces_of(ir::DType dtype) {
  if (dtype == ir::DType::f64) return 3;
  if (!is_wide_integer(dtype)) return 1;
  return ir::size_of(dtype) == 8 ? 3 : 2;
}

Value pack(std::span<const Value> tensors) {
  const auto& site = client::current_site();
  std::vector<Value> pieces;
  for (const auto& tensor : tensors) {
    const auto count = tensor.type().num_elements();
    if (count > 0) add_pieces(client::reshape(tensor, {count}, site), pieces);
  }
  return pieces.size() == 1 ? pieces[0] : client::concat(pieces, 0, site);
}

std::vector<TensorData> unpack(const TensorData& packed, std::span<const ir::TensorType> types) {
  auto numbers = packed.as_slice<float>();
  std::vector<TensorData> tensors;
  tensors.reserve(types.size());
  for (const auto& type : types) {
    const auto size = static_cast<std::size_t>(type.num_elements()) * static_cast<std::size_t>(pieces_of(type.dtype));
    if (size > numbers.size()) {
      throw Error(StatusCode::internal, "metrics: " + std::to_string(packed.num_elements()) +
                                            " numbers came in, which ends within " + ir::to_string(type));
    }
    tensors.push_back(unpack_one(numbers.first(size), type));
    numbers = numbers.subspan(size);
  }
  return tensors;
}

}  // namespace burn::metric
