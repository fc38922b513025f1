#include "tests/compile/kernel/interpreter.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "tests/compile/kernel/control_flow.h"
#include "tests/compile/kernel/scalars.h"
#include "tests/compile/kernel/tiles.h"

namespace burn::testing {
namespace {

using compile::kernel::Instruction;
using compile::kernel::Kernel;

using Pack = std::array<std::uint32_t, 4>;

struct Thread {
  std::vector<std::uint64_t> values;
  std::vector<std::uint64_t> variables;  // by instruction
  std::size_t next = 0;                  // instruction
  bool is_done = false;
};

class Block {
 public:
  Block(const Kernel& kernel, const KernelLaunch& launch, const Targets& targets, KernelMemory* memory, std::uint64_t x,
        std::uint64_t y)
      : kernel_(kernel), launch_(launch), targets_(targets), memory_(memory), x_(x), y_(y) {
    for (const auto& array : kernel.shared) shared_.emplace_back(static_cast<std::size_t>(array.count));
    threads_.resize(static_cast<std::size_t>(kernel.threads));
    for (auto& thread : threads_) {
      thread.values.resize(kernel.body.size());
      thread.variables.resize(kernel.body.size());
    }
  }

  void run() {
    std::vector<std::size_t> order(threads_.size());
    for (std::size_t t = 0; t < order.size(); ++t) order[t] = t;
    if (launch_.order == ThreadOrder::backward) std::ranges::reverse(order);
    std::mt19937 random(static_cast<std::uint32_t>(x_ * 7 + 1));
    for (bool goes_on = true; goes_on; ++epoch_) {
      if (launch_.order == ThreadOrder::shuffled) std::ranges::shuffle(order, random);
      const auto size = static_cast<std::size_t>(launch_.subgroup_size);
      std::vector<std::vector<std::size_t>> subgroups((threads_.size() + size - 1) / size);
      for (const auto t : order) subgroups[t / size].push_back(t);
      for (const auto& subgroup : subgroups) run_to_barrier(subgroup);
      goes_on = !threads_[0].is_done;
      for (const auto& thread : threads_) {
        if (thread.is_done != threads_[0].is_done || thread.next != threads_[0].next)
          fail("a barrier that not all threads of the block reach");
      }
      if (goes_on && kernel_.body[threads_[0].next - 1].number != 0) ++memory_epoch_;
    }
  }

 private:
  struct SharedElement {
    std::uint64_t bits = 0;
    int writer = -1, reader = -1;  // -2: several
    int written_in = -1, read_in = -1;
  };

  // The threads of a subgroup, which stop at each broadcast for one another.
  void run_to_barrier(const std::vector<std::size_t>& subgroup) {
    while (true) {
      for (const auto t : subgroup) run_to_stop(t);
      const auto& first = threads_[subgroup[0]];
      if (first.is_done || !is_of_subgroup(kernel_.body[first.next - 1].code)) return;
      for (const auto t : subgroup) {
        if (threads_[t].is_done || threads_[t].next != first.next)
          fail("a broadcast or shuffle that not all threads of the subgroup reach");
      }
      exchange(first.next - 1, subgroup);
    }
  }

  void run_to_stop(std::size_t t) {
    auto& thread = threads_[t];
    while (!thread.is_done) {
      if (thread.next == kernel_.body.size()) {
        thread.is_done = true;
        return;
      }
      if (step(thread, static_cast<int>(t), thread.next)) return;
    }
  }

  static bool is_of_subgroup(Code code) { return code == Code::broadcast || code == Code::shuffle_xor; }

  void exchange(std::size_t i, const std::vector<std::size_t>& subgroup) {
    const auto& now = kernel_.body[i];
    const auto size = static_cast<std::size_t>(launch_.subgroup_size);
    if (subgroup.size() != size) fail("a broadcast or shuffle in a block of no whole number of subgroups");
    const auto first = subgroup[0] / size * size;
    if (now.number >= size) fail("a broadcast or shuffle beyond the subgroup");
    for (const auto t : subgroup) {
      const auto from = now.code == Code::broadcast ? first + now.number : first + ((t - first) ^ now.number);
      threads_[t].values[i] = threads_[from].values[static_cast<std::size_t>(now.operands[0])];
    }
  }

