#include "compile/codegen/kernel/check.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace burn::compile::kernel {
namespace {

class Checker {
 public:
  explicit Checker(const Kernel& kernel) : kernel_(kernel), is_visible_(kernel.body.size()) {}

  Status run() {
    if (kernel_.threads < 1) return internal_error(fmt::format("a kernel of {} threads", kernel_.threads));
    for (const auto& parameter : kernel_.parameters) {
      if (!parameter.is_address && !is_register(parameter.type)) return internal_error("a number of 16-bit floats");
    }
    for (const auto& array : kernel_.shared) {
      if (!is_register(array.type)) return internal_error("a shared array of 16-bit floats");
      if (array.count < 1) return internal_error(fmt::format("a shared array of {} elements", array.count));
    }
    for (at_ = 0; at_ < kernel_.body.size(); ++at_) {
      if (auto wrong = check_one(); !wrong.empty()) return explain(wrong);
      if (has_value(now().code)) is_visible_[at_] = true;
    }
    at_ = kernel_.body.size() - (kernel_.body.empty() ? 0 : 1);
    return open_.empty() ? Status{} : explain("a loop or branch has no end");
  }

 private:
  using Wrong = std::string;  // empty: nothing

  struct Open {
    Code code = Code::loop;
    std::size_t begin = 0;  // of what is made inside
  };

  const Instruction& now() const { return kernel_.body[at_]; }
  const Instruction& operand(int k) const {
    return kernel_.body[static_cast<std::size_t>(now().operands[static_cast<std::size_t>(k)])];
  }
  Status explain(const Wrong& wrong) const {
    return internal_error(fmt::format("a kernel's instruction {} ({}): {}", at_, name_of(now().code), wrong));
  }

  // Of such an instruction; of a loop, its counter counts, too.
  int operand_count() const {
    switch (now().code) {
      case Code::call:
        return now().number < kFunctionCount ? kernel::operand_count(static_cast<Function>(now().number)) : 1;
      case Code::constant:
      case Code::parameter:
      case Code::thread:
      case Code::block:
      case Code::blocks:
      case Code::end_loop:
      case Code::otherwise:
      case Code::end_when:
      case Code::barrier:
      case Code::tile_sums:
      case Code::parameter_word:
        return 0;
      case Code::load:
      case Code::load_shared:
      case Code::load_wide:
      case Code::load_pack:
      case Code::load_shared_pack:
      case Code::word:
      case Code::variable:
      case Code::get:
      case Code::break_when:
      case Code::when:
      case Code::broadcast:
      case Code::shuffle_xor:
      case Code::neg:
      case Code::bit_not:
      case Code::convert:
      case Code::bits:
      case Code::floor:
      case Code::ceil:
      case Code::round_even:
      case Code::trunc:
      case Code::sqrt:
      case Code::abs:
      case Code::exp2:
        return 1;
      case Code::loop:
      case Code::store_pack:
      case Code::store_shared_pack:
      case Code::store_bits:
      case Code::tile_multiply:
      case Code::tile_store:
      case Code::fused_multiply_add:
      case Code::select:
        return 3;
      default:
        return 2;
    }
  }

  // Variables, packs and tiles are no numbers: a few instructions take them, and nothing else.
  bool takes(int k, Code made) const {
    const auto code = now().code;
    switch (made) {
      case Code::variable:
        return k == 0 && (code == Code::get || code == Code::set);
      case Code::load_pack:
      case Code::load_shared_pack:
        return code == Code::word;
      case Code::tile_sums:
        return (k == 0 && code == Code::tile_multiply) || (k == 2 && code == Code::tile_store);
      case Code::tile_load:
        return k > 0 && code == Code::tile_multiply && TileLoad::of(operand(k).number).is_second == (k == 2);
      default:
        return code != Code::word && code != Code::tile_multiply && !(k == 2 && code == Code::tile_store) &&
               !(k == 0 && (code == Code::get || code == Code::set));
    }
  }

  Wrong check_one() {
    const auto count = operand_count();
    for (int k = 0; k < 3; ++k) {
      const auto id = now().operands[static_cast<std::size_t>(k)];
      if ((id >= 0) != (k < count)) return fmt::format("it takes {} operands", count);
      if (k < count && (static_cast<std::size_t>(id) >= at_ || !is_visible_[static_cast<std::size_t>(id)]))
        return fmt::format("operand {} is not made, or in a loop or branch that has ended", k);
      if (k < count && !takes(k, operand(k).code))
        return fmt::format("operand {} is a {}", k, name_of(operand(k).code));
    }
    if (auto wrong = check_types(); !wrong.empty()) return wrong;
    return check_flow();
  }

