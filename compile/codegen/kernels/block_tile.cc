#include "compile/codegen/kernels/block_tile.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/error.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;
using kernel::Variable;

// What one thread loads of a factor at each step of the depth, into registers and from there into the shared array,
// which has the lines of one depth side by side.
class Loader {
 public:
  Loader(kernel::Writer& writer, Arguments& arguments, ir::DType type, const BlockTile& tile, const BlockSource& source,
         int lines, int lines_each, Value first, Value all)
      : writer_(writer),
        pitch_(source.is_depth_contiguous ? lines + kPack : lines),  // a warp stores several depths: other banks
        size_(tile.depth * pitch_),
        shared_(writer.shared(type, std::int64_t{2} * size_)),
        zero_(writer.constant(type, std::int64_t{0})),
        width_(source.packs ? kPack : 1),
        puts_packs_(width_ == kPack && !source.is_depth_contiguous && is_in_fours(lines_each)) {
    const bool along_depth = source.is_depth_contiguous;
    const Value thread = writer.thread(), last = all - (along_depth ? 1 : width_);
    const int side_by_side = (along_depth ? tile.depth : lines) / width_;
    const int count = lines * tile.depth / width_ / tile.threads();
    for (int i = 0; i < count; ++i) {
      const Value which = thread + i * tile.threads(), other = which / side_by_side;
      const Value along = (which - other * side_by_side) * width_;
      const Value line = along_depth ? other : along, depth = along_depth ? along : other;
      const Value in_source = least(first + to(arguments.index(), line), last);
      Access access{.depth = to(arguments.index(), depth), .place = depth * pitch_ + line};
      access.step = along_depth ? pitch_ : 1;
      if (source.packs)
        access.elements = source.packs(in_source);
      else
        access.elements = [element = source.line(in_source)](Value at) { return std::vector<Value>{element(at)}; };
      for (int k = 0; k < width_; ++k) access.staged.push_back(writer.variable(zero_));
      accesses_.push_back(std::move(access));
    }
  }

  // Loads from a depth on; 0 beyond the end. `inside`: a depth before the end.
  void fetch(Value from, Value inside, Value end) {
    for (const auto& access : accesses_) {
      const Value depth = from + access.depth, is_inside = depth < end;
      const auto elements = access.elements(select(is_inside, depth, inside));
      for (std::size_t k = 0; k < elements.size(); ++k) access.staged[k].set(select(is_inside, elements[k], zero_));
    }
  }
  // Into one of the two halves of the shared array: side 0 or 1.
  void put(Value side) {
    for (const auto& access : accesses_) {
      const Value place = side * size_ + access.place;
      const auto staged = [&](std::size_t k) { return access.staged[k].get(); };
      if (puts_packs_) {
        writer_.store_pack(shared_, place, {staged(0), staged(1), staged(2), staged(3)});
        continue;
      }
      for (int k = 0; k < width_; ++k)
        writer_.store(shared_, place + k * access.step, staged(static_cast<std::size_t>(k)));
    }
  }

  // A thread's lines at a depth of a side: `mine` of `threads` that share the tile's lines.
  Values get(Value side, Value depth, Value mine, int threads, int count) {
    const Value begin = side * size_ + depth * pitch_;
    Values lines;
    for (int i = 0; i < count; ++i) {
      if (!is_in_fours(count)) {
        lines.push_back(writer_.load(shared_, begin + (mine + i * threads)));
      } else if (i % kPack == 0) {
        const Value first = (mine + i / kPack * threads) * kPack;
        for (const auto line : writer_.load_pack(shared_, begin + first)) lines.push_back(line);
      }
    }
    return lines;
  }
  // Whether so many of a thread's lines are side by side in fours.
  bool is_in_fours(int count) const { return count % kPack == 0 && kernel::bits_of(zero_.type) == 32; }
  // Which line that is.
  Value line_of(int i, Value mine, int threads, int count) const {
    return is_in_fours(count) ? (mine + i / kPack * threads) * kPack + i % kPack : mine + i * threads;
  }

 private:
  static constexpr int kPack = BlockSource::kPack;

  struct Access {
    Value depth;  // from where a step begins
    Value place;  // in the shared array
    int step = 1;
    std::function<std::vector<Value>(Value)> elements = {};
    std::vector<Variable> staged = {};
  };
  kernel::Writer& writer_;
  int pitch_, size_;  // elements
  kernel::Shared shared_;
  Value zero_;
  int width_;
  bool puts_packs_;  // an array that is read by single elements is written so, too
  std::vector<Access> accesses_;
};

