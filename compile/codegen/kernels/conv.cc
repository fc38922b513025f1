#include "compile/codegen/kernels/conv.h"

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "compile/codegen/alternatives.h"
#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernels/conv_blocks.h"
#include "compile/codegen/kernels/conv_direct.h"
#include "compile/codegen/kernels/conv_values.h"
#include "compile/codegen/kernels/lower.h"
#include "compile/codegen/target.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;

std::string key_of(std::string_view what, const ConvSizes& sizes, ir::DType type) {
  auto input = sizes.input;
  for (auto& size : input) size = size_in_key(size);
  return fmt::format("{} {} {} of {} x {} in {} groups, {} by {}, step {}, room {}, apart {}", what, ir::name(type),
                     size_in_key(sizes.batch), sizes.out_channels, sizes.in_channels, sizes.groups,
                     fmt::join(input, "x"), fmt::join(sizes.kernel, "x"), fmt::join(sizes.stride, "x"),
                     fmt::join(sizes.padding, "x"), fmt::join(sizes.dilation, "x"));
}

Status not_for_it() { return unimplemented("a convolution that is not for such tiles"); }

TileGrid grid_of_image(const DeviceFacts& facts, const ConvSizes& sizes, bool is_forward, ir::DType compute) {
  TileGrid grid{.rows = is_forward ? sizes.out_channels : sizes.in_channels,
                .columns = sizes.batch * ConvSizes::product(is_forward ? sizes.output : sizes.input),
                .groups = sizes.groups,
                .parts = 1};
  grid.choose_tile(facts, compute, wanted_threads(facts));
  return grid;
}

// Both directions that have an image [batch, channels, place...] as result: rows are its channels of a group, columns
// all places of the batch. By threads that have a tile each; of operands that are contiguous.
void emit_image_in_tiles(Emitter& emit, const ConvSizes& sizes, bool is_forward, const View& from_view,
                         const View& weight_view, const View& to_view) {
  const auto compute = ir::compute_dtype(to_view.dtype);
  const auto grid = grid_of_image(emit.target().facts(), sizes, is_forward, compute);
  const View* const views[] = {&from_view, &weight_view, &to_view};
  kernel::Writer writer(64);
  Arguments arguments(writer, index_for(views, grid));
  const auto from = arguments.address(from_view), weight = arguments.address(weight_view);
  const auto to = arguments.address(to_view);
  each_tile(writer, arguments, grid, [&](const TilePlace& at) {
    ConvKernel conv(writer, arguments, sizes);
    const Values& result_sizes = is_forward ? conv.output() : conv.input();
    const Values& source_sizes = is_forward ? conv.input() : conv.output();
    const Value result_plane = ConvKernel::product(result_sizes), source_plane = ConvKernel::product(source_sizes);
    const Value kernel_plane = ConvKernel::product(conv.kernel());
    const Value source_channels = is_forward ? conv.in_channels() : conv.out_channels();
    const Value result_channels = is_forward ? conv.out_channels() : conv.in_channels();
    Values source_begins, images, in_plane;
    std::vector<Values> column_places;
    for (const auto column : at.in_columns) {
      const Value image = column / result_plane;
      images.push_back(image);
      in_plane.push_back(column - image * result_plane);
      column_places.push_back(ConvKernel::split(in_plane.back(), result_sizes));
      source_begins.push_back((image * conv.groups() + at.group) * source_channels * source_plane);
    }
    Value channel;
    Values k;
    const TileSource source{.row =
                                [&](std::size_t i) {
                                  const Value row = at.loaded_rows[i];
                                  const Value out = at.group * conv.out_channels() + (is_forward ? row : channel);
                                  const Value in = is_forward ? channel : row;
                                  return writer.load(weight, (out * conv.in_channels() + in) * kernel_plane +
                                                                 ConvKernel::joined(k, conv.kernel()));
                                },
                            .column =
                                [&](std::size_t j) {
                                  const Value begin = source_begins[j] + channel * source_plane;
                                  return is_forward ? conv.input_element(from, begin, column_places[j], k)
                                                    : conv.output_element(from, begin, column_places[j], k);
                                },
                            .depth =
                                [&](const std::function<void()>& body) {
                                  writer.loop(source_channels, [&](Value c) {
                                    channel = c;
                                    conv.each(conv.kernel(), [&](const Values& element) {
                                      k = element;
                                      body();
                                    });
                                  });
                                }};
    const auto sums = multiply_tile(writer, compute, grid.tile, source);
    each_inside(writer, arguments, grid, at, sums, [&](std::size_t i, std::size_t j, Value sum) {
      const Value channel_of = (images[j] * conv.groups() + at.group) * result_channels + at.rows[i];
      writer.store(to, channel_of * result_plane + in_plane[j], sum);
    });
  });
  arguments.launch(emit, grid.threads());
}

