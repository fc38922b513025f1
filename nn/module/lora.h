// LoRA (Hu et al., arXiv:2106.09685): fine-tunes a frozen matrix by adding the product of two small trained matrices.
//
//   auto tuned = nn::apply_lora(net, nn::Lora{.rank = 8, .group = ParamGroup::from_regex("attention")});
//   ... training as usual: the optimizer sees the adapters only ...
//   nn::into_record_group(tuned, nn::lora_adapters()).save("adapters.st");
//   const Net whole = nn::merge(tuned);                       // without adapters, for inference
#pragma once

#include <cstdint>
#include <optional>

#include "nn/module/param_group.h"
#include "nn/module/reparameterization.h"

namespace burn::nn {

// W becomes W + alpha / rank A B for each matrix [a, b] of the group, with A [a, rank] and B [rank, b]: "lora_a", drawn
// from a normal distribution, and "lora_b", zeros, so that the module's results are unchanged at first. An nn::Linear
// computes x W + alpha / rank (x A) B, and never the sum of the matrices.
struct Lora {
  std::int64_t rank = 8;
  double alpha = 8;
  double init_std = 0.02;                // of A
  std::optional<DType> dtype{};          // of A and B; none: the matrix's, or f32 if that has 16 bits
  ParamGroup group = ParamGroup::all();  // parameters of other ranks in it are not adapted
};

namespace detail {
void apply_lora(const ModuleWalk& walk, const Lora& lora, const client::Site& site);
}  // namespace detail

// Freezes all parameters and adds adapters, which are trained; nn::unfreeze_group() trains more. Random numbers come
// from the random stream of the module's device. Errors (thrown): a rank below 1, or above a side of a matrix, with its
// path; a group without a matrix; a matrix that has an adapter already; a dtype that is not a float.
template <Module M>
M apply_lora(const M& module, const Lora& lora = {}, Loc where = Loc::current()) {
  M copy = module;
  detail::apply_lora(copy.walk(), lora, at(where));
  return copy;
}

// The group of all adapters, to record, load and freeze them separately (nn/module/param_group.h).
ParamGroup lora_adapters();

}  // namespace burn::nn
