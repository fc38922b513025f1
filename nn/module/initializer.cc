#include "nn/module/initializer.h"

#include <array>
#include <cmath>

#include "client/tensor/linalg.h"
#include "nn/module/checks.h"

namespace burn::nn {
namespace {

struct Fans {
  std::optional<std::int64_t> in, out;
};

double fan_of(const Initializer& config, const char* side, std::optional<std::int64_t> fan) {
  if (fan && *fan > 0) return static_cast<double>(*fan);
  detail::reject("Initializer",
                 config.kind + " scales by the " + side + ", which is " + (fan ? std::to_string(*fan) : "not given"));
}

double kaiming_deviation(const Initializer& config, const Fans& fans) {
  const double fan = config.fan_out_only ? fan_of(config, "fan-out", fans.out) : fan_of(config, "fan-in", fans.in);
  return config.gain / std::sqrt(fan);
}

double xavier_deviation(const Initializer& config, const Fans& fans) {
  return config.gain * std::sqrt(2 / (fan_of(config, "fan-in", fans.in) + fan_of(config, "fan-out", fans.out)));
}

// Q of the QR decomposition of a random normal matrix with at least as many rows as columns. Q is unique (and then
// uniformly distributed among the orthogonal matrices) if R's diagonal is positive, so Q is multiplied by the
// diagonal's signs (Mezzadri, arXiv:math-ph/0609050).
client::Value draw_orthogonal(const ir::Shape& shape, double gain, const TensorOptions& options,
                              const client::Site& site) {
  const auto dtype = options.dtype.value_or(DType::f32);
  if (shape.rank() < 2) {
    detail::reject("Initializer", "orthogonal is for two dims or more, the tensor is " + ir::to_string({dtype, shape}));
  }
  const auto rows = shape[0], columns = rows == 0 ? 0 : ir::num_elements(shape) / rows;
  if (rows == 0 || columns == 0) return client::filled(options.place(), shape, 0, dtype, site);
  const bool is_wide = rows < columns;
  const ir::Shape tall = is_wide ? ir::Shape{columns, rows} : ir::Shape{rows, columns};
  const auto computed_in = dtype == DType::f64 ? DType::f64 : DType::f32;
  const auto [q, r] = linalg::qr(
      Tensor<2>{client::random(tall, Distribution::normal(0, 1), {options.device, computed_in}, site)}, true);
  const Tensor<1> signs = (linalg::diag(r) >= 0).to_float(computed_in) * 2 - 1;
  const Tensor<2> found = q * signs.unsqueeze<2>() * gain;
  return client::cast(client::reshape((is_wide ? found.t() : found).value(), shape, site), dtype, site);
}

// The uniform distribution around 0 with this standard deviation.
Distribution uniform_of(double deviation) {
  const double bound = std::sqrt(3.0) * deviation;
  return Distribution::uniform(-bound, bound);
}

Distribution normal_of(double deviation) { return Distribution::normal(0, deviation); }

// A number for every element, or a distribution to draw from.
struct Recipe {
  std::optional<double> number;
  Distribution distribution;

  Recipe(double n) : number(n) {}                     // NOLINT: implicit
  Recipe(const Distribution& d) : distribution(d) {}  // NOLINT: implicit
};

struct Kind {
  const char* name;
  Recipe (*recipe)(const Initializer&, const Fans&);
};

constexpr std::array<Kind, 9> kKinds = {{
    {"constant", [](const Initializer& i, const Fans&) -> Recipe { return i.value; }},
    {"ones", [](const Initializer&, const Fans&) -> Recipe { return 1.0; }},
    {"zeros", [](const Initializer&, const Fans&) -> Recipe { return 0.0; }},
    {"uniform", [](const Initializer& i, const Fans&) -> Recipe { return Distribution::uniform(i.min, i.max); }},
    {"normal", [](const Initializer& i, const Fans&) -> Recipe { return Distribution::normal(i.mean, i.deviation); }},
    {"kaiming_uniform",
     [](const Initializer& i, const Fans& f) -> Recipe { return uniform_of(kaiming_deviation(i, f)); }},
    {"kaiming_normal",
     [](const Initializer& i, const Fans& f) -> Recipe { return normal_of(kaiming_deviation(i, f)); }},
    {"xavier_uniform",
     [](const Initializer& i, const Fans& f) -> Recipe { return uniform_of(xavier_deviation(i, f)); }},
    {"xavier_normal", [](const Initializer& i, const Fans& f) -> Recipe { return normal_of(xavier_deviation(i, f)); }},
}};

Recipe recipe_of(const Initializer& config, const Fans& fans) {
  std::string known = "orthogonal";
  for (const auto& kind : kKinds) {
    if (config.kind == kind.name) return kind.recipe(config, fans);
    known += ", " + std::string{kind.name};
  }
  detail::reject("Initializer", "there is no kind \"" + config.kind + "\"; there are: " + known);
}

}  // namespace

client::Value Initializer::draw(const ir::Shape& shape, const TensorOptions& options,
                                std::optional<std::int64_t> fan_in, std::optional<std::int64_t> fan_out,
                                const client::Site& site) const {
  if (kind == "orthogonal") return draw_orthogonal(shape, gain, options, site);
  const auto recipe = recipe_of(*this, {fan_in, fan_out});
  const auto dtype = options.dtype.value_or(DType::f32);
  if (recipe.number) return client::filled(options.place(), shape, *recipe.number, dtype, site);
  return client::random(shape, recipe.distribution, {options.device, dtype}, site);
}

}  // namespace burn::nn
