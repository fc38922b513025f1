#include "tests/backends/random_program.h"

#include <algorithm>
#include <array>

namespace burn::testing {
namespace {

using ir::DType;
using ir::PointwiseFn;
using ir::Ref;

class Maker {
 public:
  explicit Maker(std::uint32_t seed) : random_(seed) {
    static const std::array<ir::Shape, 7> domains{ir::Shape{6, 10},   ir::Shape{3, 5, 300}, ir::Shape{2, 700},
                                                  ir::Shape{13},      ir::Shape{1, 8, 1},   ir::Shape{40, 40},
                                                  ir::Shape{9, 1, 33}};
    domain_ = domains[below(domains.size())];
    rows_ = domain_;
    rows_[rows_.rank() - 1] = 1;
    if (below(4) == 0 && rows_.rank() > 2) rows_[rows_.rank() - 2] = 1;
  }

  RandomProgram make() {
    for (int i = 0; i < 3; ++i) add_input({DType::f32, domain_});
    add_input({DType::f32, rows_});
    add_input({below(2) == 0 ? DType::bf16 : DType::f16, domain_});
    add_input({DType::bool_, domain_});
    add_input({DType::i64, rows_});
    for (const double number : {0.5, 2.0, 3.0}) {
      values_.push_back(*program_.add(ir::Constant{DType::f32, 0, number}, {}));
    }
    const auto count = 5 + below(40);
    while (program_.size() < count) add_node();

    std::vector<Ref> outputs;
    for (const auto ref : values_) {
      if (!ref.is_input() && (below(5) == 0 || ref == values_.back())) outputs.push_back(ref);
    }
    return {program_.finish(std::move(outputs)), std::move(inputs_)};
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }

  void add_input(const ir::TensorType& type) {
    reference::Tensor x(type);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (type.dtype == DType::i64)
        x.set(i, static_cast<std::int64_t>(below(static_cast<std::size_t>(domain_.back()))));
      else if (type.dtype == DType::bool_)
        x.set(i, below(2) == 0);
      else
        x.set(i, (static_cast<double>(below(4001)) - 2000) / 1000);
    }
    inputs_.push_back(std::move(x));
    values_.push_back(program_.add_input(type));
  }

  const ir::TensorType& type(Ref ref) const { return program_.type_of(ref); }

  // A value that the condition holds for, mostly a recent one; nothing after some tries.
  template <typename Condition>
  std::optional<Ref> pick(const Condition& holds) {
    for (int i = 0; i < 20; ++i) {
      const auto n = values_.size(), recent = std::min<std::size_t>(n, 6);
      const auto ref = values_[below(3) != 0 ? n - 1 - below(recent) : below(n)];
      if (holds(ref)) return ref;
    }
    return std::nullopt;
  }

  void add(const ir::Op& op, std::initializer_list<std::optional<Ref>> operands) {
    std::vector<Ref> refs;
    for (const auto& ref : operands) {
      if (!ref) return;
      refs.push_back(*ref);
    }
    if (const auto node = program_.add(op, refs); node.ok()) values_.push_back(*node);
  }

