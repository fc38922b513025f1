#include "compile/codegen/kernels/conv_direct.h"

#include <algorithm>
#include <bit>

#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/target.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;
using kernel::Variable;

constexpr int kThreads = 128;
constexpr int kPack = 4;  // numbers of 16 bytes

bool is_for(const DeviceFacts& facts, const View& result) {
  return ir::compute_dtype(result.dtype) == ir::DType::f32 && !facts.has_slow_barriers && !facts.has_limited_loops &&
         facts.max_threads >= kThreads;
}

Value to_u32(Value number) { return kernel::to(ir::DType::u32, number); }

std::vector<Variable> zeros(kernel::Writer& writer, int count) {
  std::vector<Variable> sums;
  sums.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) sums.push_back(writer.variable(writer.constant(ir::DType::f32, 0.0)));
  return sums;
}

// What a thread computes of a result: `rows` channels at `places` places of the batch. A block goes through
// `channels_at_once` of the source's channels at a time, whose weights it has in shared memory.
struct ImageTile {
  std::int64_t rows = 1, places = 1, channels_at_once = 1;

  static std::optional<ImageTile> choose(const DeviceFacts& facts, std::int64_t rows, std::int64_t columns,
                                         std::int64_t groups, std::int64_t sources, std::int64_t window) {
    constexpr std::int64_t kMostRows = 16, kMostPlaces = 4, kMostChannels = 8, kMostWeights = 4096;
    if (window == 1 || std::min({rows, columns, groups, sources, window}) == 0) return {};
    ImageTile tile;
    tile.rows = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(rows))),
                                         kPack, kMostRows);
    // Full chunks alone, so that the loop over their channels has no end to look for.
    tile.channels_at_once = std::min({kMostChannels, sources, kMostWeights / (window * tile.rows)});
    while (tile.channels_at_once > 1 && sources % tile.channels_at_once != 0) --tile.channels_at_once;
    if (tile.channels_at_once == 0 || (tile.channels_at_once == 1 && sources > kMostChannels)) return {};
    if (window * tile.channels_at_once * tile.rows * std::int64_t{4} > facts.shared_bytes_per_block) return {};
    const auto of_rows = divide_up(rows, tile.rows) * groups;
    tile.places = kMostPlaces;
    while (tile.places > 1 &&
           divide_up(columns, kThreads * tile.places) * of_rows < std::int64_t{4} * facts.multiprocessors)
      tile.places /= 2;
    return tile;
  }
};

// How the weights' gradient is spread over blocks: each has `rows` channels of the output for one of the input, in one
// part of the images and of the places of a plane. Its threads have `lanes` places of `images_at_once` images.
struct WeightTile {
  std::int64_t rows = 1, rows_of = 1, lanes = 1, images_at_once = 1;
  std::int64_t image_parts = 1, images_of_part = 1, place_parts = 1;

  std::int64_t parts() const { return image_parts * place_parts; }

  static std::optional<WeightTile> choose(const DeviceFacts& facts, const ConvSizes& sizes) {
    constexpr std::int64_t kMostSums = 80, kMostRows = 8, kMostInChannels = 16, kMostOutChannels = 64;
    const auto window = ConvSizes::product(sizes.kernel), plane = ConvSizes::product(sizes.output);
    if (!facts.has_shuffles || kThreads % facts.subgroup_size != 0 || window == 1 || window > kMostSums / 2) return {};
    if (sizes.in_channels > kMostInChannels || sizes.out_channels > kMostOutChannels) return {};
    if (std::min({plane, sizes.batch, sizes.in_channels, sizes.out_channels}) == 0) return {};
    WeightTile tile;
    tile.rows =
        std::min(kMostRows, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(sizes.out_channels))));
    while (tile.rows * window > kMostSums) tile.rows /= 2;
    tile.rows_of = divide_up(sizes.out_channels, tile.rows);
    tile.lanes = std::min<std::int64_t>(plane, kThreads);
    tile.images_at_once = kThreads / tile.lanes;
    const auto wanted = std::int64_t{4} * facts.multiprocessors;
    const auto blocks = sizes.groups * sizes.in_channels * tile.rows_of;
    const auto most = divide_up(sizes.batch, tile.images_at_once);
    const auto parts = std::clamp<std::int64_t>(wanted / blocks, 1, most);
    tile.images_of_part = divide_up(divide_up(sizes.batch, parts), tile.images_at_once) * tile.images_at_once;
    tile.image_parts = divide_up(sizes.batch, tile.images_of_part);
    tile.place_parts = std::clamp<std::int64_t>(wanted / (blocks * tile.image_parts), 1, divide_up(plane, tile.lanes));
    return tile;
  }
};

}  // namespace

