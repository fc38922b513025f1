#include "tests/compile/partition/random_program.h"

#include <algorithm>
#include <array>
#include <random>

#include "base/error.h"

namespace burn::testing {
namespace {

using compile::partition::balanced;
using compile::partition::Layout;
using compile::partition::MeshLayout;
using ir::DType;
using ir::PointwiseFn;
using ir::Ref;

class Maker {
 public:
  explicit Maker(std::uint32_t seed) : random_(seed) { made_.members = 2 + static_cast<int>(below(3)); }

  RandomPartition make() {
    for (int i = 0; i < 4; ++i) add_input({DType::f64, random_shape()});
    add_input({DType::i64, {12}});
    for (const double number : {2.0, 0.0}) values_.push_back(add_number(number));
    const auto count = static_cast<std::size_t>(10 + below(30));
    while (program_.size() < count) add_node();
    if (below(3) == 0) add_guarded();

    std::vector<Ref> outputs;
    for (const auto ref : values_) {
      if (!ref.is_input() && (below(4) == 0 || ref == values_.back())) outputs.push_back(ref);
    }
    for (const auto ref : outputs)
      made_.wanted.push_back(below(3) == 0 ? std::optional{random_layout(type(ref).shape)} : std::nullopt);
    for (const auto& input : made_.inputs) made_.layouts.push_back(random_layout(input.type.shape));
    made_.program = program_.finish(std::move(outputs));
    lay_on_a_mesh();
    return std::move(made_);
  }

 private:
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }
  template <typename T, std::size_t N>
  T one_of(const std::array<T, N>& list) {
    return list[static_cast<std::size_t>(below(std::int64_t{N}))];
  }
  const ir::TensorType& type(Ref ref) const { return program_.type_of(ref); }
  const ir::Shape& shape(Ref ref) const { return type(ref).shape; }

  ir::Shape random_shape() {
    static constexpr std::array<std::int64_t, 6> kSizes{2, 4, 3, 1, 6, 12};
    ir::Shape shape;
    for (auto rank = 1 + below(3); rank > 0; --rank) shape.push_back(one_of(kSizes));
    return shape;
  }

  Layout random_layout(const ir::Shape& shape) { return random_layout(shape, made_.members); }
  Layout random_layout(const ir::Shape& shape, int members) {
    if (shape.empty() || below(3) == 0) return {};
    const int dim = static_cast<int>(below(shape.rank()));
    auto bounds = balanced(shape[dim], members);
    if (below(3) == 0) {
      for (std::size_t k = 1; k + 1 < bounds.size(); ++k) bounds[k] = below(shape[dim] + 1);
      std::sort(bounds.begin(), bounds.end());
    }
    return Layout::split(dim, std::move(bounds));
  }

  MeshLayout random_mesh_layout(const ir::Shape& shape) {
    MeshLayout layout{random_layout(shape, made_.mesh.data), random_layout(shape, made_.mesh.model)};
    if (!layout.data.is_whole() && layout.data.dim == layout.model.dim) layout.data = {};
    return layout;
  }
  void lay_on_a_mesh() {
    made_.mesh = {.data = 2 + static_cast<int>(below(2)), .model = 2 + static_cast<int>(below(2))};
    for (const auto& input : made_.inputs) made_.mesh_layouts.push_back(random_mesh_layout(input.type.shape));
    for (const auto ref : made_.program.outputs) {
      const auto& shape = made_.program.type_of(ref).shape;
      made_.mesh_wanted.push_back(below(3) == 0 ? std::optional{random_mesh_layout(shape)} : std::nullopt);
    }
  }

  void add_input(const ir::TensorType& type) {
    reference::Tensor x(type);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (type.dtype == DType::i64)
        x.set(i, below(12));
      else
        x.set(i, static_cast<double>(below(19) - 9));
    }
    made_.inputs.push_back(std::move(x));
    values_.push_back(program_.add_input(type));
    if (below(3) == 0) program_.donate(values_.back().index());
  }

