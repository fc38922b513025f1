// Convolutions, pools, samplings and ops built on them: module::, grid:: and the layers over them, and nothing else.
#include <array>

#include "ir/enums.h"
#include "nn/functional.h"
#include "nn/nn.h"
#include "tools/conformance/ops.h"

namespace burn::conformance {
namespace {

template <std::size_t N>
std::array<std::int64_t, N> sizes(const Call& c, const char* name) {
  const auto list = c.integers(name);
  std::array<std::int64_t, N> result{};
  for (std::size_t i = 0; i < N; ++i) result[i] = list.at(i);
  return result;
}

template <int D>
std::optional<Tensor<D>> given(const Call& c, std::size_t i) {
  const Value* value = c.optional(i);
  return value == nullptr ? std::nullopt : std::optional{Tensor<D>{*value}};
}

bool ceil_mode(const Call& c) { return c.has("ceil_mode") && c.flag("ceil_mode"); }

std::vector<Value> list(const auto& x) { return {x.value()}; }
template <int D>
std::vector<Value> list(const std::pair<Tensor<D>, Tensor<D, Int>>& pair) {
  return {pair.first.value(), pair.second.value()};
}

template <std::size_t N>
PaddedConvOptions<N> conv_options(const Call& c) {
  PaddedConvOptions<N> options;
  options.stride = sizes<N>(c, "stride");
  options.padding = sizes<N>(c, "padding");
  if (c.has("padding_end")) options.padding_end = sizes<N>(c, "padding_end");
  options.dilation = sizes<N>(c, "dilation");
  options.groups = c.integer("groups");
  return options;
}

template <std::size_t N>
ConvTransposeOptions<N> transpose_options(const Call& c) {
  return {.stride = sizes<N>(c, "stride"),
          .padding = sizes<N>(c, "padding"),
          .padding_out = sizes<N>(c, "padding_out"),
          .dilation = sizes<N>(c, "dilation"),
          .groups = c.integer("groups")};
}

void add_convolutions(OpTable& t) {
  t["conv1d"] = [](const Call& c) {
    return list(module::conv1d(Tensor<3>{c.x(0)}, Tensor<3>{c.x(1)}, given<1>(c, 2), conv_options<1>(c)));
  };
  t["conv2d"] = [](const Call& c) {
    return list(module::conv2d(Tensor<4>{c.x(0)}, Tensor<4>{c.x(1)}, given<1>(c, 2), conv_options<2>(c)));
  };
  t["conv3d"] = [](const Call& c) {
    return list(module::conv3d(Tensor<5>{c.x(0)}, Tensor<5>{c.x(1)}, given<1>(c, 2), conv_options<3>(c)));
  };
  t["conv_transpose1d"] = [](const Call& c) {
    return list(
        module::conv_transpose1d(Tensor<3>{c.x(0)}, Tensor<3>{c.x(1)}, given<1>(c, 2), transpose_options<1>(c)));
  };
  t["conv_transpose2d"] = [](const Call& c) {
    return list(
        module::conv_transpose2d(Tensor<4>{c.x(0)}, Tensor<4>{c.x(1)}, given<1>(c, 2), transpose_options<2>(c)));
  };
  t["conv_transpose3d"] = [](const Call& c) {
    return list(
        module::conv_transpose3d(Tensor<5>{c.x(0)}, Tensor<5>{c.x(1)}, given<1>(c, 2), transpose_options<3>(c)));
  };
  t["deform_conv2d"] = [](const Call& c) {
    return list(module::deform_conv2d(Tensor<4>{c.x(0)}, Tensor<4>{c.x(1)}, Tensor<4>{c.x(2)}, given<4>(c, 3),
                                      given<1>(c, 4),
                                      {.stride = sizes<2>(c, "stride"),
                                       .padding = sizes<2>(c, "padding"),
                                       .dilation = sizes<2>(c, "dilation"),
                                       .weight_groups = c.integer("weight_groups"),
                                       .offset_groups = c.integer("offset_groups")}));
  };
}

void add_max_pools(OpTable& t) {
  t["max_pool1d"] = [](const Call& c) {
    return list(module::max_pool1d(Tensor<3>{c.x()}, sizes<1>(c, "kernel_size")[0], sizes<1>(c, "stride")[0],
                                   sizes<1>(c, "padding")[0], sizes<1>(c, "dilation")[0], ceil_mode(c)));
  };
  t["max_pool1d_with_indices"] = [](const Call& c) {
    return list(module::max_pool1d_with_indices(Tensor<3>{c.x()}, sizes<1>(c, "kernel_size")[0],
                                                sizes<1>(c, "stride")[0], sizes<1>(c, "padding")[0],
                                                sizes<1>(c, "dilation")[0], ceil_mode(c)));
  };
  t["max_pool2d"] = [](const Call& c) {
    return list(module::max_pool2d(Tensor<4>{c.x()}, sizes<2>(c, "kernel_size"), sizes<2>(c, "stride"),
                                   sizes<2>(c, "padding"), sizes<2>(c, "dilation"), ceil_mode(c)));
  };
  t["max_pool2d_with_indices"] = [](const Call& c) {
    return list(module::max_pool2d_with_indices(Tensor<4>{c.x()}, sizes<2>(c, "kernel_size"), sizes<2>(c, "stride"),
                                                sizes<2>(c, "padding"), sizes<2>(c, "dilation"), ceil_mode(c)));
  };
  t["max_pool3d"] = [](const Call& c) {
    return list(module::max_pool3d(Tensor<5>{c.x()}, sizes<3>(c, "kernel_size"), sizes<3>(c, "stride"),
                                   sizes<3>(c, "padding"), sizes<3>(c, "dilation"), ceil_mode(c)));
  };
  t["adaptive_max_pool1d"] = [](const Call& c) {
    return list(module::adaptive_max_pool1d(Tensor<3>{c.x()}, sizes<1>(c, "output_size")[0]));
  };
  t["adaptive_max_pool2d"] = [](const Call& c) {
    return list(module::adaptive_max_pool2d(Tensor<4>{c.x()}, sizes<2>(c, "output_size")));
  };
  t["adaptive_max_pool3d"] = [](const Call& c) {
    return list(module::adaptive_max_pool3d(Tensor<5>{c.x()}, sizes<3>(c, "output_size")));
  };
}

void add_avg_pools(OpTable& t) {
  t["avg_pool1d"] = [](const Call& c) {
    return list(module::avg_pool1d(Tensor<3>{c.x()}, sizes<1>(c, "kernel_size")[0], sizes<1>(c, "stride")[0],
                                   sizes<1>(c, "padding")[0], c.flag("count_include_pad"), ceil_mode(c)));
  };
  t["avg_pool2d"] = [](const Call& c) {
    return list(module::avg_pool2d(Tensor<4>{c.x()}, sizes<2>(c, "kernel_size"), sizes<2>(c, "stride"),
                                   sizes<2>(c, "padding"), c.flag("count_include_pad"), ceil_mode(c)));
  };
  t["avg_pool3d"] = [](const Call& c) {
    return list(module::avg_pool3d(Tensor<5>{c.x()}, sizes<3>(c, "kernel_size"), sizes<3>(c, "stride"),
                                   sizes<3>(c, "padding"), c.flag("count_include_pad"), ceil_mode(c)));
  };
  t["adaptive_avg_pool1d"] = [](const Call& c) {
    return list(module::adaptive_avg_pool1d(Tensor<3>{c.x()}, sizes<1>(c, "output_size")[0]));
  };
  t["adaptive_avg_pool2d"] = [](const Call& c) {
    return list(module::adaptive_avg_pool2d(Tensor<4>{c.x()}, sizes<2>(c, "output_size")));
  };
  t["adaptive_avg_pool3d"] = [](const Call& c) {
    return list(module::adaptive_avg_pool3d(Tensor<5>{c.x()}, sizes<3>(c, "output_size")));
  };
}

InterpolateMode mode(const Call& c) {
  for (const auto mode : {InterpolateMode::nearest, InterpolateMode::nearest_exact, InterpolateMode::bilinear,
                          InterpolateMode::bicubic, InterpolateMode::lanczos3}) {
    if (ir::name(mode) == c.text("mode")) return mode;
  }
  throw Error(StatusCode::invalid_argument, "no mode " + c.text("mode"));
}

GridSamplePaddingMode padding_mode(const Call& c) {
  const auto name = c.text("padding_mode");
  return name == "zeros"    ? GridSamplePaddingMode::zeros
         : name == "border" ? GridSamplePaddingMode::border
                            : GridSamplePaddingMode::reflection;
}

UnfoldOptions unfold_options(const Call& c) {
  return {.stride = sizes<2>(c, "stride"), .padding = sizes<2>(c, "padding"), .dilation = sizes<2>(c, "dilation")};
}

void add_sampling(OpTable& t) {
  t["interpolate"] = [](const Call& c) {
    InterpolateOptions options{.mode = mode(c)};
    if (c.has("align_corners")) options.align_corners = c.flag("align_corners");
    return list(module::interpolate(Tensor<4>{c.x()}, sizes<2>(c, "output_size"), options));
  };
  t["grid_sample_2d"] = [](const Call& c) {
    return list(Tensor<4>{c.x(0)}.grid_sample_2d(
        Tensor<4>{c.x(1)},
        {.mode = mode(c), .padding_mode = padding_mode(c), .align_corners = c.flag("align_corners")}));
  };
  t["affine_grid_2d"] = [](const Call& c) { return list(grid::affine_grid_2d(Tensor<3>{c.x()}, sizes<4>(c, "dims"))); };
  t["unfold4d"] = [](const Call& c) {
    return list(module::unfold4d(Tensor<4>{c.x()}, sizes<2>(c, "kernel_size"), unfold_options(c)));
  };
  t["fold4d"] = [](const Call& c) {
    return list(
        module::fold4d(Tensor<3>{c.x()}, sizes<2>(c, "output_size"), sizes<2>(c, "kernel_size"), unfold_options(c)));
  };
  t["nn_pixel_shuffle"] = [](const Call& c) {
    return list(nn::PixelShuffle{.upscale_factor = c.integer("upscale_factor")}(Tensor<4>{c.x()}));
  };
  t["nn_pixel_unshuffle"] = [](const Call& c) {
    return list(nn::PixelUnshuffle{.downscale_factor = c.integer("downscale_factor")}(Tensor<4>{c.x()}));
  };
}

// Calls `body` with the first input as a Tensor of its rank, which must be at least 2.
template <typename Body>
std::vector<Value> with_rank(const Call& c, Body&& body) {
  switch (c.x().rank()) {
    case 2:
      return list(body(Tensor<2>{c.x()}));
    case 3:
      return list(body(Tensor<3>{c.x()}));
    case 4:
      return list(body(Tensor<4>{c.x()}));
    default:
      return list(body(Tensor<5>{c.x()}));
  }
}

void add_layers(OpTable& t) {
  t["linear"] = [](const Call& c) {
    if (c.x().rank() == 1) return list(module::linear(Tensor<1>{c.x()}, Tensor<2>{c.x(1)}, given<1>(c, 2)));
    return with_rank(c, [&](const auto& x) { return module::linear(x, Tensor<2>{c.x(1)}, given<1>(c, 2)); });
  };
  t["embedding"] = [](const Call& c) { return list(module::embedding(Tensor<2>{c.x(0)}, Tensor<2, Int>{c.x(1)})); };
  t["attention"] = [](const Call& c) {
    AttentionOptions options{.is_causal = c.flag("is_causal")};
    if (c.has("scale")) options.scale = c.number("scale");
    if (c.has("softcap")) options.softcap = c.number("softcap");
    return with_rank(c, [&]<int D>(const Tensor<D>& q) {
      std::optional<Tensor<D, Bool>> mask;
      if (const Value* hidden = c.optional(3)) mask = Tensor<D, Bool>{*hidden};
      return module::attention(q, Tensor<D>{c.x(1)}, Tensor<D>{c.x(2)}, mask, given<D>(c, 4), options);
    });
  };
  t["batch_norm"] = [](const Call& c) {
    return with_rank(c, [&](const auto& x) {
      return module::batch_norm(x, Tensor<1>{c.x(1)}, Tensor<1>{c.x(2)}, Tensor<1>{c.x(3)}, Tensor<1>{c.x(4)},
                                c.number("epsilon"));
    });
  };
  t["layer_norm"] = [](const Call& c) {
    if (c.x().rank() == 1)
      return list(module::layer_norm(Tensor<1>{c.x()}, Tensor<1>{c.x(1)}, given<1>(c, 2), c.number("epsilon")));
    return with_rank(c, [&](const auto& x) {
      return module::layer_norm(x, Tensor<1>{c.x(1)}, given<1>(c, 2), c.number("epsilon"));
    });
  };
  t["nn_local_response_norm"] = [](const Call& c) {
    const nn::LocalResponseNorm layer{
        .size = c.integer("size"), .alpha = c.number("alpha"), .beta = c.number("beta"), .k = c.number("k")};
    return with_rank(c, [&](const auto& x) { return layer(x); });
  };
}

nn::Reduction reduction(const Call& c) {
  return c.text("reduction") == "sum" ? nn::Reduction::sum : nn::Reduction::mean;
}

// The case has logits; this loss takes log-probabilities.
std::vector<Value> loss_ctc(const Call& c) {
  const nn::CTCLoss loss{.blank = c.integer("blank"), .zero_infinity = c.flag("zero_infinity")};
  const auto log_probs = activation::log_softmax(Tensor<3>{c.x(0)}, 2);
  const Tensor<2, Int> targets{c.x(1)};
  const Tensor<1, Int> input_lengths{c.x(2)}, target_lengths{c.x(3)};
  if (c.text("reduction") == "none") return list(loss(log_probs, targets, input_lengths, target_lengths));
  return list(loss.forward_with_reduction(log_probs, targets, input_lengths, target_lengths, reduction(c)));
}

std::vector<Value> loss_rnnt(const Call& c) {
  const nn::RNNTLoss loss{.blank = c.integer("blank"), .logits = c.flag("logits")};
  const Tensor<4> logits{c.x(0)};
  const Tensor<2, Int> targets{c.x(1)};
  const Tensor<1, Int> logit_lengths{c.x(2)}, target_lengths{c.x(3)};
  if (c.text("reduction") == "none") return list(loss(logits, targets, logit_lengths, target_lengths));
  return list(loss.forward_with_reduction(logits, targets, logit_lengths, target_lengths, reduction(c)));
}

}  // namespace

void add_windows(OpTable& t) {
  add_convolutions(t);
  add_max_pools(t);
  add_avg_pools(t);
  add_sampling(t);
  add_layers(t);
  t["ctc_loss"] = [](const Call& c) {
    return list(module::ctc_loss(Tensor<3>{c.x(0)}, Tensor<2, Int>{c.x(1)}, Tensor<1, Int>{c.x(2)},
                                 Tensor<1, Int>{c.x(3)}, c.integer("blank")));
  };
  t["loss_ctc"] = loss_ctc;
  t["loss_rnnt"] = loss_rnnt;
}

}  // namespace burn::conformance
