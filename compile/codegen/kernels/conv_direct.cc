#include "compile/codegen/kernels/conv_direct.h"

#include <algorithm>
#include <bit>

#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernels/conv_direct_block.h"
#include "compile/codegen/target.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;
using kernel::Variable;

constexpr int kThreads = DirectBlock::kThreads;
constexpr int kPack = 4;  // numbers of 16 bytes

Value to_u32(Value number) { return kernel::to(ir::DType::u32, number); }

// What a thread computes of a result: `rows` channels at `places` places of the batch. A block goes through
// `channels_at_once` of the source's channels at a time, whose weights it has in shared memory.
struct ImageTile {
  std::int64_t rows = 1, places = 1, channels_at_once = 1;

  static std::optional<ImageTile> choose(const DeviceFacts& facts, std::int64_t rows, std::int64_t columns,
                                         std::int64_t groups, std::int64_t sources, std::int64_t window) {
    constexpr std::int64_t kMaxRows = 16, kMaxPlaces = 4, kMaxChannels = 8, kMaxWeights = 4096;
    if (window == 1 || std::min({rows, columns, groups, sources, window}) == 0) return {};
    ImageTile tile;
    tile.rows = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(rows))),
                                         kPack, kMaxRows);
    // Full chunks alone, so that the loop over their channels has no end to look for.
    tile.channels_at_once = std::min({kMaxChannels, sources, kMaxWeights / (window * tile.rows)});
    while (tile.channels_at_once > 1 && sources % tile.channels_at_once != 0) --tile.channels_at_once;
    if (tile.channels_at_once == 0 || (tile.channels_at_once == 1 && sources > kMaxChannels)) return {};
    if (window * tile.channels_at_once * tile.rows * std::int64_t{4} > facts.shared_bytes_per_block) return {};
    const auto of_rows = divide_up(rows, tile.rows) * groups;
    tile.places = kMaxPlaces;
    while (tile.places > 1 &&
           divide_up(columns, kThreads * tile.places) * of_rows < std::int64_t{4} * facts.multiprocessors)
      tile.places /= 2;
    return tile;
  }
};

struct ImageMemory {
  kernel::Memory from, weight, to;
  kernel::Shared weights;  // [element of the window, channel of the chunk, row]
};

// A block of a convolution to an image while it is written: `across` blocks have one stack of rows, `down` stacks one
// group.
class ImageBlock {
 public:
  ImageBlock(kernel::Writer& writer, Arguments& arguments, const ConvSizes& sizes, const ImageTile& tile,
             bool is_forward, const ImageMemory& memory)
      : writer_(writer),
        arguments_(arguments),
        tile_(tile),
        is_forward_(is_forward),
        memory_(memory),
        window_(ConvSizes::product(sizes.kernel)),
        in_chunk_(tile.channels_at_once * tile.rows),
        conv_(writer, arguments, sizes, ConvKernel::Window::constant) {}

  void write(Value block, std::int64_t across, std::int64_t down, std::int64_t columns) {
    const Values& result_sizes = is_forward_ ? conv_.output() : conv_.input();
    const Values& source_sizes = is_forward_ ? conv_.input() : conv_.output();
    result_plane_ = ConvKernel::product(result_sizes);
    source_plane_ = ConvKernel::product(source_sizes);
    source_channels_ = is_forward_ ? conv_.in_channels() : conv_.out_channels();
    result_channels_ = is_forward_ ? conv_.out_channels() : conv_.in_channels();
    const Value of_rows = arguments_.number(across), stack = block / of_rows;
    group_ = stack / arguments_.number(down);
    first_row_ = (stack - group_ * arguments_.number(down)) * tile_.rows;
    const Value first_column = (block - stack * of_rows) * (kThreads * tile_.places);
    all_columns_ = arguments_.number(columns);
    thread_ = arguments_.thread();
    for (std::int64_t j = 0; j < tile_.places; ++j) add_place(first_column + thread_ + j * kThreads, result_sizes);
    sums_ = DirectBlock::zeros(writer_, static_cast<int>(tile_.rows * tile_.places));
    writer_.loop(arguments_.constant(0), source_channels_, arguments_.constant(tile_.channels_at_once),
                 [&](Value first) {
                   writer_.barrier();
                   load_weights(first);
                   writer_.barrier();
                   conv_.each(conv_.kernel(), [&](const Values& k) { multiply(first, k); });
                 });
    store();
  }

 private:
  struct Place {
    Value column, image, in_plane, begin;
    Values at;
  };

  void add_place(Value column, const Values& result_sizes) {
    Place place;
    place.column = column;
    const Value inside = least(place.column, all_columns_ - 1);
    place.image = inside / result_plane_;
    place.in_plane = inside - place.image * result_plane_;
    place.at = ConvKernel::split(place.in_plane, result_sizes);
    place.begin = (place.image * conv_.groups() + group_) * source_channels_ * source_plane_;
    places_.push_back(place);
  }

