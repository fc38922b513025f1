#include "nn/module/lora.h"

#include <array>
#include <cmath>
#include <memory>
#include <string>

#include "client/fail.h"
#include "client/ops/formula.h"
#include "client/tensor/untyped.h"

namespace burn::nn {
namespace {

using client::Site;
using client::Value;

constexpr std::array<std::string_view, 2> kNames{"lora_a", "lora_b"};

class LowRank final : public Reparameterization {
 public:
  explicit LowRank(double scale) : scale_(scale) {}

  std::string_view name() const override { return "lora"; }
  std::span<const std::string_view> adapter_names() const override { return kNames; }

  Value value(const Value& base, std::span<const Slot> adapters, const Site& site) const override {
    const client::SiteScope scope{site};
    const Value delta = client::matmul(adapters[0].value, adapters[1].value, site) * scale_;
    return base + client::cast(delta, base.dtype(), site);
  }

  Value product(const Value& x, const Value& base, std::span<const Slot> adapters, const Value* bias,
                client::LinearLayout layout, const Site& site) const override {
    const client::SiteScope scope{site};
    const bool is_row = layout == client::LinearLayout::row;
    const auto narrow = [&](const Slot& slot) { return client::cast(slot.value, x.dtype(), site); };
    const Value first = narrow(adapters[is_row ? 0 : 1]), second = narrow(adapters[is_row ? 1 : 0]);
    const Value inner = client::linear(x, first, nullptr, site, layout) * scale_;
    return client::linear(x, base, bias, site, layout) + client::linear(inner, second, nullptr, site, layout);
  }

 private:
  const double scale_;
};

[[noreturn]] void reject_lora(const std::string& what, const Site& site) { client::fail("apply_lora: " + what, site); }

}  // namespace

void detail::apply_lora(const ModuleWalk& walk, const Lora& lora, const Site& site) {
  if (lora.rank < 1) reject_lora("rank is " + std::to_string(lora.rank) + ", must be at least 1", site);
  if (!std::isfinite(lora.alpha)) reject_lora("alpha is " + std::to_string(lora.alpha) + ", must be finite", site);
  if (!(lora.init_std >= 0 && std::isfinite(lora.init_std)))
    reject_lora("init_std is " + std::to_string(lora.init_std) + ", must be at least 0 and finite", site);
  if (lora.dtype && !ir::is_floating(*lora.dtype))
    reject_lora("adapters are floats, not " + std::string{ir::name(*lora.dtype)}, site);
  const auto how = std::make_shared<const LowRank>(lora.alpha / static_cast<double>(lora.rank));
  bool has_matrix = false;
  const MakeAdapter make = [&](const std::vector<std::string>& paths, const Slot& base) -> std::optional<Adapter> {
    const auto& type = base.value.type();
    if (type.shape.rank() != 2 || !ir::is_floating(type.dtype)) return std::nullopt;
    if (lora.group.first_match(base.id, paths) == nullptr) return std::nullopt;
    has_matrix = true;
    const auto rows = type.shape[0], columns = type.shape[1];
    if (lora.rank > rows || lora.rank > columns) {
      reject_lora(
          "rank " + std::to_string(lora.rank) + " is above a side of \"" + paths.front() + "\", " + ir::to_string(type),
          site);
    }
    const auto dtype = lora.dtype.value_or(ir::compute_dtype(type.dtype));
    const Device device{base.value.device()};
    const Value a = client::random({rows, lora.rank}, Distribution::normal(0, lora.init_std), {device, dtype}, site);
    const Value b = client::filled({base.value.device()}, {lora.rank, columns}, 0, dtype, site);
    return Adapter{how, {adapter_slot(a, base), adapter_slot(b, base)}};
  };
  try {
    apply_reparameterization(walk, make);
  } catch (const Error&) {
    if (!has_matrix) reject_lora("the group has no matrix of the module", site);
    throw;
  }
}

ParamGroup lora_adapters() { return ParamGroup::from_regex("\\.lora_[ab]$"); }

}  // namespace burn::nn
