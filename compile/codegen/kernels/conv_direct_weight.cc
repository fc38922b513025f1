// The weights' gradient of direct convolutions.
#include <algorithm>
#include <bit>

#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernels/conv_direct.h"
#include "compile/codegen/kernels/conv_direct_block.h"
#include "compile/codegen/target.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;
using kernel::Variable;

constexpr int kThreads = DirectBlock::kThreads;

// How the weights' gradient is spread over blocks: each has `rows` channels of the output for one of the input, in one
// part of the images and of the places of a plane. Its threads have `lanes` places of `images_at_once` images.
struct WeightTile {
  std::int64_t rows = 1, rows_of = 1, lanes = 1, images_at_once = 1;
  std::int64_t image_parts = 1, images_of_part = 1, place_parts = 1;

  std::int64_t parts() const { return image_parts * place_parts; }

  static std::optional<WeightTile> choose(const DeviceFacts& facts, const ConvSizes& sizes) {
    constexpr std::int64_t kMaxSums = 80, kMaxRows = 8, kMaxInChannels = 16, kMaxOutChannels = 64;
    const auto window = ConvSizes::product(sizes.kernel), plane = ConvSizes::product(sizes.output);
    if (!facts.has_shuffles || kThreads % facts.subgroup_size != 0 || window == 1 || window > kMaxSums / 2) return {};
    if (sizes.in_channels > kMaxInChannels || sizes.out_channels > kMaxOutChannels) return {};
    if (std::min({plane, sizes.batch, sizes.in_channels, sizes.out_channels}) == 0) return {};
    WeightTile tile;
    tile.rows =
        std::min(kMaxRows, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(sizes.out_channels))));
    while (tile.rows * window > kMaxSums) tile.rows /= 2;
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

struct WeightMemory {
  kernel::Memory input, output, to;
  kernel::Shared shared;  // of each subgroup, the sums
};

// A block of the weights' gradient while it is written.
class WeightBlock {
 public:
  WeightBlock(kernel::Writer& writer, Arguments& arguments, const ConvSizes& sizes, const WeightTile& tile,
              std::int64_t subgroup, const WeightMemory& memory)
      : writer_(writer),
        arguments_(arguments),
        tile_(tile),
        memory_(memory),
        subgroup_(subgroup),
        window_(ConvSizes::product(sizes.kernel)),
        count_(tile.rows * window_),
        conv_(writer, arguments, sizes, ConvKernel::Window::constant) {}

  void write(Value block, std::int64_t images) {
    const Value output_plane = ConvKernel::product(conv_.output()), input_plane = ConvKernel::product(conv_.input());
    const Value rows_of = arguments_.number(tile_.rows_of), place_parts = arguments_.number(tile_.place_parts);
    Value rest = block / rows_of;
    first_row_ = (block - rest * rows_of) * tile_.rows;
    channel_ = rest % conv_.in_channels();
    rest = rest / conv_.in_channels();
    group_ = rest % conv_.groups();
    part_ = rest / conv_.groups();
    const Value image_part = part_ / place_parts, place_part = part_ - image_part * place_parts;
    const Value thread = arguments_.thread(), lanes = arguments_.number(tile_.lanes);
    const Value image_lane = thread / lanes, lane = thread - image_lane * lanes;
    const Value at_once = arguments_.number(tile_.images_at_once);
    const Value first_image = image_part * arguments_.number(tile_.images_of_part);
    const Value end = least(first_image + arguments_.number(tile_.images_of_part), arguments_.number(images));
    const Value last_row = conv_.out_channels() - 1;

    sums_ = DirectBlock::zeros(writer_, static_cast<int>(count_));
    const Value step = lanes * place_parts;
    writer_.when(image_lane < at_once, [&] {
      writer_.loop(lane + place_part * lanes, output_plane, step, [&](Value place) {
        const Values out = ConvKernel::split(place, conv_.output());
        std::vector<ConvKernel::TapPlace> places;
        for (std::int64_t k = 0; k < window_; ++k)
          places.push_back(conv_.input_place(out, ConvKernel::split(arguments_.constant(k), conv_.kernel())));
        Values of_rows;
        for (std::int64_t r = 0; r < tile_.rows; ++r)
          of_rows.push_back(least(first_row_ + r, last_row) * output_plane + place);
        writer_.loop(first_image + image_lane, end, at_once, [&](Value image) {
          const Value stack = image * conv_.groups() + group_;
          const Value of_output = stack * conv_.out_channels() * output_plane;
          add(of_output, of_rows, (stack * conv_.in_channels() + channel_) * input_plane, places);
        });
      });
    });
    store();
  }

