#include "client/ops/activation.h"
#include "tools/conformance/ops.h"

namespace burn::conformance {
namespace {

template <typename F>
OpFunction plain(F function) {
  return [function](const Call& c) { return std::vector{function(c.x(), kSite)}; };
}
template <typename F>
OpFunction along(F function) {
  return [function](const Call& c) { return std::vector{function(c.x(), c.integer("dim"), kSite)}; };
}
template <typename F>
OpFunction with(F function, const char* a) {
  return [=](const Call& c) { return std::vector{function(c.x(), c.number(a), kSite)}; };
}
template <typename F>
OpFunction with(F function, const char* a, const char* b) {
  return [=](const Call& c) { return std::vector{function(c.x(), c.number(a), c.number(b), kSite)}; };
}

}  // namespace

void add_activation(OpTable& t) {
  using namespace client;
  t["gelu"] = plain(gelu);
  t["gelu_approximate"] = plain(gelu_approximate);
  t["relu6"] = plain(relu6);
  t["silu"] = plain(silu);
  t["mish"] = plain(mish);
  t["selu"] = plain(selu);
  t["softsign"] = plain(softsign);
  t["tanhshrink"] = plain(tanhshrink);
  t["hard_swish"] = plain(hard_swish);
  t["log_sigmoid"] = plain(log_sigmoid);
  t["softmax"] = along(softmax);
  t["softmin"] = along(softmin);
  t["log_softmax"] = along(log_softmax);
  t["quiet_softmax"] = along(quiet_softmax);
  t["glu"] = along(glu);
  t["leaky_relu"] = with(leaky_relu, "negative_slope");
  t["softplus"] = with(softplus, "beta");
  t["elu"] = with(elu, "alpha");
  t["celu"] = with(celu, "alpha");
  t["thresholded_relu"] = with(thresholded_relu, "alpha");
  t["hardtanh"] = with(hardtanh, "min", "max");
  t["hard_sigmoid"] = with(hard_sigmoid, "alpha", "beta");
  t["threshold"] = with(threshold, "threshold", "value");
  t["shrink"] = with(shrink, "lambda", "bias");
  t["hard_shrink"] = [](const Call& c) { return std::vector{shrink(c.x(), c.number("lambda"), 0, kSite)}; };
  t["soft_shrink"] = [](const Call& c) {
    return std::vector{shrink(c.x(), c.number("lambda"), c.number("lambda"), kSite)};
  };
  t["prelu"] = [](const Call& c) { return std::vector{prelu(c.x(0), c.x(1), kSite)}; };
}

}  // namespace burn::conformance