  void add_node() {
    const auto a = pick([&](Ref r) { return ir::is_floating(type(r).dtype); });
    if (!a) return;
    const auto like_a = [&](Ref r) {
      return type(r).dtype == type(*a).dtype && (type(r).shape == type(*a).shape || type(r).shape.rank() == 0);
    };
    const auto is_flag = [&](Ref r) { return type(r).dtype == DType::bool_ && type(r).shape == type(*a).shape; };
    ir::Dims trailing;
    for (int i = 0; i < domain_.rank(); ++i) {
      if (rows_[i] != domain_[i]) trailing.push_back(i);
    }
    switch (below(12)) {
      case 0:
      case 1: {
        static constexpr std::array kUnary{PointwiseFn::neg, PointwiseFn::exp,  PointwiseFn::tanh,
                                           PointwiseFn::erf, PointwiseFn::relu, PointwiseFn::sigmoid,
                                           PointwiseFn::abs, PointwiseFn::cos};
        return add(ir::Pointwise{kUnary[below(kUnary.size())]}, {a});
      }
      case 2:
      case 3:
      case 4:
      case 5: {
        static constexpr std::array kBinary{PointwiseFn::add, PointwiseFn::sub, PointwiseFn::mul, PointwiseFn::div,
                                            PointwiseFn::max, PointwiseFn::min, PointwiseFn::add, PointwiseFn::mul};
        const auto fn = ir::Pointwise{kBinary[below(kBinary.size())]};
        return below(2) == 0 ? add(fn, {a, pick(like_a)}) : add(fn, {pick(like_a), a});
      }
      case 6:
        return add(ir::Pointwise{PointwiseFn::lower}, {a, pick(like_a)});
      case 7:
        return add(ir::Pointwise{PointwiseFn::select}, {pick(is_flag), a, pick(like_a)});
      case 8:
        return add(ir::Cast{below(3) == 0 ? DType::f16 : DType::f32}, {a});
      case 9:
        if (type(*a).shape == domain_ && !trailing.empty())
          return add(ir::Reduce{below(2) == 0 ? ir::ReduceFn::max : ir::ReduceFn::sum, trailing}, {a});
        return add(ir::Expand{domain_}, {a});
      case 10:
        if (type(*a).shape == rows_) return add(ir::Expand{domain_}, {a});
        return add(ir::Gather{domain_.rank() - 1}, {a, pick([&](Ref r) { return type(r).dtype == DType::i64; })});
      case 11:
        if (below(3) != 0) return add_outsider(*a);
        return add_random(below(2) == 0 ? domain_ : rows_);
      default:
        return;
    }
  }

  // All of a value, the last rows of a larger one, or, which no group takes in, its last columns.
  void add_random(const ir::Shape& shape) {
    ir::Random op{.shape = shape};
    if (const auto cut = below(3); cut < 2) {
      op.whole = shape;
      op.starts = ir::Dims::filled(shape.rank(), 0);
      const int axis = cut == 0 ? 0 : shape.rank() - 1;
      op.whole[axis] += 3;
      op.starts[axis] = 3;
    }
    values_.push_back(*program_.add_random(op));
  }

  // What no group takes in: views and matrix products, behind and before its members.
  void add_outsider(Ref a) {
    const auto shape = type(a).shape;
    if (shape.rank() < 2) return;
    ir::Dims axes;
    for (int i = 0; i < shape.rank(); ++i) axes.push_back(i);
    std::swap(axes[shape.rank() - 1], axes[shape.rank() - 2]);
    if (below(2) == 0) {
      ir::Dims zeros = ir::Dims::filled(shape.rank(), 0), steps = ir::Dims::filled(shape.rank(), 1);
      zeros[0] = shape[0] - 1;
      steps[0] = -1;
      return add(ir::Slice{zeros, shape, steps}, {a});
    }
    const std::array operand{a};
    const auto mirrored = program_.add(ir::Permute{axes}, operand);
    if (shape.back() == shape[shape.rank() - 2]) values_.push_back(*mirrored);  // of the same shape
    if (type(a).dtype == DType::f32 && shape == domain_) {
      const std::array square{a, *mirrored};
      const auto product = program_.add(ir::MatMul{}, square);
      if (product.ok()) add(ir::Reduce{ir::ReduceFn::max, {shape.rank() - 1}}, {*product});
    }
  }

  std::mt19937 random_;
  ir::Shape domain_, rows_;
  ir::ProgramBuilder program_;
  std::vector<Ref> values_;
  std::vector<reference::Tensor> inputs_;
};

}  // namespace

RandomProgram random_program(std::uint32_t seed) { return Maker(seed).make(); }

}  // namespace burn::testing
