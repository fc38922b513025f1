#include "compile/codegen/kernel/type_check.h"

namespace burn::compile::kernel {
namespace {

bool is_float(ir::DType type) { return ir::is_floating(type); }
bool is_whole(ir::DType type) { return ir::is_integer(type); }

class TypeChecker {
 public:
  TypeChecker(const Kernel& kernel, std::size_t at) : kernel_(kernel), at_(at) {}

  std::string error() const {
    if (!is_register(now().type) && now().code != Code::tile_load) return "16-bit floats exist in memory only";
    switch (now().code) {
      case Code::constant:
      case Code::parameter:
      case Code::parameter_word:
      case Code::thread:
      case Code::block:
      case Code::blocks:
        return check_source();
      case Code::load:
      case Code::store:
      case Code::atomic_add:
      case Code::store_bits:
        return check_memory();
      case Code::load_shared:
      case Code::store_shared:
        return check_shared();
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
      case Code::call:
        return check_call();
      case Code::get:
      case Code::set:
      case Code::loop:
      case Code::break_when:
      case Code::when:
        return check_flow();
      default:
        return check_numbers();
    }
  }

 private:
  using Wrong = std::string;  // empty: nothing

  const Instruction& now() const { return kernel_.body[at_]; }
  const Instruction& operand(int k) const {
    return kernel_.body[static_cast<std::size_t>(now().operands[static_cast<std::size_t>(k)])];
  }
  ir::DType type_of(int k) const { return operand(k).type; }
  // All operands are of that type.
  bool all_are(ir::DType wanted) const {
    for (int k = 0; k < operand_count(now()); ++k) {
      if (type_of(k) != wanted) return false;
    }
    return true;
  }
  bool is_address(std::uint64_t parameter) const {
    return parameter < kernel_.parameters.size() && kernel_.parameters[parameter].is_address;
  }
  bool is_shared(std::uint64_t array, int bits) const {
    return array < kernel_.shared.size() && bits_of(kernel_.shared[array].type) == bits;
  }

  // What comes from outside of the kernel's body.
  Wrong check_source() const {
    const auto type = now().type;
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
      default:
        return type == ir::DType::u32 && now().number < 2 ? "" : "it is of u32, of axis 0 or 1";
    }
  }

  Wrong check_shared() const {
    if (now().number >= kernel_.shared.size()) return "no such shared array";
    const bool fits = kernel_.shared[now().number].type == now().type && is_whole(type_of(0));
    return fits && (now().code == Code::load_shared || type_of(1) == now().type) ? "" : "an element of another type";
  }

  Wrong check_packs() const {
    const auto type = now().type;
    const bool is_stored = !has_value(now().code);
    switch (now().code) {
      case Code::word:
        return type == type_of(0) && now().number < 4 ? "" : "a word of a pack of its type";
      case Code::join:
        return type == ir::DType::u64 && type_of(0) == ir::DType::u32 && type_of(1) == ir::DType::u32
                   ? ""
                   : "two u32 as a u64";
      case Code::load_wide:
      case Code::store_wide:
        if (!is_address(now().number) || !is_whole(type) || !is_whole(type_of(0))) return "whole numbers at an address";
        return !is_stored || type_of(1) == type ? "" : "a value of another type";
      case Code::load_pack:
      case Code::store_pack:
        if (!is_address(now().number) || !is_whole(type_of(0))) return "it is at an address";
        break;
      default:
        if (!is_shared(now().number, 32) || !is_whole(type_of(0))) return "it is in a shared array of 32 bits";
        if (!is_stored) return type == kernel_.shared[now().number].type ? "" : "an array of another type";
        break;
    }
    if (is_stored) return type_of(1) == ir::DType::u64 && type_of(2) == ir::DType::u64 ? "" : "two u64";
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

  Wrong check_call() const {
    if (now().number >= kFunctionCount) return "no such function";
    const auto function = static_cast<Function>(now().number);
    const bool is_float = ir::is_floating(now().type) || ir::is_floating(operand(0).type);
    bool fits = is_float && result_type(function, now().type) == now().type;
    for (int k = 0; k < kernel::operand_count(function); ++k)
      fits = fits && operand(k).type == operand_type(function, now().type);
    return fits ? "" : "numbers of the types of its function";
  }

  Wrong check_flow() const {
    const auto type = now().type;
    switch (now().code) {
      case Code::get:
      case Code::set:
        return type_of(0) == type && (now().code == Code::get || type_of(1) == type) ? ""
                                                                                     : "a variable of another type";
      case Code::loop:
        return is_whole(type) && all_are(type) ? "" : "a loop counts in whole numbers of one type";
      default:
        return all_are(ir::DType::bool_) ? "" : "a condition is a bool";
    }
  }

  // Instructions that make a number of numbers.
  Wrong check_numbers() const {
    const auto type = now().type;
    switch (now().code) {
      case Code::shuffle_xor:
        return all_are(type) && bits_of(type) == 32 ? "" : "a value of 32 bits";
      case Code::less:
      case Code::less_equal:
        return type == ir::DType::bool_ && type_of(0) == type_of(1) && !ir::is_bool(type_of(0))
                   ? ""
                   : "it compares numbers of a type";
      case Code::equal:
      case Code::not_equal:
        return type == ir::DType::bool_ && type_of(0) == type_of(1) ? "" : "it compares values of one type";
      case Code::select:
        return type_of(0) == ir::DType::bool_ && type_of(1) == type && type_of(2) == type
                   ? ""
                   : "a bool, and two of its type";
      case Code::convert:
        return type != type_of(0) && !ir::is_bool(type) && !ir::is_bool(type_of(0)) ? "" : "two types of numbers";
      case Code::bits:
        return type != type_of(0) && bits_of(type) == bits_of(type_of(0)) && !ir::is_bool(type) &&
                       !ir::is_bool(type_of(0))
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

  const Kernel& kernel_;
  const std::size_t at_;
};

}  // namespace

bool is_register(ir::DType type) { return type != ir::DType::f16 && type != ir::DType::bf16; }

std::string type_error(const Kernel& kernel, std::size_t at) { return TypeChecker(kernel, at).error(); }

}  // namespace burn::compile::kernel
