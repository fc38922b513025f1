// Visitors of a module's tensors by kind, with their paths: to read all of them, or to replace them.
//
//   struct Norms : nn::TensorVisitor {
//     void visit_float(const std::string& path, const Slot& slot) override {
//       nn::with_rank(slot.value, [&](const auto& x) { std::cout << path << ' ' << x.square().sum().item() << '\n'; });
//     }
//   } norms;
//   nn::visit(net, norms);
//
//   struct Halve : nn::ModuleMapper {
//     client::Value map_float(const std::string&, const Slot& slot) override {
//       return nn::with_rank(slot.value, [](const auto& x) { return (x / 2).value(); });
//     }
//   } halve;
//   net = nn::map(net, halve);
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "nn/module/module.h"

namespace burn::nn {

// Calls body(x) with `value` as a tensor of static rank and kind, off the tape, and returns its result. Errors
// (thrown): a kind other than K.
template <Kind K = Float, typename Body>
auto with_rank(const client::Value& value, Body&& body) -> decltype(body(std::declval<const Tensor<1, K>&>())) {
  const auto inner = value.inner();
  switch (inner.rank()) {
    case 1:
      return body(Tensor<1, K>{inner});
    case 2:
      return body(Tensor<2, K>{inner});
    case 3:
      return body(Tensor<3, K>{inner});
    case 4:
      return body(Tensor<4, K>{inner});
    case 5:
      return body(Tensor<5, K>{inner});
    case 6:
      return body(Tensor<6, K>{inner});
    case 7:
      return body(Tensor<7, K>{inner});
    default:
      return body(Tensor<8, K>{inner});  // the largest rank
  }
}

// Visits every tensor of a module, parameters and running statistics, once each and by its first path. enter_module()
// and leave_module() bracket the modules that contain it. Override what you need. `type`: the module's name, or "list",
// "tuple", "map", "variant".
class TensorVisitor {
 public:
  virtual ~TensorVisitor() = default;
  virtual void enter_module(const std::string& /*path*/, std::string_view /*type*/) {}
  virtual void leave_module(const std::string& /*path*/) {}
  virtual void visit_float(const std::string& /*path*/, const Slot& /*slot*/) {}
  virtual void visit_int(const std::string& /*path*/, const Slot& /*slot*/) {}
  virtual void visit_bool(const std::string& /*path*/, const Slot& /*slot*/) {}
};

// As TensorVisitor, but returns for each tensor the values that it has in the mapped module: of the same rank and kind,
// on a tape or not. A frozen parameter stays frozen, a trained one becomes a new leaf, and a parameter at several
// places is mapped once.
class ModuleMapper {
 public:
  virtual ~ModuleMapper() = default;
  virtual void enter_module(const std::string& /*path*/, std::string_view /*type*/) {}
  virtual void leave_module(const std::string& /*path*/) {}
  virtual client::Value map_float(const std::string& /*path*/, const Slot& slot) { return slot.value; }
  virtual client::Value map_int(const std::string& /*path*/, const Slot& slot) { return slot.value; }
  virtual client::Value map_bool(const std::string& /*path*/, const Slot& slot) { return slot.value; }
};

namespace detail {
void visit(const ModuleWalk& walk, TensorVisitor& visitor);
void map(const ModuleWalk& walk, ModuleMapper& mapper);
}  // namespace detail

// Errors (thrown): a tensor that is empty, with its path.
template <Module M>
void visit(const M& module, TensorVisitor& visitor) {
  detail::visit(const_cast<M&>(module).walk(), visitor);
}
// Errors (thrown): as visit(); a tensor mapped to another rank or kind, with its path.
template <Module M>
M map(const M& module, ModuleMapper& mapper) {
  M copy = module;
  detail::map(copy.walk(), mapper);
  return copy;
}

}  // namespace burn::nn
