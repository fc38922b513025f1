#include "compile/codegen/kernels/conv_blocks.h"

#include <algorithm>

#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/target.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;

// Without more of the depth at once: a thread works out where each element lies that it loads, and with 32 of the depth
// cnn512_step took 2.6 times as long on an H100.
constexpr BlockTile kTiles[] = {{128, 128, 16, 8, 8}, {64, 64, 16, 4, 4}, {32, 32, 16, 4, 2}};

ir::DType index_of(std::initializer_list<const View*> views, const BlockGrid& grid) {
  std::int64_t most = grid.threads();
  for (const auto* view : views) most = std::max(most, reach(*view));
  return index_type(most);
}

std::vector<BlockGrid> with_candidates(const std::optional<BlockGrid>& first, const DeviceFacts& facts,
                                       ir::DType type) {
  if (!first) return {};
  const auto bytes = static_cast<std::int64_t>(ir::size_of(type));
  return bytes == 4 ? BlockGrid::candidates_of(*first, kTiles, facts, bytes) : std::vector{*first};
}

}  // namespace

std::vector<BlockGrid> image_grids(const DeviceFacts& facts, const ConvSizes& sizes, bool is_forward, ir::DType type) {
  const auto compute = ir::compute_dtype(type);
  const auto rows = is_forward ? sizes.out_channels : sizes.in_channels;
  const auto sources = is_forward ? sizes.in_channels : sizes.out_channels;
  const auto columns = sizes.batch * ConvSizes::product(is_forward ? sizes.output : sizes.input);
  auto grids = with_candidates(BlockGrid::choose(facts, compute, rows, columns,
                                                 sources * ConvSizes::product(sizes.kernel), sizes.groups, kTiles),
                               facts, compute);
  for (auto& grid : grids) grid.parts = 1, grid.depth_of_part = grid.depth;
  return grids;
}

// Rows are the result's channels of a group, columns all places of the batch; the depth goes through the source's
// channels and, for each, the kernel's elements.
void emit_image_in_blocks(Emitter& emit, const ConvSizes& sizes, bool is_forward, const View& from_view,
                          const View& weight_view, const View& to_view, const BlockGrid& grid) {
  const auto compute = ir::compute_dtype(to_view.dtype);
  kernel::Writer writer(grid.tile.threads());
  Arguments arguments(writer, index_of({&from_view, &weight_view, &to_view}, grid));
  const auto from = arguments.address(from_view), weight = arguments.address(weight_view);
  const auto to = arguments.address(to_view);
  each_block(writer, arguments, grid, [&](const BlockPlace& at) {
    ConvKernel conv(writer, arguments, sizes, ConvKernel::Window::constant);
    const Values& result_sizes = is_forward ? conv.output() : conv.input();
    const Values& source_sizes = is_forward ? conv.input() : conv.output();
    const Value result_plane = ConvKernel::product(result_sizes), source_plane = ConvKernel::product(source_sizes);
    const Value window = arguments.constant(ConvSizes::product(sizes.kernel));
    const Value source_channels = is_forward ? conv.in_channels() : conv.out_channels();
    const Value result_channels = is_forward ? conv.out_channels() : conv.in_channels();
    const BlockSource weights{.line = [&](Value row) -> std::function<Value(Value)> {
                                if (is_forward) {
                                  const Value begin =
                                      (at.group * conv.out_channels() + row) * conv.in_channels() * window;
                                  return [&, begin](Value depth) { return writer.load(weight, begin + depth); };
                                }
                                return [&, row](Value depth) {
                                  const Value channel = depth / window, element = depth - channel * window;
                                  const Value out = at.group * conv.out_channels() + channel;
                                  return writer.load(weight, (out * conv.in_channels() + row) * window + element);
                                };
                              },
                              .is_depth_contiguous = is_forward};
    const BlockSource places{.line = [&](Value column) -> std::function<Value(Value)> {
      const Value image = column / result_plane;
      const Values place = ConvKernel::split(column - image * result_plane, result_sizes);
      const Value begin = (image * conv.groups() + at.group) * source_channels * source_plane;
      return [&, place, begin](Value depth) {
        const Value channel = depth / window;
        const Values k = ConvKernel::split(depth - channel * window, conv.kernel());
        const Value plane = begin + channel * source_plane;
        return is_forward ? conv.input_element(from, plane, place, k) : conv.output_element(from, plane, place, k);
      };
    }};
    multiply_block(writer, arguments, compute, grid, at, weights, places, [&](Value row, Value column, Value sum) {
      const Value image = column / result_plane;
      const Value channel = (image * conv.groups() + at.group) * result_channels + row;
      writer.store(to, channel * result_plane + column - image * result_plane, sum);
    });
  });
  arguments.launch(emit, grid.threads());
}