bool emit_image_directly(Emitter& emit, const ConvSizes& sizes, bool is_forward, const View& from_view,
                         const View& weight_view, const View& to_view) {
  const auto& facts = emit.target().facts();
  if (!is_for(facts, to_view)) return false;
  const auto rows = is_forward ? sizes.out_channels : sizes.in_channels;
  const auto sources = is_forward ? sizes.in_channels : sizes.out_channels;
  const auto columns = sizes.batch * ConvSizes::product(is_forward ? sizes.output : sizes.input);
  const auto chosen = ImageTile::choose(facts, rows, columns, sizes.groups, sources, ConvSizes::product(sizes.kernel));
  if (!chosen) return false;
  const auto tile = *chosen;
  const auto across = divide_up(columns, kThreads * tile.places), down = divide_up(rows, tile.rows);
  const auto blocks = across * down * sizes.groups;
  const std::int64_t window = ConvSizes::product(sizes.kernel), in_chunk = tile.channels_at_once * tile.rows;

  kernel::Writer writer(kThreads);
  const auto most = std::max({reach(from_view), reach(weight_view), reach(to_view), blocks * kThreads * tile.places});
  Arguments arguments(writer, index_type(most));
  const auto from = arguments.address(from_view), weight = arguments.address(weight_view);
  const auto to = arguments.address(to_view);
  const auto weights = writer.shared(ir::DType::f32, window * in_chunk);
  const Value block = arguments.block();
  writer.when(block < arguments.number(blocks), [&] {
    ConvKernel conv(writer, arguments, sizes, ConvKernel::Window::constant);
    const Values& result_sizes = is_forward ? conv.output() : conv.input();
    const Values& source_sizes = is_forward ? conv.input() : conv.output();
    const Value result_plane = ConvKernel::product(result_sizes), source_plane = ConvKernel::product(source_sizes);
    const Value source_channels = is_forward ? conv.in_channels() : conv.out_channels();
    const Value result_channels = is_forward ? conv.out_channels() : conv.in_channels();
    const Value of_rows = arguments.number(across), stack = block / of_rows, group = stack / arguments.number(down);
    const Value first_row = (stack - group * arguments.number(down)) * tile.rows;
    const Value first_column = (block - stack * of_rows) * (kThreads * tile.places);
    const Value all_columns = arguments.number(columns), thread = arguments.thread();

    struct Place {
      Value column, image, in_plane, begin;
      Values at;
    };
    std::vector<Place> places;
    for (std::int64_t j = 0; j < tile.places; ++j) {
      Place place;
      place.column = first_column + thread + j * kThreads;
      const Value column = least(place.column, all_columns - 1);
      place.image = column / result_plane;
      place.in_plane = column - place.image * result_plane;
      place.at = ConvKernel::split(place.in_plane, result_sizes);
      place.begin = (place.image * conv.groups() + group) * source_channels * source_plane;
      places.push_back(place);
    }
    const auto sums = zeros(writer, static_cast<int>(tile.rows * tile.places));
    writer.loop(arguments.constant(0), source_channels, arguments.constant(tile.channels_at_once), [&](Value first) {
      // Shared memory has [element of the window, channel of the chunk, row].
      writer.barrier();
      writer.loop(thread, arguments.constant(window * in_chunk), arguments.constant(kThreads), [&](Value i) {
        const Value element = i / in_chunk, in_element = i - element * in_chunk;
        const Value channel = in_element / tile.rows, row = first_row + in_element - channel * tile.rows;
        const Value inside = row < result_channels, of = select(inside, row, 0);
        const Value source = first + channel;
        const Value line = is_forward ? (group * result_channels + of) * source_channels + source
                                      : (group * source_channels + source) * result_channels + of;
        const Value number = writer.load(weight, line * window + element);
        writer.store(weights, to_u32(i), select(inside, number, 0.0F));
      });
      writer.barrier();
      conv.each(conv.kernel(), [&](const Values& k) {
        std::vector<ConvKernel::Meeting> meetings;
        meetings.reserve(places.size());
        for (const auto& place : places)
          meetings.push_back(is_forward ? conv.input_place(place.at, k) : conv.output_place(place.at, k));
        const Value of_element = to_u32(ConvKernel::joined(k, conv.kernel())) * in_chunk;
        for (std::int64_t c = 0; c < tile.channels_at_once; ++c) {
          Values elements;
          for (std::size_t j = 0; j < places.size(); ++j)
            elements.push_back(conv.element(from, places[j].begin + (first + c) * source_plane, meetings[j]));
          for (std::int64_t r = 0; r < tile.rows; r += kPack) {
            const auto four = writer.load_pack(weights, of_element + c * tile.rows + r);
            for (std::size_t n = 0; n < four.size(); ++n) {
              for (std::size_t j = 0; j < places.size(); ++j) {
                const auto& sum = sums[(static_cast<std::size_t>(r) + n) * places.size() + j];
                sum.set(fused_multiply_add(four[n], elements[j], sum.get()));
              }
            }
          }
        }
      });
    });
    for (std::int64_t r = 0; r < tile.rows; ++r) {
      for (std::size_t j = 0; j < places.size(); ++j) {
        const auto& place = places[j];
        const Value row = first_row + r;
        writer.when(row < result_channels && place.column < all_columns, [&] {
          const Value channel = (place.image * conv.groups() + group) * result_channels + row;
          writer.store(to, channel * result_plane + place.in_plane,
                       sums[static_cast<std::size_t>(r) * places.size() + j].get());
        });
      }
    }
  });
  arguments.launch(emit, blocks * kThreads);
  return true;
}