// The same, in the way that is the fastest on the device.
Status convolve_to_image(Emitter& emit, const ConvSizes& sizes, bool is_forward, const View& from_view,
                         const View& weight_view, const View& to_view) {
  if (to_view.num_elements() == 0) return {};
  const View from_contiguous = emit.contiguous(from_view), weight_contiguous = emit.contiguous(weight_view);
  const View operands[] = {from_contiguous, weight_contiguous};
  std::vector<Alternative> ways{{"direct", [=](Emitter& by, std::span<const View> in, std::span<const View> out) {
                                   return emit_image_directly(by, sizes, is_forward, in[0], in[1], out[0])
                                              ? Status{}
                                              : not_for_it();
                                 }}};
  for (const auto& grid : image_grids(emit.target().facts(), sizes, is_forward, to_view.dtype))
    ways.push_back({grid.name(), [=](Emitter& by, std::span<const View> in, std::span<const View> out) {
                      emit_image_in_blocks(by, sizes, is_forward, in[0], in[1], out[0], grid);
                      return Status{};
                    }});
  const auto key = key_of(is_forward ? "conv" : "conv_input_grad", sizes, to_view.dtype);
  if (auto status = emit_fastest(emit, key, operands, {&to_view, 1}, ways); status.code() != StatusCode::unimplemented)
    return status;
  emit_image_in_tiles(emit, sizes, is_forward, from_contiguous, weight_contiguous, to_view);
  return {};
}

TileGrid grid_of_weight(const DeviceFacts& facts, const ConvSizes& sizes, ir::DType compute) {
  TileGrid grid{.rows = sizes.out_channels,
                .columns = sizes.in_channels * ConvSizes::product(sizes.kernel),
                .groups = sizes.groups,
                .parts = 1};
  grid.choose_tile(facts, compute, 1);
  grid.parts =
      std::clamp<std::int64_t>(wanted_threads(facts) / grid.threads(), 1, std::max<std::int64_t>(sizes.batch, 1));
  return grid;
}

// Rows are the output's channels of a group, columns the weight's elements of one of them; the depth goes through batch
// and places. It is split into parts of the batch, so that there are enough threads.
Status emit_weight_grad_in_tiles(Emitter& emit, const ConvSizes& sizes, const View& input_view, const View& output_view,
                                 const View& weight_view) {
  const auto compute = ir::compute_dtype(weight_view.dtype);
  const auto grid = grid_of_weight(emit.target().facts(), sizes, compute);
  const auto per_part = (sizes.batch + grid.parts - 1) / grid.parts;
  const View parts =
      grid.parts > 1 ? emit.scratch_value({compute, {grid.parts, weight_view.num_elements()}}) : weight_view;
  const View* const views[] = {&input_view, &output_view, &parts};
  kernel::Writer writer(64);
  Arguments arguments(writer, index_for(views, grid));
  const auto input = arguments.address(input_view), output = arguments.address(output_view);
  const auto to = arguments.address(parts);
  each_tile(writer, arguments, grid, [&](const TilePlace& at) {
    ConvKernel conv(writer, arguments, sizes);
    const Value output_plane = ConvKernel::product(conv.output()), input_plane = ConvKernel::product(conv.input());
    const Value kernel_plane = ConvKernel::product(conv.kernel());
    Values channels;
    std::vector<Values> elements;
    for (const auto column : at.in_columns) {
      const Value channel = column / kernel_plane;
      channels.push_back(channel);
      elements.push_back(ConvKernel::split(column - channel * kernel_plane, conv.kernel()));
    }
    const Value begin = at.part * arguments.number(per_part);
    const Value end = least(begin + arguments.number(per_part), arguments.number(sizes.batch));
    Value image;
    Values out;
    const auto sums = multiply_tile(
        writer, compute, grid.tile,
        {.row =
             [&](std::size_t i) {
               const Value channel = (image * conv.groups() + at.group) * conv.out_channels() + at.loaded_rows[i];
               return writer.load(output, channel * output_plane + ConvKernel::joined(out, conv.output()));
             },
         .column =
             [&](std::size_t j) {
               const Value channel = (image * conv.groups() + at.group) * conv.in_channels() + channels[j];
               return conv.input_element(input, channel * input_plane, out, elements[j]);
             },
         .depth =
             [&](const std::function<void()>& body) {
               writer.loop(begin, end, arguments.constant(1), [&](Value n) {
                 image = n;
                 conv.each(conv.output(), [&](const Values& place) {
                   out = place;
                   body();
                 });
               });
             }});
    each_inside(writer, arguments, grid, at, sums, [&](std::size_t i, std::size_t j, Value sum) {
      const Value row = (at.part * conv.groups() + at.group) * conv.out_channels() + at.rows[i];
      writer.store(to, row * arguments.number(grid.columns) + at.columns[j], sum);
    });
  });
  arguments.launch(emit, grid.threads());
  return grid.parts > 1 ? sum_parts(emit, parts, weight_view) : Status{};
}

}  // namespace