std::vector<BlockGrid> weight_grad_grids(const DeviceFacts& facts, const ConvSizes& sizes, ir::DType type) {
  const auto compute = ir::compute_dtype(type);
  return with_candidates(
      BlockGrid::choose(facts, compute, sizes.out_channels, sizes.in_channels * ConvSizes::product(sizes.kernel),
                        sizes.batch * ConvSizes::product(sizes.output), sizes.groups, kTiles),
      facts, compute);
}

// Rows are the output's channels of a group, columns the weight's elements of one of them; the depth goes through the
// batch and the output's places.
View emit_weight_grad_in_blocks(Emitter& emit, const ConvSizes& sizes, const View& input_view, const View& output_view,
                                const View& weight_view, const BlockGrid& grid) {
  const auto compute = ir::compute_dtype(weight_view.dtype);
  const View parts =
      grid.parts > 1 ? emit.scratch_value({compute, {grid.parts, weight_view.num_elements()}}) : weight_view;
  kernel::Writer writer(grid.tile.threads());
  Arguments arguments(writer, index_of({&input_view, &output_view, &parts}, grid));
  const auto input = arguments.address(input_view), output = arguments.address(output_view);
  const auto to = arguments.address(parts);
  each_block(writer, arguments, grid, [&](const BlockPlace& at) {
    ConvKernel conv(writer, arguments, sizes, ConvKernel::Window::constant);
    const Value output_plane = ConvKernel::product(conv.output()), input_plane = ConvKernel::product(conv.input());
    const Value window = arguments.constant(ConvSizes::product(sizes.kernel));
    const BlockSource channels{.line = [&](Value row) -> std::function<Value(Value)> {
                                 return [&, row](Value depth) {
                                   const Value image = depth / output_plane;
                                   const Value channel = (image * conv.groups() + at.group) * conv.out_channels() + row;
                                   return writer.load(output, channel * output_plane + depth - image * output_plane);
                                 };
                               },
                               .is_depth_contiguous = true};
    const BlockSource elements{.line = [&](Value column) -> std::function<Value(Value)> {
                                 const Value channel = column / window;
                                 const Values k = ConvKernel::split(column - channel * window, conv.kernel());
                                 return [&, channel, k](Value depth) {
                                   const Value image = depth / output_plane;
                                   const Values out = ConvKernel::split(depth - image * output_plane, conv.output());
                                   const Value plane =
                                       (image * conv.groups() + at.group) * conv.in_channels() + channel;
                                   return conv.input_element(input, plane * input_plane, out, k);
                                 };
                               },
                               .is_depth_contiguous = true};
    const Value all_columns = arguments.number(grid.columns);
    multiply_block(writer, arguments, compute, grid, at, channels, elements, [&](Value row, Value column, Value sum) {
      const Value line = (at.part * conv.groups() + at.group) * conv.out_channels() + row;
      writer.store(to, line * all_columns + column, sum);
    });
  });
  arguments.launch(emit, grid.threads());
  return parts;
}

}  // namespace burn::compile::kernels
