// The rules of compile/rewrite/decompose.h: for each op that has one, a function that writes it with other ops.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "compile/rewrite/decompose.h"

namespace burn::compile {

// Writes a program node by node, with ops that the device supports. The first failure is kept in status(); after it
// nothing is written and the returned refs are invalid, so rules may ask for the types of their own operands only.
class Composer {
 public:
  using Ref = ir::Ref;

  explicit Composer(const Supports& supports) : supports_(supports) {}

  const Status& status() const { return status_; }
  ir::ProgramBuilder& builder() { return builder_; }
  // Sets the call site of the nodes added from now on, and whether they recompute earlier ones (ir::Node::recompute).
  void set_origin(ir::CallSite site, bool recompute) {
    site_ = site;
    recompute_ = recompute;
  }
  const ir::TensorType& type_of(Ref ref) const { return builder_.type_of(ref); }

  // Adds the op, decomposed if necessary. Returns all of its results, which need not be consecutive values.
  std::vector<Ref> add_all(const ir::Op& op, std::span<const Ref> operands);
  // The same; returns the first result.
  Ref add(const ir::Op& op, std::initializer_list<Ref> operands) {
    return add_all(op, std::span(operands.begin(), operands.size())).front();
  }
  Ref add(ir::PointwiseFn fn, std::initializer_list<Ref> operands) { return add(ir::Pointwise{fn}, operands); }
  Ref number(ir::DType dtype, double value);
  Ref integer(std::int64_t value);  // i64
  Ref cast(Ref x, ir::DType from, ir::DType to) { return from == to ? x : add(ir::Cast{to}, {x}); }
  // The float with the most bits that the device computes with: f64, or f32 where it has none.
  ir::DType widest_float() const;
  Ref filled(ir::DType dtype, double value, const ir::Shape& shape);

 private:
  const Supports& supports_;
  ir::ProgramBuilder builder_;
  ir::CallSite site_;
  bool recompute_ = false;
  Status status_;
};

namespace decomposition {

using Operands = std::span<const ir::Ref>;

using Results = std::vector<ir::Ref>;

// Writes an op on these operands with other ops and returns its results; empty if there is no rule for it.
Results compose(Composer& to, const ir::Pointwise& op, Operands in);
Results compose(Composer& to, const ir::Attention& op, Operands in);
Results compose(Composer& to, const ir::AttentionGrad& op, Operands in);
Results compose(Composer& to, const ir::AvgPool& op, Operands in);
Results compose(Composer& to, const ir::AvgPoolGrad& op, Operands in);
Results compose(Composer& to, const ir::AdaptiveAvgPool& op, Operands in);
Results compose(Composer& to, const ir::AdaptiveAvgPoolGrad& op, Operands in);
Results compose(Composer& to, const ir::Fft& op, Operands in);
Results compose(Composer& to, const ir::RealFft& op, Operands in);
Results compose(Composer& to, const ir::InverseRealFft& op, Operands in);
Results compose(Composer& to, const ir::Det& op, Operands in);
Results compose(Composer& to, const ir::Commit& op, Operands in);
template <typename Other>
Results compose(Composer& /*to*/, const Other& /*op*/, Operands /*in*/) {
  return {};
}

}  // namespace decomposition
}  // namespace burn::compile