  Wrong check_call() const {
    if (now().number >= kFunctionCount) return "no such function";
    const auto function = static_cast<Function>(now().number);
    const bool is_float = ir::is_floating(now().type) || ir::is_floating(operand(0).type);
    bool fits = is_float && result_type(function, now().type) == now().type;
    for (int k = 0; k < kernel::operand_count(function); ++k)
      fits = fits && operand(k).type == operand_type(function, now().type);
    return fits ? "" : "numbers of the types of its function";
  }

  static bool is_register(ir::DType type) { return type != ir::DType::f16 && type != ir::DType::bf16; }
  static bool is_float(ir::DType type) { return ir::is_floating(type); }
  static bool is_whole(ir::DType type) { return ir::is_integer(type); }

  Wrong check_types() const {
    const auto type = now().type;
    const auto of = [&](int k) { return operand(k).type; };
    const auto all_are = [&](ir::DType wanted) {
      for (int k = 0; k < operand_count(); ++k) {
        if (of(k) != wanted) return false;
      }
      return true;
    };
    if (!is_register(type) && now().code != Code::tile_load) return "16-bit floats exist in memory only";
    switch (now().code) {
      case Code::constant:
        return bits_of(type) < 64 && now().number >> bits_of(type) != 0 ? "bits above those of its type" : "";
      case Code::parameter:
        if (now().number >= kernel_.parameters.size() || kernel_.parameters[now().number].is_address)
          return "a parameter that is no number";
        return kernel_.parameters[now().number].type == type ? "" : "a parameter of another type";
      case Code::parameter_word:
        return type == ir::DType::u32 && now().number / 2 < kernel_.parameters.size() ? ""
                                                                                      : "half of a parameter's word";
      case Code::thread:
      case Code::block:
      case Code::blocks:
        return type == ir::DType::u32 && now().number < 2 ? "" : "it is of u32, of axis 0 or 1";
      case Code::load:
      case Code::store:
      case Code::atomic_add:
      case Code::store_bits:
        return check_memory();
      case Code::load_shared:
      case Code::store_shared: {
        if (now().number >= kernel_.shared.size()) return "no such shared array";
        const bool fits = kernel_.shared[now().number].type == type && is_whole(of(0));
        return fits && (now().code == Code::load_shared || of(1) == type) ? "" : "an element of another type";
      }
      case Code::load_wide:
      case Code::store_wide:
      case Code::load_pack:
      case Code::store_pack:
      case Code::load_shared_pack:
      case Code::store_shared_pack:
      case Code::word:
      case Code::join:
        return check_packs();
      case Code::tile_sums:
      case Code::tile_load:
      case Code::tile_multiply:
      case Code::tile_store:
        return check_tiles();
      case Code::shuffle_xor:
        return all_are(type) && bits_of(type) == 32 ? "" : "a value of 32 bits";
      case Code::get:
      case Code::set:
        return of(0) == type && (now().code == Code::get || of(1) == type) ? "" : "a variable of another type";
      case Code::loop:
        return is_whole(type) && all_are(type) ? "" : "a loop counts in whole numbers of one type";
      case Code::break_when:
      case Code::when:
        return all_are(ir::DType::bool_) ? "" : "a condition is a bool";
      case Code::less:
      case Code::less_equal:
        return type == ir::DType::bool_ && of(0) == of(1) && !ir::is_bool(of(0)) ? "" : "it compares numbers of a type";
      case Code::equal:
      case Code::not_equal:
        return type == ir::DType::bool_ && of(0) == of(1) ? "" : "it compares values of one type";
      case Code::call:
        return check_call();
      case Code::select:
        return of(0) == ir::DType::bool_ && of(1) == type && of(2) == type ? "" : "a bool, and two of its type";
      case Code::convert:
        return type != of(0) && !ir::is_bool(type) && !ir::is_bool(of(0)) ? "" : "two types of numbers";
      case Code::bits:
        return type != of(0) && bits_of(type) == bits_of(of(0)) && !ir::is_bool(type) && !ir::is_bool(of(0))
                   ? ""
                   : "two types of numbers of one size";
      case Code::rem:
      case Code::shift_left:
      case Code::shift_right:
        return is_whole(type) && all_are(type) ? "" : "whole numbers of one type";
      case Code::bit_and:
      case Code::bit_or:
      case Code::bit_xor:
      case Code::bit_not:
        return !is_float(type) && all_are(type) ? "" : "whole numbers or bools of one type";
      case Code::fused_multiply_add:
      case Code::floor:
      case Code::ceil:
      case Code::round_even:
      case Code::trunc:
      case Code::sqrt:
      case Code::abs:
        return is_float(type) && all_are(type) ? "" : "floats of one type";
      case Code::exp2:
        return type == ir::DType::f32 && all_are(type) ? "" : "f32";
      case Code::add:
      case Code::sub:
      case Code::mul:
      case Code::div:
      case Code::neg:
        return !ir::is_bool(type) && all_are(type) ? "" : "numbers of one type";
      case Code::variable:
      case Code::broadcast:
        return all_are(type) ? "" : "a value of its type";
      default:
        return "";
    }
  }

