// Losses.
#include "tools/conformance/layers.h"

namespace burn::conformance {
namespace {

std::optional<nn::Reduction> reduction(const Call& c) {
  const auto kind = c.text("reduction");
  if (kind == "none") return std::nullopt;
  if (kind == "batch_mean") return nn::Reduction::batch_mean;
  return kind == "sum" ? nn::Reduction::sum : nn::Reduction::mean;
}

// Computes the loss of these tensors, with the case's reduction.
template <typename Loss, typename... Operands>
Value reduced(const Call& c, const Loss& loss, const Operands&... operands) {
  const auto how = reduction(c);
  return how ? loss(operands..., *how).value() : loss.forward_no_reduction(operands...).value();
}

// For losses of predictions and targets.
template <typename Loss>
std::vector<Value> of_pair(const Call& c, const Loss& loss) {
  return {with_rank(c.x(0), [&](const auto& x) { return reduced(c, loss, x, std::decay_t<decltype(x)>{c.x(1)}); })};
}
// For losses of three tensors of the same rank.
template <typename Loss>
std::vector<Value> of_three(const Call& c, const Loss& loss) {
  return {with_rank(c.x(0), [&](const auto& x) {
    using T = std::decay_t<decltype(x)>;
    return reduced(c, loss, x, T{c.x(1)}, T{c.x(2)});
  })};
}

std::optional<double> smoothing(const Call& c) {
  return c.has("smoothing") ? std::optional{c.number("smoothing")} : std::nullopt;
}

std::vector<Value> cross_entropy(const Call& c) {
  nn::CrossEntropyLoss loss{.weights = state(c.optional(2)), .smoothing = smoothing(c), .logits = c.flag("logits")};
  if (c.has("pad_tokens")) loss.pad_tokens = c.integers("pad_tokens");
  return {loss(Tensor<2>{c.x(0)}, Tensor<1, Int>{c.x(1)}).value()};
}

std::vector<Value> binary_cross_entropy(const Call& c) {
  const nn::BinaryCrossEntropyLoss loss{
      .weights = state(c.optional(2)), .smoothing = smoothing(c), .logits = c.flag("logits")};
  return {with_rank(c.x(), [&](const auto& x) {
    constexpr int kRank = std::decay_t<decltype(x)>::kRank;
    return ir::is_floating(c.x(1).dtype()) ? loss(x, Tensor<kRank>{c.x(1)}) : loss(x, Tensor<kRank, Int>{c.x(1)});
  })};
}

std::vector<Value> cosine_embedding(const Call& c) {
  const auto how = reduction(c);
  const nn::CosineEmbeddingLoss loss{.margin = c.number("margin"), .reduction = how.value_or(nn::Reduction::mean)};
  const Tensor<2> first{c.x(0)}, second{c.x(1)};
  const Tensor<1, Int> target{c.x(2)};
  return {(how ? loss(first, second, target) : loss.forward_no_reduction(first, second, target)).value()};
}

}  // namespace

void add_loss(OpTable& t) {
  t["loss_mse"] = [](const Call& c) { return of_pair(c, nn::MseLoss{}); };
  t["loss_huber"] = [](const Call& c) { return of_pair(c, nn::HuberLoss{.delta = c.number("delta")}); };
  t["loss_smooth_l1"] = [](const Call& c) { return of_pair(c, nn::SmoothL1Loss{.beta = c.number("beta")}); };
  t["loss_lp"] = [](const Call& c) { return of_pair(c, nn::LpLoss{.p = c.number("p")}); };
  t["loss_kl_div"] = [](const Call& c) { return of_pair(c, nn::KLDivLoss{.log_target = c.flag("log_target")}); };
  t["loss_poisson_nll"] = [](const Call& c) {
    return of_pair(
        c, nn::PoissonNllLoss{.log_input = c.flag("log_input"), .full = c.flag("full"), .eps = c.number("eps")});
  };
  t["loss_hinge_embedding"] = [](const Call& c) {
    return of_pair(c, nn::HingeEmbeddingLoss{.margin = c.number("margin")});
  };
  t["loss_soft_margin"] = [](const Call& c) { return of_pair(c, nn::SoftMarginLoss{}); };
  t["loss_gaussian_nll"] = [](const Call& c) {
    return of_three(c, nn::GaussianNLLLoss{.eps = c.number("eps"), .full = c.flag("full")});
  };
  t["loss_margin_ranking"] = [](const Call& c) {
    return of_three(c, nn::MarginRankingLoss{.margin = c.number("margin")});
  };
  t["loss_multi_margin"] = [](const Call& c) {
    return std::vector{reduced(c, nn::MultiMarginLoss{.margin = c.number("margin"), .p = c.integer("p")},
                               Tensor<2>{c.x(0)}, Tensor<1, Int>{c.x(1)})};
  };
  t["loss_triplet_margin"] = [](const Call& c) {
    return std::vector{reduced(c, nn::TripletMarginLoss{.margin = c.number("margin"), .p = c.number("p")},
                               Tensor<2>{c.x(0)}, Tensor<2>{c.x(1)}, Tensor<2>{c.x(2)})};
  };
  t["loss_cosine_embedding"] = cosine_embedding;
  t["loss_cross_entropy"] = cross_entropy;
  t["loss_cross_entropy_with_logits"] = [](const Call& c) {
    return std::vector{with_rank(
        c.x(0), [&](const auto& x) { return loss::cross_entropy_with_logits(x, std::decay_t<decltype(x)>{c.x(1)}); })};
  };
  t["loss_binary_cross_entropy"] = binary_cross_entropy;
}

}  // namespace burn::conformance
