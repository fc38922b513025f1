#include "compile/codegen/kernel/legalise.h"

#include <array>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "compile/codegen/kernel/legal_memory.h"
#include "compile/codegen/kernel/wide.h"
#include "compile/codegen/kernel/writer.h"

namespace burn::compile::kernel {
namespace {

using enum ir::DType;

class Legaliser {
 public:
  Legaliser(const Kernel& from, const DeviceFacts& facts)
      : from_(from),
        types_{facts.has_int64, facts.has_int64 && facts.has_narrow},
        writer_(from.threads),
        memory_(from, types_, writer_) {}

  Result<Kernel> run() {
    values_.resize(from_.body.size());
    for (std::size_t i = 0; i < from_.body.size(); ++i) {
      BURN_RETURN_IF_ERROR(refuse(from_.body[i]));
      put(i);
    }
    return memory_.with_parameters(writer_.take());
  }

 private:
  // A loop that counts in pairs, or any other one.
  struct Open {
    bool is_wide = false, has_sign = false;
    Variable low = {}, high = {};
    Wide step = {};
  };

  Status refuse(const Instruction& now) const {
    switch (now.code) {
      case Code::tile_sums:
      case Code::tile_load:
      case Code::tile_multiply:
      case Code::tile_store:
      case Code::call:
        return unimplemented(
            fmt::format("a kernel with {} for a device without int64 or int8 and int16", name_of(now.code)));
      default:
        break;
    }
    if (now.type == f64 && !types_.has_int64) return unimplemented("f64 on a device without int64");
    return {};
  }

  // --- values ---

  const Wide& wide(std::int32_t id) const { return values_[static_cast<std::size_t>(id)]; }
  Value single(std::int32_t id) const { return wide(id).low; }
  Value single_of(std::size_t i) const { return values_[i].low; }
  ir::DType type_of(std::int32_t id) const { return from_.body[static_cast<std::size_t>(id)].type; }
  void keep(std::size_t i, Value value) { values_[i] = {value, {}}; }
  void keep(std::size_t i, const Wide& pair) { values_[i] = pair; }

  // Any whole number as a pair.
  Wide widened(ir::DType type, const Wide& value) {
    if (types_.is_wide(type)) return value;
    const Value word = bits_as(u32, value.low);
    return {word, is_signed(type) ? bits_as(u32, bits_as(i32, word) >> 31) : writer_.index(0)};
  }

  // --- instructions ---

  void put(std::size_t i) {
    const auto& now = from_.body[i];
    if (put_flow(i) || put_memory(i)) return;
    switch (now.code) {
      case Code::constant:
        if (types_.is_wide(now.type)) return keep(i, wide_constant(writer_, now.number));
        if (types_.is_narrow(now.type)) return keep(i, types_.narrow_constant(writer_, now));
        return copy(i);
      case Code::join:
        if (types_.has_int64) return copy(i);
        return keep(i, Wide{single(now.operands[0]), single(now.operands[1])});
      case Code::convert:
        return convert(i);
      case Code::bits:
        return bits(i);
      case Code::select:
        if (types_.is_wide(now.type))
          return keep(i, kernel::select(single(now.operands[0]), wide(now.operands[1]), wide(now.operands[2])));
        return copy(i);
      case Code::variable:
        return put_variable(i);
      case Code::get:
        return get_variable(i);
      case Code::set:
        return set_variable(i);
      case Code::broadcast:
        if (!types_.is_wide(now.type)) return copy(i);
        return keep(i, Wide{writer_.broadcast(wide(now.operands[0]).low, static_cast<int>(now.number)),
                            writer_.broadcast(wide(now.operands[0]).high, static_cast<int>(now.number))});
      case Code::less:
      case Code::less_equal:
      case Code::equal:
      case Code::not_equal:
        if (!types_.is_wide(type_of(now.operands[0]))) return copy(i);
        return keep(
            i, compared(now.code, wide(now.operands[0]), wide(now.operands[1]), is_signed(type_of(now.operands[0]))));
      default:
        break;
    }
    if (types_.is_wide(now.type)) {
      const auto& a = wide(now.operands[0]);
      return keep(i, computed(now.code, a, now.operands[1] < 0 ? a : wide(now.operands[1]), is_signed(now.type)));
    }
    copy(i);
    if (types_.is_narrow(now.type) && may_exceed(now.code)) keep(i, types_.narrowed(now.type, single_of(i)));
  }

  // Whether 32 bits have more of its result than the operands' type.
  static bool may_exceed(Code code) {
    return code == Code::add || code == Code::sub || code == Code::mul || code == Code::neg || code == Code::bit_not ||
           code == Code::shift_left;
  }

  void copy(std::size_t i) {
    auto now = from_.body[i];
    for (auto& operand : now.operands) {
      if (operand >= 0) operand = single(operand).id;
    }
    now.type = types_.legal(now.type);
    keep(i, writer_.write(now));
  }

