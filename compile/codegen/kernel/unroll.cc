#include "compile/codegen/kernel/unroll.h"

#include <utility>

#include "base/error.h"

namespace burn::compile::kernel {
namespace {

constexpr std::int32_t kNone = -1;

class Unroller {
 public:
  explicit Unroller(const Kernel& from) : from_(from), now_(from.body.size(), kNone) {}

  Kernel run() {
    made_ = {from_.threads, from_.parameters, from_.shared, {}};
    for (std::size_t i = 0; i < from_.body.size(); ++i) {
      const auto [end, factor] = loop_at(i);
      if (factor > 1) {
        unroll(i, end, factor);
        i = end;
      } else {
        copy(i);
      }
    }
    return std::move(made_);
  }

 private:
  // Of the loop that begins here: where it ends, and how many rounds it takes at once; of anything else, one.
  std::pair<std::size_t, std::int64_t> loop_at(std::size_t begin) const {
    constexpr std::size_t kShort = 64, kLong = 128;  // instructions
    const auto& loop = from_.body[begin];
    if (loop.code != Code::loop) return {begin, 1};
    const auto& step = from_.body[static_cast<std::size_t>(loop.operands[2])];
    if (step.code != Code::constant || step.number != 1) return {begin, 1};
    for (auto i = begin + 1; i < from_.body.size(); ++i) {
      const auto code = from_.body[i].code;
      if (code == Code::loop || code == Code::break_when) return {begin, 1};
      if (code != Code::end_loop) continue;
      const auto size = i - begin - 1;
      return {i, size <= kShort ? 8 : size <= kLong ? 4 : 1};
    }
    BURN_CHECK(false, "a loop without an end");
  }

  std::int32_t put(const Instruction& instruction) {
    made_.body.push_back(instruction);
    return static_cast<std::int32_t>(made_.body.size()) - 1;
  }
  std::int32_t number(ir::DType type, std::int64_t value) {
    const int width = bits_of(type);
    const auto bits = static_cast<std::uint64_t>(value);
    return put({Code::constant, type, {kNone, kNone, kNone}, width == 64 ? bits : bits & ((1ULL << width) - 1)});
  }
  std::int32_t binary(Code code, ir::DType type, std::int32_t a, std::int32_t b) {
    return put({code, type, {a, b, kNone}, 0});
  }

  void copy(std::size_t i) {
    auto instruction = from_.body[i];
    for (auto& operand : instruction.operands) {
      if (operand >= 0) operand = now_[static_cast<std::size_t>(operand)];
    }
    now_[i] = put(instruction);
  }

  // One round, whose counter is this value.
  void round(std::size_t begin, std::size_t end, std::int32_t counter) {
    now_[begin] = counter;
    for (auto i = begin + 1; i < end; ++i) copy(i);
  }

  void unroll(std::size_t begin, std::size_t end, std::int64_t factor) {
    const auto& loop = from_.body[begin];
    const auto type = loop.type;
    const auto operand = [&](int k) {
      return now_[static_cast<std::size_t>(loop.operands[static_cast<std::size_t>(k)])];
    };
    const auto first = operand(0), last = operand(1);
    const auto count = binary(Code::sub, type, last, first);
    const auto whole = binary(Code::bit_and, type, count, number(type, ~(factor - 1)));
    const auto is_any = binary(Code::less, ir::DType::bool_, first, last);
    const auto taken = put({Code::select, type, {is_any, whole, number(type, 0)}, 0});
    const auto middle = binary(Code::add, type, first, taken);
    const auto step = number(type, factor);
    const auto counter = put({Code::loop, type, {first, middle, step}, 0});
    for (std::int64_t r = 0; r < factor; ++r)
      round(begin, end, r == 0 ? counter : binary(Code::add, type, counter, number(type, r)));
    put({.code = Code::end_loop});
    round(begin, end, put({Code::loop, type, {middle, last, operand(2)}, 0}));
    put({.code = Code::end_loop});
  }

  const Kernel& from_;
  Kernel made_;
  std::vector<std::int32_t> now_;  // by instruction of `from_`: which instruction of `made_` has its value
};

}  // namespace

Kernel unrolled(const Kernel& kernel) { return Unroller(kernel).run(); }

}  // namespace burn::compile::kernel