 private:
  // Adds the products of an image's gradients and elements of the input, which begin where it is told.
  void add(Value of_output, const Values& of_rows, Value of_input, const std::vector<ConvKernel::TapPlace>& places) {
    Values gradients, elements;
    for (const auto row : of_rows) gradients.push_back(writer_.load(memory_.output, of_output + row));
    for (const auto& place : places) elements.push_back(conv_.element(memory_.input, of_input, place));
    auto sum = sums_.begin();
    for (const auto gradient : gradients) {
      for (const auto element : elements) {
        sum->set(fused_multiply_add(gradient, element, sum->get()));
        ++sum;
      }
    }
  }

  // Adds up the threads' sums: those of a subgroup by exchange, and those of the subgroups through shared memory.
  void store() {
    const Value in_block = writer_.thread();
    const Value which = in_block / subgroup_;
    for (std::int64_t i = 0; i < count_; ++i) {
      Value sum = sums_[static_cast<std::size_t>(i)].get();
      for (auto mask = static_cast<int>(subgroup_) / 2; mask > 0; mask /= 2) sum = sum + writer_.shuffle_xor(sum, mask);
      writer_.when(in_block % subgroup_ == 0, [&] { writer_.store(memory_.shared, which * count_ + i, sum); });
    }
    writer_.barrier();
    writer_.loop(in_block, writer_.index(count_), writer_.index(kThreads), [&](Value i) {
      Value sum = writer_.load(memory_.shared, i);
      for (std::int64_t s = 1; s < kThreads / subgroup_; ++s) sum = sum + writer_.load(memory_.shared, i + s * count_);
      const Value in_tile = kernel::to(arguments_.index(), i);
      const Value row = in_tile / window_, element = in_tile - row * window_;
      writer_.when(first_row_ + row < conv_.out_channels(), [&] {
        const Value line = (part_ * conv_.groups() + group_) * conv_.out_channels() + first_row_ + row;
        writer_.store(memory_.to, (line * conv_.in_channels() + channel_) * window_ + element, sum);
      });
    });
  }

  kernel::Writer& writer_;
  Arguments& arguments_;
  const WeightTile& tile_;
  const WeightMemory& memory_;
  const std::int64_t subgroup_, window_, count_;
  ConvKernel conv_;
  Value first_row_, channel_, group_, part_;
  std::vector<Variable> sums_;  // of a thread
};

}  // namespace

std::optional<View> emit_weight_grad_directly(Emitter& emit, const ConvSizes& sizes, const View& input_view,
                                              const View& output_view, const View& weight_view) {
  const auto& facts = emit.target().facts();
  if (!DirectBlock::is_for(facts, weight_view)) return {};
  const auto chosen = WeightTile::choose(facts, sizes);
  if (!chosen) return {};
  const auto tile = *chosen;
  const View parts =
      tile.parts() > 1 ? emit.scratch_value({ir::DType::f32, {tile.parts(), weight_view.num_elements()}}) : weight_view;
  const auto blocks = sizes.groups * sizes.in_channels * tile.rows_of * tile.parts();
  const auto subgroup = std::int64_t{facts.subgroup_size};

  kernel::Writer writer(kThreads);
  const auto most = std::max({reach(input_view), reach(output_view), reach(parts), blocks * kThreads});
  Arguments arguments(writer, index_type(most));
  WeightMemory memory;
  memory.input = arguments.address(input_view);
  memory.output = arguments.address(output_view);
  memory.to = arguments.address(parts);
  memory.shared = writer.shared(ir::DType::f32, kThreads / subgroup * tile.rows * ConvSizes::product(sizes.kernel));
  const Value block = arguments.block();
  writer.when(block < arguments.number(blocks),
              [&] { WeightBlock(writer, arguments, sizes, tile, subgroup, memory).write(block, sizes.batch); });
  arguments.launch(emit, blocks * kThreads);
  return parts;
}

}  // namespace burn::compile::kernels