  // Adds a node; std::nullopt if the op does not accept the operands.
  std::optional<Ref> add(const ir::Op& op, std::initializer_list<Ref> operands) {
    const auto node = program_.add(op, std::span(operands.begin(), operands.size()), {"model.cc", 7}, below(9) == 0);
    if (!node.ok()) return std::nullopt;
    return *node;
  }
  void keep(std::optional<Ref> ref) {  // unless the value is too large for many nodes
    if (ref && type(*ref).num_elements() <= 600) values_.push_back(*ref);
  }
  Ref add_number(double number) { return value_or_throw(program_.add(ir::Constant{DType::f64, 0, number}, {})); }

  // A value that the condition holds for, mostly a recent one.
  template <typename Condition>
  std::optional<Ref> pick(const Condition& holds) {
    for (int i = 0; i < 20; ++i) {
      const auto n = static_cast<std::int64_t>(values_.size()), recent = std::min<std::int64_t>(n, 6);
      const auto ref = values_[static_cast<std::size_t>(below(3) != 0 ? n - 1 - below(recent) : below(n))];
      if (holds(ref)) return ref;
    }
    return std::nullopt;
  }

  // x modulo 97: numbers stay whole and small.
  std::optional<Ref> small(std::optional<Ref> x) {
    if (!x) return x;
    return add(ir::Pointwise{PointwiseFn::remainder}, {*x, add_number(97)});
  }

  void add_node() {
    const auto a = pick([&](Ref r) { return type(r).dtype == DType::f64 && type(r).num_elements() > 1; });
    if (!a) return;
    switch (below(22)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return add_binary(*a);
      case 4:
        return keep(add(ir::Pointwise{below(2) == 0 ? PointwiseFn::neg : PointwiseFn::abs}, {*a}));
      case 5:
      case 6:
        return add_reduce(*a);
      case 7:
        return add_expand(*a);
      case 8:
        return add_permute(*a);
      case 9:
      case 10:
        return add_reshape(*a);
      case 11:
        return add_slice(*a);
      case 12:
      case 13:
        return add_matmul(*a);
      case 14:
        return add_indexed(*a);
      case 15:
        return add_ordered(*a);
      case 16:
        return add_made();
      case 17:
        return add_select(*a);
      case 18:
        return keep(add(ir::Concat{shape(*a).empty() ? 0 : below(std::int64_t{shape(*a).rank()})}, {*a, *a}));
      case 19:
        return add_convolution(*a);
      case 20:
        return add_slice_assign(*a);
      default:
        return add_alone(*a);
    }
  }

  std::optional<Ref> like(Ref a) {
    return pick([&](Ref r) {
      return type(r).dtype == DType::f64 && (shape(r) == shape(a) || shape(r).empty() || shape(a).empty());
    });
  }

  void add_binary(Ref a) {
    static constexpr std::array kFunctions{PointwiseFn::add, PointwiseFn::sub, PointwiseFn::mul,
                                           PointwiseFn::max, PointwiseFn::min, PointwiseFn::add};
    const auto b = like(a);
    if (b) keep(small(add(ir::Pointwise{one_of(kFunctions)}, {a, *b})));
    if (b && below(3) == 0) keep(add(ir::Pointwise{PointwiseFn::add}, {a, *b}));  // linear ones in a row
  }

  void add_reduce(Ref a) {
    ir::Dims axes;
    for (int dim = 0; dim < shape(a).rank(); ++dim) {
      if (below(3) == 0) axes.push_back(dim);
    }
    static constexpr std::array kFunctions{ir::ReduceFn::sum, ir::ReduceFn::sum, ir::ReduceFn::max, ir::ReduceFn::min};
    const auto reduced = add(ir::Reduce{one_of(kFunctions), axes}, {a});
    keep(below(2) == 0 ? small(reduced) : reduced);
  }

