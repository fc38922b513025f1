#include "client/autocast.h"

#include <string>

#include "client/fail.h"

namespace burn {
namespace {

constinit thread_local std::optional<ir::DType> active{};

bool is_half(ir::DType dtype) { return dtype == ir::DType::f16 || dtype == ir::DType::bf16; }

}  // namespace

Autocast::Autocast(ir::DType dtype, Loc where) : outer_(active) {
  if (!is_half(dtype) && dtype != ir::DType::f32) {
    client::fail("Autocast: products compute in bf16 or f16, or f32 for none; got " + std::string{ir::name(dtype)},
                 at(where));
  }
  active = is_half(dtype) ? std::optional{dtype} : std::nullopt;
}

Autocast::~Autocast() { active = outer_; }

std::optional<ir::DType> Autocast::dtype() { return active; }

namespace client {

std::optional<ir::DType> product_dtype(std::initializer_list<const Value*> operands) {
  if (!active) [[likely]]
    return std::nullopt;
  for (const Value* x : operands) {
    if (x == nullptr) continue;
    if (!x->has_value() || !ir::is_floating(x->dtype()) || x->dtype() == ir::DType::f64) return std::nullopt;
  }
  return active;
}

std::optional<ir::DType> wider_dtype(ir::DType a, ir::DType b) {
  if (!active || !ir::is_floating(a) || !ir::is_floating(b)) return std::nullopt;
  if (a == ir::DType::f64 || b == ir::DType::f64) return ir::DType::f64;
  return ir::DType::f32;
}

}  // namespace client
}  // namespace burn