std::optional<View> emit_weight_grad_directly(Emitter& emit, const ConvSizes& sizes, const View& input_view,
                                              const View& output_view, const View& weight_view) {
  const auto& facts = emit.target().facts();
  if (!is_for(facts, weight_view)) return {};
  const auto chosen = WeightTile::choose(facts, sizes);
  if (!chosen) return {};
  const auto tile = *chosen;
  const View parts =
      tile.parts() > 1 ? emit.scratch_value({ir::DType::f32, {tile.parts(), weight_view.num_elements()}}) : weight_view;
  const auto blocks = sizes.groups * sizes.in_channels * tile.rows_of * tile.parts();
  const auto window = ConvSizes::product(sizes.kernel);
  const auto count = tile.rows * window;
  const auto subgroup = std::int64_t{facts.subgroup_size}, subgroups = kThreads / subgroup;

  kernel::Writer writer(kThreads);
  const auto most = std::max({reach(input_view), reach(output_view), reach(parts), blocks * kThreads});
  Arguments arguments(writer, index_type(most));
  const auto input = arguments.address(input_view), output = arguments.address(output_view);
  const auto to = arguments.address(parts);
  const auto shared = writer.shared(ir::DType::f32, subgroups * count);
  const Value block = arguments.block();
  writer.when(block < arguments.number(blocks), [&] {
    ConvKernel conv(writer, arguments, sizes, ConvKernel::Window::constant);
    const Value output_plane = ConvKernel::product(conv.output()), input_plane = ConvKernel::product(conv.input());
    const Value rows_of = arguments.number(tile.rows_of), place_parts = arguments.number(tile.place_parts);
    Value rest = block / rows_of;
    const Value first_row = (block - rest * rows_of) * tile.rows;
    const Value channel = rest % conv.in_channels();
    rest = rest / conv.in_channels();
    const Value group = rest % conv.groups(), part = rest / conv.groups();
    const Value image_part = part / place_parts, place_part = part - image_part * place_parts;
    const Value thread = arguments.thread(), lanes = arguments.number(tile.lanes);
    const Value image_lane = thread / lanes, lane = thread - image_lane * lanes;
    const Value at_once = arguments.number(tile.images_at_once);
    const Value first_image = image_part * arguments.number(tile.images_of_part);
    const Value end = least(first_image + arguments.number(tile.images_of_part), arguments.number(sizes.batch));
    const Value last_row = conv.out_channels() - 1;

    const auto sums = zeros(writer, static_cast<int>(count));
    const Value step = lanes * place_parts;
    writer.when(image_lane < at_once, [&] {
      writer.loop(lane + place_part * lanes, output_plane, step, [&](Value place) {
        const Values out = ConvKernel::split(place, conv.output());
        std::vector<ConvKernel::Meeting> meetings;
        for (std::int64_t k = 0; k < window; ++k)
          meetings.push_back(conv.input_place(out, ConvKernel::split(arguments.constant(k), conv.kernel())));
        Values of_rows;
        for (std::int64_t r = 0; r < tile.rows; ++r)
          of_rows.push_back(least(first_row + r, last_row) * output_plane + place);
        writer.loop(first_image + image_lane, end, at_once, [&](Value image) {
          const Value stack = image * conv.groups() + group;
          const Value of_output = stack * conv.out_channels() * output_plane;
          const Value of_input = (stack * conv.in_channels() + channel) * input_plane;
          Values gradients, elements;
          for (const auto row : of_rows) gradients.push_back(writer.load(output, of_output + row));
          for (const auto& meeting : meetings) elements.push_back(conv.element(input, of_input, meeting));
          auto sum = sums.begin();
          for (const auto gradient : gradients) {
            for (const auto element : elements) {
              sum->set(fused_multiply_add(gradient, element, sum->get()));
              ++sum;
            }
          }
        });
      });
    });
    const Value in_block = writer.thread();
    const Value which = in_block / subgroup;
    for (std::int64_t i = 0; i < count; ++i) {
      Value sum = sums[static_cast<std::size_t>(i)].get();
      for (auto mask = static_cast<int>(subgroup) / 2; mask > 0; mask /= 2) sum = sum + writer.shuffle_xor(sum, mask);
      writer.when(in_block % subgroup == 0, [&] { writer.store(shared, which * count + i, sum); });
    }
    writer.barrier();
    writer.loop(in_block, writer.index(count), writer.index(kThreads), [&](Value i) {
      Value sum = writer.load(shared, i);
      for (std::int64_t s = 1; s < subgroups; ++s) sum = sum + writer.load(shared, i + s * count);
      const Value in_tile = kernel::to(arguments.index(), i);
      const Value row = in_tile / window, element = in_tile - row * window;
      writer.when(first_row + row < conv.out_channels(), [&] {
        const Value line = (part * conv.groups() + group) * conv.out_channels() + first_row + row;
        writer.store(to, (line * conv.in_channels() + channel) * window + element, sum);
      });
    });
  });
  arguments.launch(emit, blocks * kThreads);
  return parts;
}

}  // namespace burn::compile::kernels