  void add_expand(Ref a) {
    auto larger = shape(a);
    for (auto& size : larger) size = size == 1 ? 1 + below(4) : size;
    if (larger.rank() < 4 && below(2) == 0) larger.insert(0, 1 + below(6));
    keep(add(ir::Expand{larger}, {a}));
  }

  void add_permute(Ref a) {
    ir::Dims axes;
    for (int dim = 0; dim < shape(a).rank(); ++dim) axes.push_back(dim);
    std::shuffle(axes.begin(), axes.end(), random_);
    keep(add(ir::Permute{axes}, {a}));
  }

  void add_reshape(Ref a) {
    auto left = type(a).num_elements();
    ir::Shape to;
    while (left > 1 && to.rank() < 4) {
      auto size = 1 + below(left);
      while (left % size != 0 || (size == 1 && below(4) != 0)) size = size == 1 ? left : size - 1;
      to.push_back(to.rank() == 3 ? left : size);
      left /= to.back();
    }
    keep(add(ir::Reshape{to}, {a}));
  }

  // A random slice of a shape.
  ir::Slice random_slice(const ir::Shape& of) {
    ir::Slice slice;
    for (const auto size : of) {
      const bool is_full = size == 0 || below(2) == 0;
      const auto count = is_full ? size : 1 + below(size);
      const bool is_reversed = below(5) == 0;
      slice.starts.push_back(is_reversed && size > 0 ? size - 1 : size - count > 0 ? below(size - count + 1) : 0);
      slice.sizes.push_back(count);
      slice.steps.push_back(is_reversed ? -1 : 1);
    }
    return slice;
  }

  void add_slice(Ref a) { keep(add(random_slice(shape(a)), {a})); }

  void add_slice_assign(Ref a) {
    const auto slice = random_slice(shape(a));
    const auto values = add(slice, {a});
    if (!values) return;
    const auto other = add(ir::Pointwise{PointwiseFn::neg}, {*values});
    keep(add(ir::SliceAssign{slice.starts, slice.steps}, {a, *other}));
  }

  void add_matmul(Ref a) {
    if (shape(a).rank() < 2) return;
    auto b = pick([&](Ref r) {
      return type(r).dtype == DType::f64 && shape(r).rank() == shape(a).rank() &&
             shape(r)[shape(r).rank() - 2] == shape(a).back();
    });
    if (!b) {
      ir::Dims axes;
      for (int dim = 0; dim < shape(a).rank(); ++dim) axes.push_back(dim);
      std::swap(axes[axes.rank() - 1], axes[axes.rank() - 2]);
      b = add(ir::Permute{axes}, {a});
    }
    const auto product = add(ir::MatMul{}, {a, *b});
    const bool is_settled = below(2) == 0;  // else later sums may read what has yet to be combined
    keep(is_settled ? small(product) : product);
  }

  // Gather and scatter along an axis, by numbers that are in range.
  void add_indexed(Ref a) {
    if (shape(a).empty() || type(a).num_elements() == 0) return;
    const auto axis = below(shape(a).rank());
    const auto size = shape(a)[static_cast<int>(axis)];
    auto at = ir::Dims::filled(shape(a).rank(), 1);
    at[static_cast<int>(axis)] = 12;
    auto all = shape(a);
    all[static_cast<int>(axis)] = 12;
    const auto limit = program_.add(ir::Constant{DType::i64, size}, {});
    const auto inside = add(ir::Pointwise{PointwiseFn::remainder}, {Ref::input(4), *limit});
    const auto index = add(ir::Expand{all}, {*add(ir::Reshape{at}, {*inside})});
    const auto gathered = add(ir::Gather{axis}, {a, *index});
    keep(gathered);
    if (below(2) != 0 || !gathered) return;
    const bool adds = below(3) != 0;
    const auto table = below(2) == 0 ? a : *add(ir::Pointwise{PointwiseFn::sub}, {a, a});
    const auto values = add(ir::Pointwise{PointwiseFn::abs}, {*gathered});
    keep(small(add(ir::Scatter{axis, adds ? ir::ScatterFn::add : ir::ScatterFn::max}, {table, *index, *values})));
  }