Status emit_conv(Emitter& emit, const ir::Conv& op, const View& input, const View& weight, const View& output) {
  return convolve_to_image(emit, sizes_of(op, input.shape, weight.shape, output.shape), true, input, weight, output);
}

Status emit_conv_input_grad(Emitter& emit, const ir::ConvInputGrad& op, const View& output, const View& weight,
                            const View& input) {
  return convolve_to_image(emit, sizes_of(op, input.shape, weight.shape, output.shape), false, output, weight, input);
}

Status emit_conv_weight_grad(Emitter& emit, const ir::ConvWeightGrad& op, const View& input_view,
                             const View& output_view, const View& weight_view) {
  if (weight_view.num_elements() == 0) return {};
  const auto sizes = sizes_of(op, input_view.shape, weight_view.shape, output_view.shape);
  const View input_whole = emit.contiguous(input_view), output_whole = emit.contiguous(output_view);
  const auto sum_up = [](Emitter& by, const View& made, const View& out) {
    return made.rank() == 2 ? sum_parts(by, made, out) : Status{};  // else in the weights' memory
  };
  const View operands[] = {input_whole, output_whole};
  std::vector<Alternative> ways{{"direct", [=](Emitter& by, std::span<const View> in, std::span<const View> out) {
                                   const auto made = emit_weight_grad_directly(by, sizes, in[0], in[1], out[0]);
                                   return made ? sum_up(by, *made, out[0]) : not_for_it();
                                 }}};
  for (const auto& one : weight_grad_grids(emit.target().facts(), sizes, weight_view.dtype))
    ways.push_back({one.name(), [=](Emitter& by, std::span<const View> in, std::span<const View> out) {
                      return sum_up(by, emit_weight_grad_in_blocks(by, sizes, in[0], in[1], out[0], one), out[0]);
                    }});
  if (auto status =
          emit_fastest(emit, key_of("conv_weight_grad", sizes, weight_view.dtype), operands, {&weight_view, 1}, ways);
      status.code() != StatusCode::unimplemented)
    return status;
  return emit_weight_grad_in_tiles(emit, sizes, input_whole, output_whole, weight_view);
}

Status lower(Emitter& emit, const ir::Conv& op, const NodeInPlan& at) {
  return emit_conv(emit, op, emit.read(at.operand(0)), emit.read(at.operand(1)), emit.result(at.result()));
}
Status lower(Emitter& emit, const ir::ConvInputGrad& op, const NodeInPlan& at) {
  return emit_conv_input_grad(emit, op, emit.read(at.operand(0)), emit.read(at.operand(1)), emit.result(at.result()));
}
Status lower(Emitter& emit, const ir::ConvWeightGrad& op, const NodeInPlan& at) {
  return emit_conv_weight_grad(emit, op, emit.read(at.operand(0)), emit.read(at.operand(1)), emit.result(at.result()));
}

}  // namespace burn::compile::kernels