// Which of the tile's threads a thread is, by rows and by columns: 32 threads are 4 x 8 of them where the tile has as
// many, and read less of shared memory than in any other form. They write parts of lines: only where those are packs.
std::pair<Value, Value> place_in_tile(const BlockTile& tile, Value thread) {
  constexpr int kDown = 4, kAcross = 8;
  const int across = tile.across();
  if (tile.down() % kDown != 0 || across % kAcross != 0) return {thread / across, thread % across};
  const Value part = thread / (kDown * kAcross), within = thread % (kDown * kAcross);
  const int parts_across = across / kAcross;
  return {part / parts_across * kDown + within / kAcross, part % parts_across * kAcross + within % kAcross};
}

// Which of its rows a thread is to store, and that row's sum over the slices in their order.
struct SlicedSum {
  Value row, sum;
};
SlicedSum sum_of_slices(kernel::Writer& writer, const BlockTile& tile, Value slice, Value thread,
                        const std::vector<Variable>& sums) {
  BURN_CHECK(tile.slices == tile.rows_each && tile.columns_each == 1, "a sum for each slice");
  const int of_slice = tile.down() * tile.across(), count = tile.rows_each * of_slice;
  const auto shared = writer.shared(sums[0].type, std::int64_t{tile.slices} * count);
  for (int i = 0; i < tile.rows_each; ++i)
    writer.store(shared, slice * count + i * of_slice + thread, sums[static_cast<std::size_t>(i)].get());
  writer.barrier();
  const Value first = slice * of_slice + thread;
  Value sum = writer.load(shared, first);
  for (int s = 1; s < tile.slices; ++s) sum = sum + writer.load(shared, first + s * count);
  return {slice, sum};
}

// A block's product while it is written: what its threads load, and the sums that each has.
class BlockProduct {
 public:
  BlockProduct(kernel::Writer& writer, Arguments& arguments, ir::DType type, const BlockGrid& grid,
               const BlockPlace& place, const BlockSource& rows, const BlockSource& columns, bool stores_packs)
      : writer_(writer),
        arguments_(arguments),
        type_(type),
        tile_(grid.tile),
        place_(place),
        all_rows_(arguments.number(grid.rows)),
        all_columns_(arguments.number(grid.columns)),
        first_(writer, arguments, type, tile_, rows, tile_.rows, tile_.rows_each, place.first_row, all_rows_),
        second_(writer, arguments, type, tile_, columns, tile_.columns, tile_.columns_each, place.first_column,
                all_columns_) {
    const int of_slice = tile_.down() * tile_.across();
    slice_ = tile_.slices == 1 ? writer.index(0) : writer.thread() / of_slice;
    thread_ = tile_.slices == 1 ? writer.thread() : writer.thread() - slice_ * of_slice;
    std::tie(my_row_, my_column_) = stores_packs && second_.is_in_fours(tile_.columns_each)
                                        ? place_in_tile(tile_, thread_)
                                        : std::pair{thread_ / tile_.across(), thread_ % tile_.across()};
    sums_.reserve(static_cast<std::size_t>(tile_.rows_each) * static_cast<std::size_t>(tile_.columns_each));
    for (int i = 0; i < tile_.rows_each * tile_.columns_each; ++i)
      sums_.push_back(writer.variable(writer.constant(type, std::int64_t{0})));
  }

  void multiply() {
    // While some threads still read one side, others write the other one: a barrier for each step is enough. The loads
    // stand behind a barrier and are used in the next round, or compilers move them to where they are needed.
    const auto side = writer_.variable(writer_.index(0));
    fetch(place_.begin);
    writer_.loop(place_.begin, place_.end, arguments_.constant(tile_.depth), [&](Value from) {
      const Value now = side.get();
      first_.put(now);
      second_.put(now);
      writer_.barrier();
      fetch(from + tile_.depth);
      const int depth_of_slice = tile_.depth / tile_.slices;
      for (int k = 0; k < depth_of_slice; ++k)
        add_depth(now, tile_.slices == 1 ? writer_.index(k) : slice_ * depth_of_slice + k);
      side.set(writer_.index(1) - now);
    });
  }

