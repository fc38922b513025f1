#include "compile/codegen/kernels/reduce_blocks.h"

#include <algorithm>
#include <functional>

#include "compile/codegen/kernel/combine.h"
#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernels/arguments.h"
#include "compile/codegen/kernels/tile.h"
#include "compile/codegen/kernels/walk.h"
#include "compile/codegen/target.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;
using kernel::Variable;

constexpr int kThreads = 256;
constexpr int kAcross = 32, kDown = kThreads / kAcross;  // of a block of columns: threads side by side, and below

// How many elements side by side along the last dim of `along` one access may take, with steps along `other`.
int width_of(const View& from, const LoopDims& along, const LoopDims& other) {
  const auto size = static_cast<std::int64_t>(ir::size_of(from.dtype));
  const auto fits = [&](std::int64_t width) {
    if (along.strides[0].back() != 1 || along.sizes.back() % width != 0 || from.address.offset % (size * width) != 0)
      return false;
    const auto steps_whole = [&](const LoopDims& walk, std::size_t dims) {
      for (std::size_t d = 0; d < dims; ++d) {
        if (walk.sizes[d] > 1 && walk.strides[0][d] % width != 0) return false;
      }
      return true;
    };
    return steps_whole(along, along.sizes.size() - 1) && steps_whole(other, other.sizes.size());
  };
  int width = static_cast<int>(std::min<std::int64_t>(16 / size, 8));
  while (width > 1 && !fits(width)) width /= 2;
  return width;
}

// What one part of a result's elements becomes in each block.
class BlockReduction {
 public:
  BlockReduction(Emitter& emit, ir::ReduceFn fn, const CombinedElements& elements, const View& from,
                 ir::DType accumulate, const ReduceSpread& spread)
      : emit_(emit), fn_(fn), elements_(elements), from_(from), accumulate_(accumulate), accesses_(spread.accesses) {
    const auto& kept = elements.kept;
    is_in_columns_ =
        elements.results >= kAcross && (kept.strides[0].back() == 1 || elements.combined.strides[0].back() != 1);
    const auto most = std::int64_t{emit.target().facts().multiprocessors} * spread.blocks;
    if (is_in_columns_) {
      width_ = width_of(from, kept, elements.combined);
      across_ = divide_up(elements.results, std::int64_t{kAcross} * width_);
      parts_ = std::clamp<std::int64_t>(most / across_, 1, std::max<std::int64_t>(elements.count / 128, 1));
    } else {
      width_ = width_of(from, elements.combined, kept);
      const bool is_long = elements.count >= std::int64_t{1024} * width_;
      const bool are_few = elements.results * kAcross < std::int64_t{kThreads} * emit.target().facts().multiprocessors;
      lanes_ = is_long || (are_few && elements.count > std::int64_t{kAcross} * width_) ? kThreads : kAcross;
      across_ = divide_up(elements.results, kThreads / lanes_);
      const auto least = std::int64_t{lanes_} * width_ * accesses_;
      parts_ = std::clamp<std::int64_t>(most / across_, 1, std::max<std::int64_t>(elements.count / least, 1));
    }
    of_part_ = divide_up(divide_up(elements.count, parts_), width_) * width_;
    parts_ = divide_up(elements.count, of_part_);
  }

  std::int64_t parts() const { return parts_; }

  // to[part, result].
  void emit(const View& to) {
    kernel::Writer writer(kThreads);
    const auto threads = across_ * parts_ * kThreads;
    const auto beyond = elements_.count + std::int64_t{kThreads} * width_ * accesses_;
    Arguments arguments(writer, index_type(std::max({threads, beyond, parts_ * elements_.results, reach(from_)})));
    writer_ = &writer, arguments_ = &arguments;
    source_ = arguments.address(from_), target_ = arguments.address(to);
    const Value block = arguments.block();
    writer.when(block < arguments.number(across_ * parts_), [&] {
      results_ = arguments.number(elements_.results);
      const Value across = arguments.number(across_), part = block / across;
      begin_ = part * arguments.number(of_part_);
      end_ = least(begin_ + arguments.number(of_part_), arguments.number(elements_.count));
      line_ = part * results_;
      if (is_in_columns_)
        columns(block - part * across, to);
      else
        lines(block - part * across);
    });
    arguments.launch(emit_, threads);
  }

 private:
  using Sums = std::vector<Variable>;

  // Combines what `load` gives for begin, begin + step, ... before the end.
  Sums combine_all(Value begin, Value step, int width, const std::function<std::vector<Value>(Value)>& load) {
    const auto zero = kernel::identity(*writer_, fn_, accumulate_);
    std::vector<Sums> sums(static_cast<std::size_t>(accesses_));
    for (auto& some : sums) {
      for (int j = 0; j < width; ++j) some.push_back(writer_->variable(zero));
    }
    const auto add = [&](Sums& some, const std::vector<Value>& elements) {
      for (std::size_t j = 0; j < some.size(); ++j)
        some[j].set(kernel::combine(fn_, some[j].get(), kernel::cast(accumulate_, elements[j])));
    };
    const auto rest = writer_->variable(begin);
    const Value stride = step * accesses_;
    writer_->loop(begin, end_ - step * (accesses_ - 1), stride, [&](Value at) {
      std::vector<std::vector<Value>> loaded;
      loaded.reserve(sums.size());
      for (int u = 0; u < accesses_; ++u) loaded.push_back(load(at + step * u));
      for (std::size_t u = 0; u < sums.size(); ++u) add(sums[u], loaded[u]);
      rest.set(at + stride);
    });
    writer_->loop(rest.get(), end_, step, [&](Value at) { add(sums[0], load(at)); });
    for (std::size_t u = 1; u < sums.size(); ++u) {
      for (std::size_t j = 0; j < sums[0].size(); ++j)
        sums[0][j].set(kernel::combine(fn_, sums[0][j].get(), sums[u][j].get()));
    }
    return sums[0];
  }