  // Executes an instruction; returns whether it was a barrier, a broadcast or a shuffle.
  bool step(Thread& thread, int t, std::size_t i) {
    const auto& now = kernel_.body[i];
    auto& values = thread.values;
    const auto operand = [&](std::size_t k) { return values[static_cast<std::size_t>(now.operands[k])]; };
    thread.next = i + 1;
    switch (now.code) {
      case Code::barrier:
      case Code::broadcast:
      case Code::shuffle_xor:
        return true;
      case Code::loop:
        values[i] = operand(0);
        if (!is_less(now.type, values[i], operand(1))) thread.next = targets_.end[i] + 1;
        return false;
      case Code::end_loop: {
        const auto begin = targets_.end[i];
        const auto& loop = kernel_.body[begin];
        auto& counter = values[begin];
        counter = by_type(loop.type, [&]<typename T>() -> std::uint64_t {
          if constexpr (std::is_integral_v<T>)
            return whole(Code::add, number<T>(counter), number<T>(values[static_cast<std::size_t>(loop.operands[2])]));
          else
            fail("a loop that counts in floats");
        });
        if (is_less(loop.type, counter, values[static_cast<std::size_t>(loop.operands[1])])) thread.next = begin + 1;
        return false;
      }
      case Code::break_when:
        if (operand(0) != 0) thread.next = targets_.end[targets_.loop[i]] + 1;
        return false;
      case Code::when:
        if (operand(0) == 0) thread.next = (targets_.otherwise[i] != 0 ? targets_.otherwise[i] : targets_.end[i]) + 1;
        return false;
      case Code::otherwise:
        thread.next = targets_.end[i];
        return false;
      case Code::end_when:
        return false;
      case Code::set:
        thread.variables[static_cast<std::size_t>(now.operands[0])] = operand(1);
        return false;
      case Code::variable:
        thread.variables[i] = operand(0);
        return false;
      case Code::get:
        values[i] = thread.variables[static_cast<std::size_t>(now.operands[0])];
        return false;
      default:
        values[i] = value(now, t, operand);
        return false;
    }
  }

  static bool is_less(DType type, std::uint64_t a, std::uint64_t b) {
    return by_type(type, [&]<typename T>() -> std::uint64_t { return number<T>(a) < number<T>(b) ? 1 : 0; }) != 0;
  }

