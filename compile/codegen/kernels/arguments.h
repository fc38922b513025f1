// A kernel's parameters together with the arguments of its launch.
#pragma once

#include <span>
#include <vector>

#include "compile/codegen/kernels/launch.h"

namespace burn::compile::kernels {

class Arguments {
 public:
  // Numbers are of `index`: i32 or i64.
  Arguments(kernel::Writer& writer, ir::DType index) : writer_(writer), index_(index) {}

  kernel::Memory address(const View& view) { return address(view.dtype, view.address); }
  kernel::Memory address(ir::DType dtype, const Address& where) {
    arguments_.emplace_back(where);
    return writer_.address(dtype);
  }
  kernel::Value number(std::int64_t number) {
    arguments_.emplace_back(number);
    return writer_.number(index_);
  }
  std::vector<kernel::Value> numbers(std::span<const std::int64_t> all) {
    std::vector<kernel::Value> values;
    values.reserve(all.size());
    for (const auto one : all) values.push_back(number(one));
    return values;
  }

  ir::DType index() const { return index_; }
  kernel::Value constant(std::int64_t number) { return writer_.constant(index_, number); }
  kernel::Value block(int axis = 0) { return to(index_, writer_.block(axis)); }
  kernel::Value thread() { return to(index_, writer_.thread()); }
  kernel::Value position() { return block() * writer_.threads() + thread(); }  // of the thread in the grid

  // Of the kernel's next parameter, which is not a number of the index type.
  void add(Argument argument) { arguments_.push_back(std::move(argument)); }
  int count() const { return static_cast<int>(arguments_.size()); }  // parameters of the kernel so far

  std::vector<Argument> take() { return std::move(arguments_); }
  // Launches enough blocks for so many threads.
  void launch(Emitter& emit, std::int64_t threads) {
    launch_blocks(emit, (threads + writer_.threads() - 1) / writer_.threads());
  }
  void launch_blocks(Emitter& emit, std::int64_t blocks) {
    kernels::launch(emit, writer_, {.blocks = blocks}, std::move(arguments_));
  }

 private:
  kernel::Writer& writer_;
  ir::DType index_;
  std::vector<Argument> arguments_;
};

// i32 where so many elements, and so many threads of a grid, can be counted in it, with the blocks beyond its end that
// a folded grid has.
inline ir::DType index_type(std::int64_t most) {
  return most < std::int64_t{1} << 30 ? ir::DType::i32 : ir::DType::i64;
}
// Elements from a view's first one to its last.
std::int64_t reach(const View& view);

}  // namespace burn::compile::kernels
