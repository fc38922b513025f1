#include "tools/conformance/typed.h"

namespace burn::conformance {
namespace {

// Calls f.operator()<D, K>(dims, options) with the shape and dtype of the case.
template <typename F>
OpFunction made(F f) {
  return [f](const Call& c) {
    const auto dtype = c.dtype();
    return ranked(c.size("shape"), [&]<int D>() {
      const Dims<D> dims{array_of<D>(c.integers("shape"))};
      const TensorOptions options{c.device, dtype};
      if (Float::holds(dtype)) return values(f.template operator()<Tensor<D, Float>>(c, dims, options));
      if (Int::holds(dtype)) return values(f.template operator()<Tensor<D, Int>>(c, dims, options));
      return values(f.template operator()<Tensor<D, Bool>>(c, dims, options));
    });
  };
}

template <typename F>
OpFunction mask(F f) {
  return [f](const Call& c) {
    return ranked(c.size("shape"), [&]<int D>() -> std::vector<Value> {
      if constexpr (D >= 2) {
        return values(f.template operator()<Tensor<D, Bool>>(Dims<D>{array_of<D>(c.integers("shape"))},
                                                             c.integer("offset"), c.device));
      } else {
        refuse("a mask of rank 1");
      }
    });
  };
}

}  // namespace

void add_creation(OpTable& t) {
  t["zeros"] =
      made([]<typename T>(const Call&, const auto& dims, const auto& options) { return T::zeros(dims, options); });
  t["ones"] =
      made([]<typename T>(const Call&, const auto& dims, const auto& options) { return T::ones(dims, options); });
  t["full"] = made([]<typename T>(const Call& c, const auto& dims, const auto& options) {
    return T::full(dims, c.scalar("value"), options);
  });
  BURN_CALL("zeros_like", x.zeros_like(x))
  BURN_CALL("ones_like", x.ones_like(x))
  BURN_CALL("full_like", x.full_like(x, c.scalar("value")))
  t["arange"] = [](const Call& c) {
    return values(Tensor<1, Int>::arange(c.integer("start"), c.integer("end"), c.device));
  };
  t["arange_step"] = [](const Call& c) {
    return values(Tensor<1, Int>::arange_step(c.integer("start"), c.integer("end"), c.integer("step"), c.device));
  };
  t["eye"] = [](const Call& c) { return values(Tensor<2>::eye(c.integer("size"), c.device)); };
  t["tril_mask"] = mask([]<typename T>(const auto&... args) { return T::tril_mask(args...); });
  t["triu_mask"] = mask([]<typename T>(const auto&... args) { return T::triu_mask(args...); });
  t["diag_mask"] = mask([]<typename T>(const auto&... args) { return T::diag_mask(args...); });
  t["cartesian_grid"] = [](const Call& c) {
    return ranked(c.size("shape"), [&]<int D>() {
      return values(Tensor<1, Int>::cartesian_grid<D + 1>(Dims<D>{array_of<D>(c.integers("shape"))}, c.device));
    });
  };

  const auto meshed = [](const Call& c, auto function) {
    return ranked(static_cast<std::int64_t>(c.count()), [&]<int N>() {
      const auto run = [&]<Kind K>(Tensor<1, K>) {
        std::array<Tensor<1, K>, N> axes;
        for (std::size_t i = 0; i < N; ++i) axes[i] = Tensor<1, K>{c.x(i)};
        return values(function(axes));
      };
      return Float::holds(c.x().dtype()) ? run(Tensor<1, Float>{}) : run(Tensor<1, Int>{});
    });
  };
  t["meshgrid"] = [=](const Call& c) {
    return meshed(c, [&](const auto& axes) {
      return grid::meshgrid(
          axes, {.indexing = c.text("indexing") == "matrix" ? grid::Indexing::matrix : grid::Indexing::cartesian,
                 .sparsity = c.flag("sparse") ? grid::Sparsity::sparse : grid::Sparsity::dense});
    });
  };
  t["meshgrid_stack"] = [=](const Call& c) {
    return meshed(c, [&](const auto& axes) {
      return grid::meshgrid_stack(axes, c.text("index_pos") == "first" ? grid::IndexPos::first : grid::IndexPos::last);
    });
  };
}

}  // namespace burn::conformance