  template <typename Operand>
  std::uint64_t value(const Instruction& now, int t, const Operand& operand) {
    switch (now.code) {
      case Code::constant:
        return now.number;
      case Code::parameter:
        return by_type(now.type, [&]<typename T>() { return bits_of(number<T>(launch_.arguments[now.number])); });
      case Code::parameter_word:
        return launch_.arguments[now.number / 2] >> (now.number % 2 * 32) & 0xffffffff;
      case Code::store_bits: {
        auto* const place = element(now, t, operand(0), true, true);
        std::uint32_t word = 0;
        std::memcpy(&word, place, sizeof word);
        if ((operand(1) & ~operand(2)) != 0) fail("bits beside the mask");
        word = (word & ~static_cast<std::uint32_t>(operand(2))) | static_cast<std::uint32_t>(operand(1));
        std::memcpy(place, &word, sizeof word);
        return 0;
      }
      case Code::thread:
        return static_cast<std::uint64_t>(t);
      case Code::block:
        return now.number == 0 ? x_ : y_;
      case Code::blocks:
        return static_cast<std::uint64_t>(now.number == 0 ? launch_.blocks : launch_.blocks_y);
      case Code::load: {
        std::uint64_t bits = 0;
        std::memcpy(&bits, element(now, t, operand(0), false, false), ir::size_of(now.type));
        return bits;
      }
      case Code::store: {
        const std::uint64_t bits = operand(1);
        std::memcpy(element(now, t, operand(0), true, false), &bits, ir::size_of(now.type));
        return 0;
      }
      case Code::load_wide: {
        std::uint64_t bits = 0;
        std::memcpy(&bits, elements(now, t, operand(0), ir::size_of(now.type), false), ir::size_of(now.type));
        return bits;
      }
      case Code::store_wide: {
        const std::uint64_t bits = operand(1);
        std::memcpy(elements(now, t, operand(0), ir::size_of(now.type), true), &bits, ir::size_of(now.type));
        return 0;
      }
      case Code::load_pack: {
        Pack pack{};
        std::memcpy(pack.data(), elements(now, t, operand(0), sizeof pack, false), sizeof pack);
        return keep(pack);
      }
      case Code::store_pack: {
        const std::array<std::uint64_t, 2> halves{operand(1), operand(2)};
        std::memcpy(elements(now, t, operand(0), sizeof halves, true), halves.data(), sizeof halves);
        return 0;
      }
      case Code::load_shared_pack: {
        if (operand(0) % 4 != 0) fail("a pack of shared elements that begins within another one");
        Pack pack{};
        for (std::size_t k = 0; k < pack.size(); ++k)
          pack[k] = static_cast<std::uint32_t>(read_shared(shared_at(now, operand(0) + k), t));
        return keep(pack);
      }
      case Code::store_shared_pack:
        if (operand(0) % 4 != 0) fail("a pack of shared elements that begins within another one");
        for (std::uint64_t k = 0; k < 4; ++k)
          write_shared(shared_at(now, operand(0) + k), t, operand(1 + k / 2) >> (32 * (k % 2)) & 0xffffffff);
        return 0;
      case Code::tile_sums:
      case Code::tile_load:
      case Code::tile_multiply:
      case Code::tile_store:
        return t % launch_.subgroup_size == 0 ? tile(now, t, operand) : 0;
      case Code::word:
        return packs_[static_cast<std::size_t>(operand(0))][now.number];
      case Code::join:
        return operand(0) | operand(1) << 32;
      case Code::atomic_add: {
        auto* place = element(now, t, operand(0), true, true);
        std::uint32_t before = 0;
        std::memcpy(&before, place, sizeof before);
        const auto after = before + static_cast<std::uint32_t>(operand(1));
        std::memcpy(place, &after, sizeof after);
        return before;
      }
      case Code::load_shared:
        return read_shared(shared_at(now, operand(0)), t);
      case Code::store_shared:
        write_shared(shared_at(now, operand(0)), t, operand(1));
        return 0;
      case Code::select:
        return operand(0) != 0 ? operand(1) : operand(2);
      case Code::convert:
        return by_type(now.type, [&]<typename To>() {
          return by_type(operand_type(now),
                         [&]<typename From>() { return bits_of(converted<To>(number<From>(operand(0)))); });
        });
      case Code::bits:
        return operand(0) & mask(now.type);
      case Code::call: {
        const auto second = now.operands[1] < 0 ? 0 : operand(1);
        return called(static_cast<compile::kernel::Function>(now.number), operand_type(now), operand(0), second);
      }
      case Code::less:
      case Code::less_equal:
      case Code::equal:
      case Code::not_equal:
        return by_type(operand_type(now), [&]<typename T>() -> std::uint64_t {
          return compared(now.code, number<T>(operand(0)), number<T>(operand(1))) ? 1 : 0;
        });
      default:
        return arithmetic(now, operand);
    }
  }

  // Executed by the first thread of the subgroup for all. Returns the number of a tile.
  template <typename Operand>
  std::uint64_t tile(const Instruction& now, int t, const Operand& operand) {
    Instruction shared = now;
    if (now.code == Code::tile_load)
      shared.number = static_cast<std::uint64_t>(compile::kernel::TileLoad::of(now.number).array);
    return tiles_.run(
        now,
        {now.operands[0] < 0 ? 0 : operand(0), now.operands[1] < 0 ? 0 : operand(1),
         now.operands[2] < 0 ? 0 : operand(2)},
        [&](std::uint64_t index) { return read_shared(shared_at(shared, index), t); },
        [&](std::uint64_t index, std::uint64_t bits) { write_shared(shared_at(shared, index), t, bits); });
  }

  template <typename Operand>
  std::uint64_t arithmetic(const Instruction& now, const Operand& operand) {
    const auto at = [&](std::size_t k) { return now.operands[k] < 0 ? 0 : operand(k); };
    return by_type(now.type, [&]<typename T>() -> std::uint64_t {
      if constexpr (std::is_floating_point_v<T>)
        return real(now.code, number<T>(at(0)), number<T>(at(1)), number<T>(at(2)));
      else
        return whole(now.code, number<T>(at(0)), number<T>(at(1)));
    });
  }