  bool is_address(std::uint64_t parameter) const {
    return parameter < kernel_.parameters.size() && kernel_.parameters[parameter].is_address;
  }
  bool is_shared(std::uint64_t array, int bits) const {
    return array < kernel_.shared.size() && bits_of(kernel_.shared[array].type) == bits;
  }

  Wrong check_packs() const {
    const auto type = now().type;
    const auto of = [&](int k) { return operand(k).type; };
    const bool is_stored = !has_value(now().code);
    switch (now().code) {
      case Code::word:
        return type == of(0) && now().number < 4 ? "" : "a word of a pack of its type";
      case Code::join:
        return type == ir::DType::u64 && of(0) == ir::DType::u32 && of(1) == ir::DType::u32 ? "" : "two u32 as a u64";
      case Code::load_wide:
      case Code::store_wide:
        if (!is_address(now().number) || !is_whole(type) || !is_whole(of(0))) return "whole numbers at an address";
        return !is_stored || of(1) == type ? "" : "a value of another type";
      case Code::load_pack:
      case Code::store_pack:
        if (!is_address(now().number) || !is_whole(of(0))) return "it is at an address";
        break;
      default:
        if (!is_shared(now().number, 32) || !is_whole(of(0))) return "it is in a shared array of 32 bits";
        if (!is_stored) return type == kernel_.shared[now().number].type ? "" : "an array of another type";
        break;
    }
    if (is_stored) return of(1) == ir::DType::u64 && of(2) == ir::DType::u64 ? "" : "two u64";
    return type == ir::DType::u32 ? "" : "it is of u32";
  }

  Wrong check_tiles() const {
    const auto type = now().type;
    const auto is_index = [&](int k) { return is_whole(operand(k).type); };
    switch (now().code) {
      case Code::tile_load: {
        const auto array = static_cast<std::uint64_t>(TileLoad::of(now().number).array);
        return !is_register(type) && is_shared(array, 32) && is_index(0) && is_index(1) ? "" : "words of 16-bit floats";
      }
      case Code::tile_multiply:
        return operand(1).type == operand(2).type ? "" : "two tiles of one type";
      case Code::tile_store:
        return is_shared(now().number, 32) && is_index(0) && is_index(1) ? "" : "a shared array of f32";
      default:
        return type == ir::DType::f32 ? "" : "sums are of f32";
    }
  }

  Wrong check_memory() const {
    if (!is_address(now().number)) return "a parameter that is no address";
    const auto element = memory_type(kernel_.parameters[now().number].type);
    if (element != now().type || !is_whole(operand(0).type)) return "an element of another type";
    if (now().code != Code::load && operand(1).type != element) return "a value of another type";
    if (now().code == Code::store_bits)
      return element == ir::DType::u32 && operand(2).type == element ? "" : "words of 32 bits and a mask of them";
    return now().code != Code::atomic_add || (bits_of(element) == 32 && is_whole(element)) ? ""
                                                                                           : "whole numbers of 32 bits";
  }

  Wrong check_flow() {
    switch (now().code) {
      case Code::loop:
        open_.push_back({Code::loop, at_});
        return "";
      case Code::when:
        open_.push_back({Code::when, at_});
        return "";
      case Code::otherwise:
        if (open_.empty() || open_.back().code != Code::when) return "no branch that has one side";
        hide(open_.back().begin);
        open_.back().code = Code::otherwise;
        return "";
      case Code::end_when:
        if (open_.empty() || open_.back().code == Code::loop) return "no branch";
        return end();
      case Code::end_loop:
        if (open_.empty() || open_.back().code != Code::loop) return "no loop";
        return end();
      case Code::break_when:
        return std::ranges::any_of(open_, [](const Open& open) { return open.code == Code::loop; }) ? "" : "no loop";
      default:
        return "";
    }
  }

  Wrong end() {
    hide(open_.back().begin);
    open_.pop_back();
    return "";
  }
  // What was made since then.
  void hide(std::size_t begin) {
    for (auto i = begin; i < at_; ++i) is_visible_[i] = false;
  }

  const Kernel& kernel_;
  std::vector<bool> is_visible_;
  std::vector<Open> open_;
  std::size_t at_ = 0;
};

}  // namespace

Status check(const Kernel& kernel) { return Checker(kernel).run(); }

}  // namespace burn::compile::kernel