  // Threads side by side have neighbouring results, those below each other every kDown-th element.
  void columns(Value block, const View& to) {
    const Value thread = arguments_->thread(), down = thread / kAcross, across = thread - down * kAcross;
    const Value result = (block * kAcross + across) * width_, is_one = result < results_;
    const Value base = offsets_in(*arguments_, elements_.kept, select(is_one, result, arguments_->constant(0)))[0];
    const auto sums = combine_all(begin_ + down, arguments_->constant(kDown), width_, [&](Value i) {
      return writer_->load(source_, base + offsets_in(*arguments_, elements_.combined, i)[0], width_);
    });
    const auto shared = writer_->shared(accumulate_, std::int64_t{kThreads} * width_);
    const auto place = [&](Value row, int j) { return to_index(row * kAcross + across + j * kThreads); };
    for (int j = 0; j < width_; ++j) writer_->store(shared, place(down, j), sums[static_cast<std::size_t>(j)].get());
    writer_->barrier();
    writer_->when(down == 0 && is_one, [&] {
      std::vector<Value> all;
      for (int j = 0; j < width_; ++j) {
        Value sum = writer_->load(shared, place(down, j));
        for (int row = 1; row < kDown; ++row)
          sum = kernel::combine(fn_, sum, writer_->load(shared, place(down + row, j)));
        all.push_back(sum);
      }
      const auto bytes = static_cast<std::int64_t>(ir::size_of(to.dtype)) * width_;
      if (bytes <= 16 && to.address.offset % bytes == 0) {
        writer_->store(target_, line_ + result, all);
      } else {
        for (int j = 0; j < width_; ++j) writer_->store(target_, line_ + result + j, all[static_cast<std::size_t>(j)]);
      }
    });
  }

  // The threads of a result have neighbouring elements.
  void lines(Value block) {
    const Value thread = arguments_->thread(), row = thread / lanes_, lane = thread - row * lanes_;
    const Value result = block * (kThreads / lanes_) + row, is_one = result < results_;
    const Value base = offsets_in(*arguments_, elements_.kept, select(is_one, result, arguments_->constant(0)))[0];
    const Value step = arguments_->constant(std::int64_t{lanes_} * width_);
    const auto sums = combine_all(begin_ + lane * width_, step, width_, [&](Value i) {
      return writer_->load(source_, base + offsets_in(*arguments_, elements_.combined, i)[0], width_);
    });
    Value sum = sums[0].get();
    for (std::size_t j = 1; j < sums.size(); ++j) sum = kernel::combine(fn_, sum, sums[j].get());
    const auto shared = writer_->shared(accumulate_, kThreads);
    writer_->store(shared, to_index(thread), sum);
    for (int half = lanes_ / 2; half > 0; half /= 2) {
      writer_->barrier();
      writer_->when(lane < half, [&] {
        const Value both = kernel::combine(fn_, writer_->load(shared, to_index(thread)),
                                           writer_->load(shared, to_index(thread + half)));
        writer_->store(shared, to_index(thread), both);
      });
    }
    writer_->when(lane == 0 && is_one,
                  [&] { writer_->store(target_, line_ + result, writer_->load(shared, to_index(thread))); });
  }

  static Value to_index(Value place) { return kernel::to(ir::DType::u32, place); }

  Emitter& emit_;
  const ir::ReduceFn fn_;
  const CombinedElements& elements_;
  const View& from_;
  const ir::DType accumulate_;
  const int accesses_;
  bool is_in_columns_ = false;
  int width_ = 1, lanes_ = 1;            // elements of an access; threads of a result
  std::int64_t across_ = 1, parts_ = 1;  // blocks for the results, and how many have elements of the same ones
  std::int64_t of_part_ = 1;             // elements
  kernel::Writer* writer_ = nullptr;
  Arguments* arguments_ = nullptr;
  kernel::Memory source_, target_;
  Value begin_, end_, line_, results_;
};

}  // namespace

void emit_reduce_in_blocks(Emitter& emit, ir::ReduceFn fn, const CombinedElements& elements, const View& from,
                           const View& to, ir::DType accumulate, const ReduceSpread& spread) {
  BlockReduction reduction(emit, fn, elements, from, accumulate, spread);
  if (reduction.parts() == 1) return reduction.emit(to);
  const auto lines = emit.scratch_value({accumulate, {reduction.parts(), elements.results}});
  reduction.emit(lines);
  const std::int64_t kept[] = {elements.results}, combined[] = {reduction.parts()};
  const CombinedElements of_lines{.kept = merge_dims(kept, {{1}}),
                                  .combined = merge_dims(combined, {{elements.results}}),
                                  .results = elements.results,
                                  .count = reduction.parts()};
  emit_reduce_in_blocks(emit, fn, of_lines, lines, to, accumulate);
}

}  // namespace burn::compile::kernels