  void add_ordered(Ref a) {
    if (shape(a).empty()) return;
    const auto axis = below(shape(a).rank());
    switch (below(4)) {
      case 0:
        return keep(add(ir::Scan{ir::ReduceFn::sum, axis}, {a}));
      case 1: {
        const auto sorted = add(ir::Sort{axis, false}, {a});
        if (sorted) keep(add(ir::Cast{DType::f64}, {sorted->result(1)}));
        return keep(sorted);
      }
      case 2:
        if (const auto at = add(ir::ArgReduce{ir::ArgFn::max, axis}, {a})) keep(add(ir::Cast{DType::f64}, {*at}));
        return;
      default:
        return keep(add(ir::TopK{axis, (shape(a)[static_cast<int>(axis)] + 1) / 2, true}, {a}));
    }
  }

  void add_made() {
    if (below(3) == 0) {
      const auto numbers = add(ir::Iota{DType::f64, 1 + below(12)}, {});
      return keep(numbers);
    }
    const auto drawn = program_.add_random({.dtype = DType::f64, .shape = random_shape(), .whole = {}, .starts = {}});
    if (drawn.ok())
      keep(add(ir::Pointwise{PointwiseFn::floor}, {*add(ir::Pointwise{PointwiseFn::mul}, {*drawn, add_number(9)})}));
  }

  void add_select(Ref a) {
    const auto b = like(a), c = like(a);
    if (!b || !c || shape(a).empty()) return;
    const auto condition = add(ir::Pointwise{PointwiseFn::lower}, {a, *b});
    keep(add(ir::Pointwise{PointwiseFn::select}, {*condition, *c, a}));
  }

  void add_convolution(Ref a) {
    if (shape(a).rank() != 3 || shape(a)[2] < 2 || shape(a)[1] < 1) return;
    const auto weight = add(ir::Expand{{3, shape(a)[1], 2}}, {add_number(3)});
    const ir::Conv op{{1}, {0}, {0}, {1}, 1};
    const auto y = small(add(op, {a, *weight}));  // of what gradients multiply, sums have to be exact in f64, too
    keep(y);
    if (!y) return;
    keep(small(add(ir::ConvWeightGrad{op.stride, op.pad_begin, op.pad_end, op.dilation, {2}, 1}, {a, *y})));
    keep(small(
        add(ir::ConvInputGrad{op.stride, op.pad_begin, op.pad_end, op.dilation, {shape(a)[2]}, 1}, {*y, *weight})));
  }

  // Determinants of matrices of one element: an op that no dim but a batch can be split of.
  void add_alone(Ref a) {
    const auto matrix = add(ir::Reduce{ir::ReduceFn::max, all_axes(a)}, {a});
    if (matrix) keep(add(ir::Det{}, {*add(ir::Reshape{{1, 1}}, {*matrix})}));
  }
  ir::Dims all_axes(Ref a) const {
    ir::Dims axes;
    for (int dim = 0; dim < shape(a).rank(); ++dim) axes.push_back(dim);
    return axes;
  }

  // A step that keeps an input where it fails.
  void add_guarded() {
    const auto old = Ref::input(static_cast<std::int32_t>(below(4)));
    const auto x = like(old);
    if (!x) return;
    const auto now = add(ir::Pointwise{PointwiseFn::add}, {old, *x});
    const auto ok = add(ir::Commit{}, {});
    if (now && ok) keep(add(ir::Pointwise{PointwiseFn::select}, {*ok, *now, old}));
  }

  std::mt19937 random_;
  ir::ProgramBuilder program_;
  std::vector<Ref> values_;
  RandomPartition made_;
};

}  // namespace

RandomPartition random_partition(std::uint32_t seed) { return Maker(seed).make(); }

}  // namespace burn::testing