  void load_weights(Value first) {
    writer_.loop(thread_, arguments_.constant(window_ * in_chunk_), arguments_.constant(kThreads), [&](Value i) {
      const Value element = i / in_chunk_, in_element = i - element * in_chunk_;
      const Value channel = in_element / tile_.rows, row = first_row_ + in_element - channel * tile_.rows;
      const Value inside = row < result_channels_, of = select(inside, row, 0);
      const Value source = first + channel;
      const Value line = is_forward_ ? (group_ * result_channels_ + of) * source_channels_ + source
                                     : (group_ * source_channels_ + source) * result_channels_ + of;
      const Value number = writer_.load(memory_.weight, line * window_ + element);
      writer_.store(memory_.weights, to_u32(i), select(inside, number, 0.0F));
    });
  }

  // Adds the chunk's channels from `first` on, at one element of the window.
  void multiply(Value first, const Values& k) {
    std::vector<ConvKernel::TapPlace> places;
    places.reserve(places_.size());
    for (const auto& place : places_)
      places.push_back(is_forward_ ? conv_.input_place(place.at, k) : conv_.output_place(place.at, k));
    const Value of_element = to_u32(ConvKernel::joined(k, conv_.kernel())) * in_chunk_;
    for (std::int64_t c = 0; c < tile_.channels_at_once; ++c) {
      Values elements;
      for (std::size_t j = 0; j < places_.size(); ++j)
        elements.push_back(conv_.element(memory_.from, places_[j].begin + (first + c) * source_plane_, places[j]));
      for (std::int64_t r = 0; r < tile_.rows; r += kPack) {
        const auto four = writer_.load_pack(memory_.weights, of_element + c * tile_.rows + r);
        for (std::size_t n = 0; n < four.size(); ++n) {
          for (std::size_t j = 0; j < places_.size(); ++j) {
            const auto& sum = sums_[(static_cast<std::size_t>(r) + n) * places_.size() + j];
            sum.set(fused_multiply_add(four[n], elements[j], sum.get()));
          }
        }
      }
    }
  }

  void store() {
    for (std::int64_t r = 0; r < tile_.rows; ++r) {
      for (std::size_t j = 0; j < places_.size(); ++j) {
        const auto& place = places_[j];
        const Value row = first_row_ + r;
        writer_.when(row < result_channels_ && place.column < all_columns_, [&] {
          const Value channel = (place.image * conv_.groups() + group_) * result_channels_ + row;
          writer_.store(memory_.to, channel * result_plane_ + place.in_plane,
                        sums_[static_cast<std::size_t>(r) * places_.size() + j].get());
        });
      }
    }
  }

  kernel::Writer& writer_;
  Arguments& arguments_;
  const ImageTile& tile_;
  const bool is_forward_;
  const ImageMemory& memory_;
  const std::int64_t window_, in_chunk_;
  ConvKernel conv_;
  Value result_plane_, source_plane_, source_channels_, result_channels_;
  Value group_, first_row_, all_columns_, thread_;
  std::vector<Place> places_;  // of a thread
  std::vector<Variable> sums_;
};

}  // namespace

bool emit_image_directly(Emitter& emit, const ConvSizes& sizes, bool is_forward, const View& from_view,
                         const View& weight_view, const View& to_view) {
  const auto& facts = emit.target().facts();
  if (!DirectBlock::is_for(facts, to_view)) return false;
  const auto rows = is_forward ? sizes.out_channels : sizes.in_channels;
  const auto sources = is_forward ? sizes.in_channels : sizes.out_channels;
  const auto columns = sizes.batch * ConvSizes::product(is_forward ? sizes.output : sizes.input);
  const auto chosen = ImageTile::choose(facts, rows, columns, sizes.groups, sources, ConvSizes::product(sizes.kernel));
  if (!chosen) return false;
  const auto tile = *chosen;
  const auto across = divide_up(columns, kThreads * tile.places), down = divide_up(rows, tile.rows);
  const auto blocks = across * down * sizes.groups;

  kernel::Writer writer(kThreads);
  const auto most = std::max({reach(from_view), reach(weight_view), reach(to_view), blocks * kThreads * tile.places});
  Arguments arguments(writer, index_type(most));
  ImageMemory memory;
  memory.from = arguments.address(from_view);
  memory.weight = arguments.address(weight_view);
  memory.to = arguments.address(to_view);
  memory.weights = writer.shared(ir::DType::f32, ConvSizes::product(sizes.kernel) * tile.channels_at_once * tile.rows);
  const Value block = arguments.block();
  writer.when(block < arguments.number(blocks), [&] {
    ImageBlock(writer, arguments, sizes, tile, is_forward, memory).write(block, across, down, columns);
  });
  arguments.launch(emit, blocks * kThreads);
  return true;
}

}  // namespace burn::compile::kernels
