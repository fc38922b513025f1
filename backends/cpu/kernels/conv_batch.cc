#include <algorithm>
#include <vector>

#include "backends/cpu/kernels/conv.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/interrupt.h"

namespace burn::backends::cpu {
namespace {

ConvProblem with_batch(ConvProblem problem, std::int64_t n) {
  problem.input[0] = n;
  problem.output[0] = n;
  return problem;
}

class BatchedConv final : public ConvPrimitive {
 public:
  // Null if oneDNN does not support a part.
  static std::unique_ptr<const BatchedConv> make(const ConvProblem& problem, std::int64_t parts, ConvLayout layout) {
    std::unique_ptr<BatchedConv> made(new BatchedConv(problem, parts));
    made->primitives_[0] = make_conv_primitive(with_batch(problem, made->size_), 1, layout);
    if (made->larger_ > 0) made->primitives_[1] = make_conv_primitive(with_batch(problem, made->size_ + 1), 1, layout);
    if (!made->primitives_[0] || (made->larger_ > 0 && !made->primitives_[1])) return nullptr;
    return made;
  }

  Status run(Run& run, const float* first, const float* second, float* result) const override {
    if (problem_.direction != ConvDirection::weight_grad) return run_parts(run, first, second, result, true);
    // Every part computes a gradient of all weights; they are added in order.
    const auto weights = ir::num_elements(problem_.weight);
    BURN_TRY(const auto scratch, run.pool.allocate(static_cast<std::size_t>(parts_ * weights) * sizeof(float)));
    auto* partial = reinterpret_cast<float*>(scratch->data());
    BURN_RETURN_IF_ERROR(run_parts(run, first, second, partial, false));
    parallel_for(weights, std::max<std::int64_t>(kGrain / parts_, 1), [&](std::int64_t begin, std::int64_t end) {
      std::copy(partial + begin, partial + end, result + begin);
      for (std::int64_t part = 1; part < parts_; ++part) {
        const float* from = partial + part * weights;
        for (auto i = begin; i < end; ++i) result[i] += from[i];
      }
    });
    return {};
  }

 private:
  BatchedConv(const ConvProblem& problem, std::int64_t parts)
      : problem_(problem), parts_(parts), size_(problem.input[0] / parts), larger_(problem.input[0] % parts) {}

  // `splits_result`: whether the result, and not the second operand, is split along the batch.
  Status run_parts(Run& run, const float* first, const float* second, float* result, bool splits_result) const {
    const auto per_item = [](const ir::Shape& shape) { return shape[0] > 0 ? ir::num_elements(shape) / shape[0] : 0; };
    const auto first_item = per_item(problem_.first()), second_item = per_item(problem_.second());
    const auto result_item = per_item(problem_.result()), weights = ir::num_elements(problem_.weight);
    std::vector<Status> failures(static_cast<std::size_t>(parts_));
    parallel_for(parts_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto part = begin; part < end; ++part) {
        throw_if_interrupted();
        const auto item = part * size_ + std::min(part, larger_);
        failures[static_cast<std::size_t>(part)] = primitives_[part < larger_ ? 1 : 0]->run(
            run, first + item * first_item, splits_result ? second : second + item * second_item,
            result + (splits_result ? item * result_item : part * weights));
      }
    });
    const auto failed = std::ranges::find_if(failures, [](const Status& status) { return !status.ok(); });
    return failed == failures.end() ? Status{} : *failed;
  }

  ConvProblem problem_;
  std::int64_t parts_, size_, larger_;                  // the first `larger_` parts have size_ + 1 items
  std::unique_ptr<const ConvPrimitive> primitives_[2];  // for size_ and size_ + 1 items
};

}  // namespace

std::unique_ptr<const ConvPrimitive> make_batched_conv(const ConvProblem& problem, std::int64_t pieces,
                                                       ConvLayout layout) {
  const auto threads = thread_count();
  if (pieces <= 1 || problem.input[0] < threads) return make_conv_primitive(problem, threads, layout);
  return BatchedConv::make(problem, pieces, layout);
}

}  // namespace burn::backends::cpu
