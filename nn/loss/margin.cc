#include "nn/loss/margin.h"

#include "client/ops/activation.h"
#include "client/ops/norms.h"
#include "nn/loss/pair.h"
#include "nn/module/checks.h"

namespace burn::nn {

using client::Site;
using client::Value;

namespace {

// Throws unless input [batch, ...] and target [batch] have the same batch size.
void check_targets(const char* loss, const Value& input, const Value& target, const Site& site) {
  client::fail_if_empty(input, loss, site);
  client::fail_if_empty(target, (std::string{loss} + ": the target").c_str(), site);
  if (input.dim(0) == target.dim(0)) return;
  client::fail(std::string{loss} + ": input " + ir::to_string(input.type()) + " and target " +
                   ir::to_string(target.type()) + " have different batch sizes",
               site);
}

Value without_last(const Value& x) { return client::squeeze(x, {x.rank() - 1}, client::current_site()); }

}  // namespace

MultiMarginLoss MultiMarginLossConfig::init() const {
  if (!(margin >= 0))
    detail::reject("MultiMarginLossConfig", "margin is " + std::to_string(margin) + ", must not be negative");
  if (p != 1 && p != 2) detail::reject("MultiMarginLossConfig", "p is " + std::to_string(p) + ", must be 1 or 2");
  return {.margin = margin, .p = p};
}

Value HingeEmbeddingLoss::apply(const Value& input, const Value& targets, std::optional<Reduction> reduction,
                                const Site& site) const {
  return detail::pair_loss("hinge_embedding_loss", input, targets, reduction, site,
                           [&](const Value& x, const Value& t) {
                             return select(t == 1.0, 0.0, relu(margin - x)) + select(t == -1.0, 0.0, x);
                           });
}

Value SoftMarginLoss::apply(const Value& logits, const Value& targets, std::optional<Reduction> reduction,
                            const Site& site) const {
  return detail::pair_loss("soft_margin_loss", logits, targets, reduction, site,
                           [&](const Value& x, const Value& t) { return client::softplus(-(t * x), 1, site); });
}

Value MarginRankingLoss::apply(const Value& first, const Value& second, const Value& target,
                               std::optional<Reduction> reduction, const Site& site) const {
  constexpr const char* kName = "margin_ranking_loss";
  detail::check_same_shape(kName, "the first input", first, "the second", second, site);
  detail::check_same_shape(kName, "the first input", first, "the target", target, site);
  return client::in_wide_dtype(first, site, [&](const Value& a) {
    const Value loss = relu(detail::operand_for(a, target) * (detail::operand_for(a, second) - a) + margin);
    return detail::reduced(loss, reduction, site);
  });
}

Value TripletMarginLoss::apply(const Value& anchor, const Value& positive, const Value& negative,
                               std::optional<Reduction> reduction, const Site& site) const {
  constexpr const char* kName = "triplet_margin_loss";
  detail::check_same_shape(kName, "anchor", anchor, "positive", positive, site);
  detail::check_same_shape(kName, "anchor", anchor, "negative", negative, site);
  return client::in_wide_dtype(anchor, site, [&](const Value& a) {
    const auto distance = [&](const Value& other) {
      return client::vector_norm(a - detail::operand_for(a, other), p, 1, site);
    };
    const Value loss = relu(distance(positive) - distance(negative) + margin);
    return detail::reduced(without_last(loss), reduction, site);
  });
}

Value MultiMarginLoss::apply(const Value& input, const Value& target, std::optional<Reduction> reduction,
                             const Site& site) const {
  check_targets("multi_margin_loss", input, target, site);
  const Value column = client::unsqueeze(target, {1}, site);  // [batch, 1]
  return client::in_wide_dtype(input, site, [&](const Value& x) {
    const auto classes = x.dim(1);
    const Value above = relu(x - client::gather(x, 1, column, site) + margin);  // [batch, class]
    const Value ids =
        client::reshape(client::arange(client::place_of(x), 0, classes, 1, target.dtype(), site), {1, classes}, site);
    const Value is_own = client::pointwise(ir::PointwiseFn::equal, ids, column, site);
    const Value others = select(is_own, 0.0, p == 2 ? above * above : above);
    const Value sum = client::reduce(ir::ReduceFn::sum, others, {1}, site);
    return detail::reduced(without_last(sum * (1 / static_cast<double>(classes))), reduction, site);
  });
}

Value CosineEmbeddingLoss::apply(const Value& first, const Value& second, const Value& target,
                                 std::optional<Reduction> how, const Site& site) const {
  constexpr const char* kName = "cosine_embedding_loss";
  detail::check_same_shape(kName, "the first input", first, "the second", second, site);
  check_targets(kName, first, target, site);
  return client::in_wide_dtype(first, site, [&](const Value& a) {
    const Value cosine =
        without_last(client::cosine_similarity(a, detail::operand_for(a, second), 1, 1e-8, site));  // [batch]
    const Value t = detail::operand_for(a, target);
    const Value loss = select(t == 1.0, 1.0 - cosine, select(t == -1.0, relu(cosine - margin), 0.0));
    return detail::reduced(loss, how, site);
  });
}

}  // namespace burn::nn
