// TensorData::random() (client/tensor/data.h): random numbers drawn on the host.
#include <cmath>
#include <random>

#include "base/error.h"
#include "client/tensor/args.h"
#include "client/tensor/data.h"

namespace burn {

TensorData TensorData::random(ir::Shape shape, const Distribution& d, std::uint64_t seed, ir::DType dtype) {
  std::mt19937_64 bits(seed);
  const double a = d.a.as_double(), b = d.b.as_double();
  const bool is_probability = a >= 0 && a <= 1;
  if (d.type == Distribution::Type::bernoulli
          ? !is_probability
          : d.type == Distribution::Type::uniform && !(a <= b && std::isfinite(b - a))) {
    throw Error(StatusCode::invalid_argument, "tensor data: random numbers from " + std::to_string(a) + " and " +
                                                  std::to_string(b) + ", which are no parameters of the distribution");
  }
  // Not by the standard distributions, as their results differ between libraries.
  const auto uniform = [&] { return static_cast<double>(bits() >> 11) * 0x1p-53; };  // [0, 1)
  std::vector<double> values(checked_count(shape));
  for (double& value : values) {
    switch (d.type) {
      case Distribution::Type::uniform:
        value = a + (b - a) * uniform();
        if (ir::is_integer(dtype)) value = std::floor(value);
        break;
      case Distribution::Type::normal: {
        constexpr double kTurn = 6.283185307179586;
        const double radius = std::sqrt(-2 * std::log(1 - uniform()));  // Box and Muller, 1958
        value = a + b * radius * std::cos(kTurn * uniform());
        if (ir::is_integer(dtype)) value = std::nearbyint(value);
        break;
      }
      case Distribution::Type::bernoulli:
        value = uniform() < a ? 1 : 0;
        break;
    }
  }
  return TensorData(std::move(values), shape).convert_dtype(dtype);
}

}  // namespace burn