  // Of memory, parameters and shared arrays.
  bool put_memory(std::size_t i) {
    const auto& now = from_.body[i];
    const auto at = [&] { return single(now.operands[0]); };
    if (memory_.is_as_it_was(now)) {
      copy(i);
      return true;
    }
    switch (now.code) {
      case Code::parameter:
        keep(i, memory_.parameter(now));
        return true;
      case Code::load:
      case Code::load_wide:
        keep(i, memory_.load(now, at()));
        return true;
      case Code::store:
      case Code::store_wide:
        memory_.store(now, at(), words(now.operands[1]));
        return true;
      case Code::load_pack:
        packs_[i] = memory_.load_pack(now, at());
        return true;
      case Code::store_pack:
        memory_.store_pack(now, at(), words(now.operands[1]), words(now.operands[2]));
        return true;
      case Code::atomic_add:
        keep(i, memory_.atomic_add(now, at(), single(now.operands[1])));
        return true;
      case Code::word:
        if (const auto pack = packs_.find(static_cast<std::size_t>(now.operands[0])); pack != packs_.end()) {
          keep(i, pack->second[now.number]);
          return true;
        }
        return false;
      case Code::load_shared:
        keep(i, memory_.load_shared(now, at()));
        return true;
      case Code::store_shared:
        memory_.store_shared(now, at(), wide(now.operands[1]));
        return true;
      case Code::store_shared_pack:
        memory_.store_shared_pack(now, at(), words(now.operands[1]), words(now.operands[2]));
        return true;
      default:
        return false;
    }
  }

  // A number's bits as u32, two of them of 64 bits.
  Wide words(std::int32_t id) {
    const auto type = type_of(id);
    const auto& value = wide(id);
    if (types_.is_wide(type)) return value;
    if (bits_of(value.low.type) == 32) return {bits_as(u32, value.low), {}};
    const Value whole = bits_as(u64, value.low);
    return {to(u32, whole), to(u32, whole >> 32)};
  }

  bool put_flow(std::size_t i) {
    const auto& now = from_.body[i];
    switch (now.code) {
      case Code::loop: {
        Open open{.is_wide = types_.is_wide(now.type), .has_sign = is_signed(now.type)};
        if (open.is_wide)
          begin_loop(i, open);
        else
          copy(i);
        open_.push_back(open);
        return true;
      }
      case Code::end_loop: {
        const auto& open = open_.back();
        if (open.is_wide) {
          const auto after = add(Wide{open.low.get(), open.high.get()}, open.step);
          open.low.set(after.low);
          open.high.set(after.high);
        }
        open_.pop_back();
        copy(i);
        return true;
      }
      default:
        return false;
    }
  }

  // One that goes on until it is left: the counter is a pair of variables.
  void begin_loop(std::size_t i, Open& open) {
    const auto& now = from_.body[i];
    const auto& first = wide(now.operands[0]);
    open.low = writer_.variable(first.low);
    open.high = writer_.variable(first.high);
    open.step = wide(now.operands[2]);
    const auto zero = writer_.index(0), one = writer_.index(1);
    writer_.write({Code::loop, u32, {zero.id, one.id, zero.id}, 0});
    const Wide counter{open.low.get(), open.high.get()};
    writer_.break_when(!is_less(counter, wide(now.operands[1]), open.has_sign));
    keep(i, counter);
  }

  void put_variable(std::size_t i) {
    const auto& first = wide(from_.body[i].operands[0]);
    variables_[i] = {writer_.variable(first.low), first.high.writer ? writer_.variable(first.high) : Variable{}};
  }
  void get_variable(std::size_t i) {
    const auto& [low, high] = variables_[static_cast<std::size_t>(from_.body[i].operands[0])];
    values_[i] = {low.get(), high.writer ? high.get() : Value{}};
  }
  void set_variable(std::size_t i) {
    const auto& [low, high] = variables_[static_cast<std::size_t>(from_.body[i].operands[0])];
    const auto& value = wide(from_.body[i].operands[1]);
    low.set(value.low);
    if (high.writer) high.set(value.high);
  }

  void convert(std::size_t i) {
    const auto& now = from_.body[i];
    const auto from = type_of(now.operands[0]);
    const auto& value = wide(now.operands[0]);
    if (types_.is_wide(now.type))
      return keep(i, ir::is_floating(from) ? wide_of_f32(value.low, is_signed(now.type)) : widened(from, value));
    if (types_.is_wide(from) && ir::is_floating(now.type)) return keep(i, to_f32(value, is_signed(from)));
    if (!types_.has_int64 && from == u32 && ir::is_floating(now.type)) return keep(i, to_f32(value.low));
    // Of a pair the lower word counts.
    keep(i, types_.is_narrow(now.type) && !ir::is_floating(from)
                ? types_.narrowed(now.type, bits_of(value.low.type) == 64 ? to(u32, value.low) : value.low)
                : converted(types_.legal(now.type), value.low));
  }
  // Two types may have become one, or differ in their sign alone.
  static Value converted(ir::DType type, Value value) {
    const bool is_same_size =
        !ir::is_floating(type) && !ir::is_floating(value.type) && bits_of(type) == bits_of(value.type);
    return is_same_size ? bits_as(type, value) : to(type, value);
  }

  void bits(std::size_t i) {
    const auto& now = from_.body[i];
    if (types_.is_wide(now.type)) return keep(i, wide(now.operands[0]));
    if (types_.is_narrow(now.type)) return keep(i, types_.narrowed(now.type, single(now.operands[0])));
    copy(i);
  }

  const Kernel& from_;
  const LegalTypes types_;
  Writer writer_;
  LegalMemory memory_;
  std::vector<Wide> values_;  // by instruction of `from_`; of one word: the lower one alone
  std::map<std::size_t, std::pair<Variable, Variable>> variables_;
  std::map<std::size_t, std::array<Value, 4>> packs_;
  std::vector<Open> open_;
};

}  // namespace

Result<Kernel> legalised(const Kernel& kernel, const DeviceFacts& facts) {
  if (facts.has_int64 && facts.has_narrow) return kernel;
  return Legaliser(kernel, facts).run();
}

}  // namespace burn::compile::kernel
