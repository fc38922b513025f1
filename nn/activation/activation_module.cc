#include "nn/activation/activation_module.h"

#include <array>

#include "client/ops/formula.h"
#include "nn/module/checks.h"

namespace burn::nn {

using client::Site;
using client::Value;

Value RRelu::apply(const Value& x, const Site& site) const {
  client::fail_if_empty(x, "rrelu", site);
  if (!training.is_on(x)) return client::leaky_relu(x, (lower + upper) / 2, site);
  return client::in_compute_dtype(x, site, [&](const Value& wide) {
    const Device device{x.device(), x.is_autodiff()};
    const Value slopes = client::random(x.shape(), Distribution::uniform(lower, upper), {device, wide.dtype()}, site);
    return select(wide >= 0.0, wide, wide * slopes);
  });
}

Value PRelu::apply(const Value& x, const Site& site) const {
  return client::prelu(x, detail::held(alpha, "PRelu: alpha", site), site);
}

PRelu PReluConfig::init(const Device& device) const {
  detail::check_at_least("PReluConfig", "num_parameters", num_parameters, 1);
  return {.alpha = Initializer::constant(alpha).init<1>({num_parameters}, device)};
}

Value SwiGlu::apply(const Value& x, const Site& site) const {
  const Value gate = client::silu(linear_inner.apply(x, site), site);
  return client::pointwise(ir::PointwiseFn::mul, gate, linear_outer.apply(x, site), site);
}

SwiGlu SwiGluConfig::init(const Device& device) const {
  const LinearConfig linear{.d_input = d_input, .d_output = d_output, .bias = bias, .initializer = initializer};
  return {.linear_inner = linear.init(device), .linear_outer = linear.init(device)};
}

Value Activation::apply(const Value& x, const Site& site) const {
  return std::visit([&](const auto& one) { return one.apply(x, site); }, any);
}

namespace {

struct Kind {
  const char* name;
  Activation (*make)(const ActivationConfig&, const Device&);
};

// Makes an activation without options.
template <typename T>
Activation plain(const ActivationConfig&, const Device&) {
  return T{};
}

constexpr std::array kKinds = std::to_array<Kind>({
    {"relu", plain<Relu>},
    {"relu6", plain<Relu6>},
    {"sigmoid", plain<Sigmoid>},
    {"log_sigmoid", plain<LogSigmoid>},
    {"tanh", plain<Tanh>},
    {"silu", plain<SiLU>},
    {"mish", plain<Mish>},
    {"hard_swish", plain<HardSwish>},
    {"softsign", plain<Softsign>},
    {"tanhshrink", plain<Tanhshrink>},
    {"selu", plain<Selu>},
    {"gelu", plain<Gelu>},
    {"gelu_approximate", [](const auto&, const Device&) -> Activation { return Gelu{.approximate = true}; }},
    {"leaky_relu",
     [](const auto& c, const Device&) -> Activation {
       return LeakyRelu{.negative_slope = c.negative_slope.value_or(LeakyRelu{}.negative_slope)};
     }},
    {"elu", [](const auto& c, const Device&) -> Activation { return Elu{.alpha = c.alpha.value_or(Elu{}.alpha)}; }},
    {"celu", [](const auto& c, const Device&) -> Activation { return Celu{.alpha = c.alpha.value_or(Celu{}.alpha)}; }},
    {"softplus",
     [](const auto& c, const Device&) -> Activation { return Softplus{.beta = c.beta.value_or(Softplus{}.beta)}; }},
    {"hard_sigmoid",
     [](const auto& c, const Device&) -> Activation {
       return HardSigmoid{.alpha = c.alpha.value_or(HardSigmoid{}.alpha), .beta = c.beta.value_or(HardSigmoid{}.beta)};
     }},
    {"hardtanh",
     [](const auto& c, const Device&) -> Activation {
       return Hardtanh{.low = c.low.value_or(Hardtanh{}.low), .high = c.high.value_or(Hardtanh{}.high)};
     }},
    {"hard_shrink",
     [](const auto& c, const Device&) -> Activation {
       return HardShrink{.lambda = c.lambda.value_or(HardShrink{}.lambda)};
     }},
    {"soft_shrink",
     [](const auto& c, const Device&) -> Activation {
       return SoftShrink{.lambda = c.lambda.value_or(SoftShrink{}.lambda)};
     }},
    {"shrink",
     [](const auto& c, const Device&) -> Activation {
       return Shrink{.lambda = c.lambda.value_or(Shrink{}.lambda), .bias = c.bias.value_or(Shrink{}.bias)};
     }},
    {"threshold",
     [](const auto& c, const Device&) -> Activation {
       return Threshold{.threshold = c.threshold.value_or(Threshold{}.threshold),
                        .value = c.value.value_or(Threshold{}.value)};
     }},
    {"thresholded_relu",
     [](const auto& c, const Device&) -> Activation {
       return ThresholdedRelu{.alpha = c.alpha.value_or(ThresholdedRelu{}.alpha)};
     }},
    {"rrelu",
     [](const auto& c, const Device&) -> Activation {
       return RRelu{.lower = c.lower.value_or(RRelu{}.lower), .upper = c.upper.value_or(RRelu{}.upper)};
     }},
    {"glu", [](const auto& c, const Device&) -> Activation { return GLU{.dim = c.dim.value_or(GLU{}.dim)}; }},
    {"prelu",
     [](const auto& c, const Device& device) -> Activation {
       const PReluConfig usual;
       return PReluConfig{.num_parameters = c.num_parameters.value_or(usual.num_parameters),
                          .alpha = c.alpha.value_or(usual.alpha)}
           .init(device);
     }},
    {"swi_glu",
     [](const auto& c, const Device& device) -> Activation {
       return SwiGluConfig{.d_input = c.d_input.value_or(0), .d_output = c.d_output.value_or(0)}.init(device);
     }},
});

}  // namespace

Activation ActivationConfig::init(const Device& device) const {
  std::string known;
  for (const auto& one : kKinds) {
    if (kind == one.name) return one.make(*this, device);
    known += (known.empty() ? "" : ", ") + std::string{one.name};
  }
  detail::reject("ActivationConfig", "there is no kind \"" + kind + "\"; there are: " + known);
}

}  // namespace burn::nn
