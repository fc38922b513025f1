#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "backends/cpu/kernels/conv.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/tuning.h"

namespace burn::backends::cpu {
namespace {

struct Method {
  std::int64_t pieces;  // 0: matrix products
  ConvLayout layout;
  std::string name;
};

// Small pieces of the batch stay in the caches while they are converted to the kernels' layout and back; large ones
// convert the weights less often. Row-major kernels copy nothing, and suit convolutions with few channels.
std::vector<Method> methods_for(const ConvProblem& problem) {
  constexpr std::int64_t kMaxPartial = 16 << 20;  // numbers; every piece has a gradient of all weights
  const std::int64_t threads = thread_count(), batch = problem.input[0];
  const bool sums = problem.direction == ConvDirection::weight_grad;
  std::vector<Method> methods;
  for (std::int64_t pieces = threads;; pieces = std::min(2 * pieces, batch)) {
    if (sums && pieces > threads && pieces * ir::num_elements(problem.weight) > kMaxPartial) break;
    methods.push_back({pieces, ConvLayout::blocked, fmt::format("blocked in {}", pieces)});
    if (pieces >= batch) break;
  }
  if (batch >= threads) methods.push_back({std::max<std::int64_t>(threads, 2), ConvLayout::row_major, "row-major"});
  if (threads == 1) methods.push_back({1, ConvLayout::row_major, "row-major whole"});
  if (make_weight_products(problem)) methods.push_back({0, ConvLayout::row_major, "products"});
  return methods;
}

// Whether it has so many multiply-adds that the difference matters.
bool is_worth_timing(const ConvProblem& p) {
  const double per_output =
      static_cast<double>(ir::num_elements(p.weight)) / static_cast<double>(std::max<std::int64_t>(p.weight[0], 1));
  return static_cast<double>(ir::num_elements(p.output)) * per_output >= 1e6;
}

std::string key_of(const ConvProblem& p) {
  static constexpr std::string_view kDirections[] = {"forward", "input_grad", "weight_grad"};
  return fmt::format("conv {} {} {} stride {} pad {} {} dilation {} groups {}",
                     kDirections[static_cast<int>(p.direction)], to_string(p.input), to_string(p.weight),
                     to_string(p.stride), to_string(p.pad_begin), to_string(p.pad_end), to_string(p.dilation),
                     p.groups);
}

class TunedConv final : public ConvPrimitive {
 public:
  explicit TunedConv(const ConvProblem& problem)
      : problem_(problem), ways_(methods_for(problem)), made_(ways_.size()) {}

  // Whether the first method supports the problem.
  bool works() const { return made(0) != nullptr; }

  Status run(Run& run, const float* first, const float* second, float* result) const override {
    const auto with = [&](int method) -> Status {
      const auto* primitive = made(static_cast<std::size_t>(method));
      return primitive ? primitive->run(run, first, second, result) : unimplemented("no kernel");
    };
    int chosen = chosen_.load(std::memory_order_relaxed);
    if (chosen < 0) {
      std::vector<std::string_view> names;
      names.reserve(ways_.size());
      for (const auto& method : ways_) names.push_back(method.name);
      chosen = is_worth_timing(problem_) ? autotune().choose(key_of(problem_), names, with) : 0;
      chosen_.store(chosen, std::memory_order_relaxed);
    }
    return with(chosen);
  }

 private:
  // Made on first use: generating kernels takes longer than many a convolution.
  const ConvPrimitive* made(std::size_t i) const {
    const std::scoped_lock lock(mutex_);
    auto& slot = made_[i];
    if (!slot.tried) {
      slot.tried = true;
      slot.primitive = ways_[i].pieces == 0 ? make_weight_products(problem_)
                                            : make_batched_conv(problem_, ways_[i].pieces, ways_[i].layout);
    }
    return slot.primitive.get();
  }

  struct Slot {
    bool tried = false;
    std::unique_ptr<const ConvPrimitive> primitive;
  };
  const ConvProblem problem_;
  const std::vector<Method> ways_;
  mutable std::mutex mutex_;
  mutable std::vector<Slot> made_;
  mutable std::atomic<int> chosen_ = -1;
};

}  // namespace

std::unique_ptr<const ConvPrimitive> make_tuned_conv(const ConvProblem& problem) {
  auto tuned = std::make_unique<TunedConv>(problem);
  return tuned->works() ? std::move(tuned) : nullptr;
}

}  // namespace burn::backends::cpu