  template <typename Store, typename StorePack>
  void store(const Store& store, const StorePack& store_pack) {
    if (tile_.slices > 1) return store_sum_of_slices(store);
    for (int i = 0; i < tile_.rows_each; ++i) {
      const Value of_tile = first_.line_of(i, my_row_, tile_.down(), tile_.rows_each);
      const Value row = place_.first_row + to(arguments_.index(), of_tile);
      const bool in_packs = store_pack && second_.is_in_fours(tile_.columns_each);
      for (int j = 0; j < tile_.columns_each; j += in_packs ? BlockSource::kPack : 1) {
        const Value in_tile = second_.line_of(j, my_column_, tile_.across(), tile_.columns_each);
        const Value column = place_.first_column + to(arguments_.index(), in_tile);
        const int first_sum = i * tile_.columns_each + j;
        const auto sum = [&](std::size_t k) { return sums_[static_cast<std::size_t>(first_sum) + k].get(); };
        writer_.when(row < all_rows_ && column < all_columns_, [&] {
          if (in_packs)
            store_pack(row, column, {sum(0), sum(1), sum(2), sum(3)});
          else
            store(row, column, sum(0));
        });
      }
    }
  }

 private:
  // What the next step needs is on its way from memory while this one computes.
  void fetch(Value from) {
    first_.fetch(from, place_.begin, place_.end);
    second_.fetch(from, place_.begin, place_.end);
  }

  void add_depth(Value side, Value depth) {
    const auto of_rows = first_.get(side, depth, my_row_, tile_.down(), tile_.rows_each);
    const auto of_columns = second_.get(side, depth, my_column_, tile_.across(), tile_.columns_each);
    auto sum = sums_.begin();
    for (const auto a : of_rows) {
      for (const auto b : of_columns) {
        const Value before = sum->get();
        sum->set(ir::is_floating(type_) ? fused_multiply_add(a, b, before) : before + a * b);
        ++sum;
      }
    }
  }

  template <typename Store>
  void store_sum_of_slices(const Store& store) {
    const auto [row, sum] = sum_of_slices(writer_, tile_, slice_, thread_, sums_);
    const Value of_tile =
        first_.is_in_fours(tile_.rows_each) ? my_row_ * tile_.rows_each + row : my_row_ + row * tile_.down();
    const Value at_row = place_.first_row + to(arguments_.index(), of_tile);
    const Value column = place_.first_column + to(arguments_.index(), my_column_);
    writer_.when(at_row < all_rows_ && column < all_columns_, [&, sum = sum] { store(at_row, column, sum); });
  }

  kernel::Writer& writer_;
  Arguments& arguments_;
  const ir::DType type_;
  const BlockTile& tile_;
  const BlockPlace& place_;
  const Value all_rows_, all_columns_;
  Loader first_, second_;
  Value slice_, thread_, my_row_, my_column_;
  std::vector<Variable> sums_;
};

}  // namespace

void each_block(kernel::Writer& writer, Arguments& arguments, const BlockGrid& grid,
                const std::function<void(const BlockPlace& place)>& body) {
  const Value block = arguments.block();
  writer.when(block < arguments.number(grid.blocks()), [&] {
    const Value across = arguments.number(grid.across()), down = arguments.number(grid.down());
    const Value groups = arguments.number(grid.groups), depth = arguments.number(grid.depth);
    // Neighbouring blocks have up to eight tiles below each other, then the next columns: what they read of both
    // factors is in the device's cache.
    constexpr int kBand = 8;
    const Value of_stack = across * down, stacks = block / of_stack, in_stack = block - stacks * of_stack;
    const Value band = in_stack / (across * kBand), first = band * kBand,
                height = least(down - first, arguments.constant(kBand));
    const Value in_band = in_stack - first * across, across_band = in_band / height;
    BlockPlace place;
    place.first_column = across_band * grid.tile.columns;
    place.first_row = (first + in_band - across_band * height) * grid.tile.rows;
    place.part = stacks / groups;
    place.group = stacks - place.part * groups;
    const Value of_part = arguments.number(grid.depth_of_part);
    place.begin = place.part * of_part;
    place.end = least(place.begin + of_part, depth);
    body(place);
  });
}

void multiply_block(kernel::Writer& writer, Arguments& arguments, ir::DType type, const BlockGrid& grid,
                    const BlockPlace& place, const BlockSource& rows, const BlockSource& columns,
                    const std::function<void(Value, Value, Value)>& store,
                    const std::function<void(Value, Value, const Values&)>& store_pack) {
  BlockProduct product(writer, arguments, type, grid, place, rows, columns, store_pack != nullptr);
  product.multiply();
  product.store(store, store_pack);
}

}  // namespace burn::compile::kernels