  DType operand_type(const Instruction& now) const {
    return kernel_.body[static_cast<std::size_t>(now.operands[0])].type;
  }
  static std::uint64_t mask(DType type) {
    const auto width = ir::size_of(type) * 8;
    return width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  }

  char* element(const Instruction& now, int t, std::uint64_t index, bool is_write, bool is_atomic) {
    const auto size = ir::size_of(now.type);
    const auto index_type = kernel_.body[static_cast<std::size_t>(now.operands[0])].type;
    const auto signed_index = static_cast<std::int64_t>(
        by_type(index_type, [&]<typename T>() { return static_cast<std::uint64_t>(number<T>(index)); }));
    const bool is_in_words = kernel_.parameters[now.number].is_in_words;
    const auto begin = is_in_words ? launch_.arguments[now.number] / size * size : launch_.arguments[now.number];
    const auto address = begin + static_cast<std::uint64_t>(signed_index) * size;
    const ThreadPlace thread{static_cast<std::int64_t>(y_ << 32 | x_), t, memory_epoch_};
    if (memory_ && is_in_words)
      memory_->check_word(address);
    else if (memory_)
      memory_->check(address, size, thread, is_write, is_atomic);
    return reinterpret_cast<char*>(address);  // NOLINT(performance-no-int-to-ptr): that is what an address is here
  }

  // Several elements side by side, at a multiple of their bytes.
  char* elements(const Instruction& now, int t, std::uint64_t index, std::size_t bytes, bool is_write) {
    Instruction one = now;
    one.type = compile::kernel::memory_type(kernel_.parameters[now.number].type);
    auto* const first = element(one, t, index, is_write, false);
    if (reinterpret_cast<std::uint64_t>(first) % bytes != 0) fail("several elements at once that are not aligned");
    for (std::size_t k = 1; k < bytes / ir::size_of(one.type); ++k) element(one, t, index + k, is_write, false);
    return first;
  }
  std::uint64_t keep(const Pack& pack) {
    packs_.push_back(pack);
    return packs_.size() - 1;
  }

  SharedElement& shared_at(const Instruction& now, std::uint64_t index) {
    auto& array = shared_[now.number];
    if (index >= array.size()) fail(fmt::format("element {} of a shared array of {}", index, array.size()));
    return array[index];
  }
  std::uint64_t read_shared(SharedElement& element, int t) {
    if (element.written_in < 0) fail("a shared element is read that was never written");
    if (element.written_in == epoch_ && element.writer != t) fail("a race: read beside another thread's write");
    element.reader = element.read_in == epoch_ && element.reader != t ? -2 : t;
    element.read_in = epoch_;
    return element.bits;
  }
  void write_shared(SharedElement& element, int t, std::uint64_t bits) {
    if (element.written_in == epoch_ && element.writer != t) fail("a race: two threads write a shared element");
    if (element.read_in == epoch_ && element.reader != t) fail("a race: written beside another thread's read");
    element.writer = t, element.written_in = epoch_, element.bits = bits;
  }

  const Kernel& kernel_;
  const KernelLaunch& launch_;
  const Targets& targets_;
  KernelMemory* memory_;
  const std::uint64_t x_, y_;
  std::vector<Thread> threads_;
  std::vector<std::vector<SharedElement>> shared_;
  Tiles tiles_;
  std::vector<Pack> packs_;           // that were loaded, by the number that is their value
  int epoch_ = 0, memory_epoch_ = 0;  // barriers so far, and those that order memory
};

}  // namespace

void interpret(const Kernel& kernel, const KernelLaunch& launch, KernelMemory* memory) {
  if (launch.arguments.size() != kernel.parameters.size()) fail("an argument for each parameter");
  if (memory) memory->begin_launch();
  const Targets targets(kernel);
  const auto blocks = launch.blocks * launch.blocks_y;
  for (std::int64_t n = 0; n < blocks; ++n) {
    const auto at = launch.order == ThreadOrder::forward ? n : blocks - 1 - n;
    Block(kernel, launch, targets, memory, static_cast<std::uint64_t>(at % launch.blocks),
          static_cast<std::uint64_t>(at / launch.blocks))
        .run();
  }
}

}  // namespace burn::testing
