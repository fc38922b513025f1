// A program that trains a small network, as a client records it.
#pragma once

#include <array>
#include <vector>

#include "base/error.h"
#include "ir/program.h"

namespace burn::testing {

// A network of three layers that learns by moments: forward, backward, update. Parameters and moments are updated in
// place; gradients of weights, of biases and of what came in are independent of each other.
class TrainingStep {
 public:
  struct Config {
    std::int64_t batch = 0;
    std::array<std::int64_t, 4> sizes{};  // of rows between the layers
  };

  // Inputs: a batch and what it should become; of each layer a weight and a bias; a moment of each weight, of each
  // bias.
  explicit TrainingStep(const Config& config) : config_(config) {
    const auto& sizes = config.sizes;
    batch_ = add_input({config.batch, sizes[0]}, false), target_ = add_input({config.batch, sizes[3]}, false);
    for (std::size_t l = 0; l < 3; ++l) {
      weights_.push_back(add_input({sizes[l], sizes[l + 1]}, true));
      biases_.push_back(add_input({sizes[l + 1]}, true));
    }
    for (const auto* of : {&weights_, &biases_}) {
      for (const auto parameter : *of) moments_.push_back(add_input(builder_.type_of(parameter).shape, true));
    }
  }

  // The loss, then all that is updated, in the order of the donated inputs: weights and biases by layer, moments.
  ir::Program program() {
    const auto zero = number(0), rate = number(0.01), decay = number(0.9);
    std::vector<ir::Ref> x{batch_};
    for (std::size_t l = 0; l < 3; ++l) {
      const auto sum = add(ir::PointwiseFn::add, {matmul(x[l], weights_[l]), rows_of(biases_[l])});
      x.push_back(l < 2 ? add(ir::PointwiseFn::relu, {sum}) : sum);
    }
    auto grad = add(ir::PointwiseFn::sub, {x[3], target_});
    const auto loss = add(ir::Reduce{ir::ReduceFn::sum, {0, 1}}, {add(ir::PointwiseFn::mul, {grad, grad})});
    std::vector<ir::Ref> weight_grads(3), bias_grads(3);
    for (std::size_t l = 3; l-- > 0;) {
      weight_grads[l] = matmul(transposed(x[l]), grad);
      const auto sums = add(ir::Reduce{ir::ReduceFn::sum, {0}}, {grad});
      bias_grads[l] = add(ir::Reshape{builder_.type_of(biases_[l]).shape}, {sums});
      if (l == 0) break;
      const auto through = add(ir::PointwiseFn::lower, {zero, x[l]});
      grad = add(ir::PointwiseFn::select, {through, matmul(grad, transposed(weights_[l])), zero});
    }
    std::vector<ir::Ref> updated, moments;
    const auto update = [&](ir::Ref parameter, ir::Ref of, ir::Ref moment) {
      const auto now = add(ir::PointwiseFn::add, {add(ir::PointwiseFn::mul, {moment, decay}), of});
      updated.push_back(add(ir::PointwiseFn::sub, {parameter, add(ir::PointwiseFn::mul, {now, rate})}));
      moments.push_back(now);
    };
    for (std::size_t l = 0; l < 3; ++l) update(weights_[l], weight_grads[l], moments_[l]);
    for (std::size_t l = 0; l < 3; ++l) update(biases_[l], bias_grads[l], moments_[3 + l]);
    std::vector<ir::Ref> outputs{loss};
    for (std::size_t l = 0; l < 3; ++l) {
      outputs.push_back(updated[l]);
      outputs.push_back(updated[3 + l]);
    }
    outputs.insert(outputs.end(), moments.begin(), moments.end());
    return builder_.finish(std::move(outputs));
  }

 private:
  ir::Ref add_input(const ir::Shape& shape, bool donated) {
    const auto ref = builder_.add_input({ir::DType::f32, shape});
    if (donated) builder_.donate(ref.index());
    return ref;
  }
  ir::Ref add(const ir::Op& op, std::initializer_list<ir::Ref> operands) {
    return value_or_throw(builder_.add(op, std::span(operands.begin(), operands.size())));
  }
  ir::Ref add(ir::PointwiseFn fn, std::initializer_list<ir::Ref> operands) { return add(ir::Pointwise{fn}, operands); }
  ir::Ref number(double real) { return add(ir::Constant{ir::DType::f32, 0, real}, {}); }
  ir::Ref matmul(ir::Ref a, ir::Ref b) { return add(ir::MatMul{}, {a, b}); }
  ir::Ref transposed(ir::Ref x) { return add(ir::Permute{{1, 0}}, {x}); }
  ir::Ref rows_of(ir::Ref bias) {
    const auto columns = builder_.type_of(bias).shape[0];
    return add(ir::Expand{{config_.batch, columns}}, {add(ir::Reshape{{1, columns}}, {bias})});
  }

  const Config config_;
  ir::ProgramBuilder builder_;
  ir::Ref batch_, target_;
  std::vector<ir::Ref> weights_, biases_, moments_;
};

}  // namespace burn::testing
