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
  static int operand_count(Code code) {
    switch (code) {
      case Code::constant:
      case Code::parameter:
      case Code::thread:
      case Code::block:
      case Code::blocks:
      case Code::end_loop:
      case Code::otherwise:
      case Code::end_when:
      case Code::barrier:
        return 0;
      case Code::load:
      case Code::load_shared:
      case Code::variable:
      case Code::get:
      case Code::break_when:
      case Code::when:
      case Code::broadcast:
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
        return 1;
      case Code::loop:
      case Code::fused_multiply_add:
      case Code::select:
        return 3;
      default:
        return 2;
    }
  }

  Wrong check_one() {
    const auto count = operand_count(now().code);
    for (int k = 0; k < 3; ++k) {
      const auto id = now().operands[static_cast<std::size_t>(k)];
      if ((id >= 0) != (k < count)) return fmt::format("it takes {} operands", count);
      if (k < count && (static_cast<std::size_t>(id) >= at_ || !is_visible_[static_cast<std::size_t>(id)]))
        return fmt::format("operand {} is not made, or in a loop or branch that has ended", k);
      const bool takes_variable = k == 0 && (now().code == Code::get || now().code == Code::set);
      if (k < count && !takes_variable && operand(k).code == Code::variable)
        return fmt::format("operand {} is a variable", k);
    }
    if (auto wrong = check_types(); !wrong.empty()) return wrong;
    return check_flow();
  }

  static bool is_register(ir::DType type) { return type != ir::DType::f16 && type != ir::DType::bf16; }
  static bool is_float(ir::DType type) { return ir::is_floating(type); }
  static bool is_whole(ir::DType type) { return ir::is_integer(type); }

  Wrong check_types() const {
    const auto type = now().type;
    const auto of = [&](int k) { return operand(k).type; };
    const auto all_are = [&](ir::DType wanted) {
      for (int k = 0; k < operand_count(now().code); ++k) {
        if (of(k) != wanted) return false;
      }
      return true;
    };
    if (!is_register(type)) return "16-bit floats exist in memory only";
    switch (now().code) {
      case Code::constant:
        return bits_of(type) < 64 && now().number >> bits_of(type) != 0 ? "bits above those of its type" : "";
      case Code::parameter:
        if (now().number >= kernel_.parameters.size() || kernel_.parameters[now().number].is_address)
          return "a parameter that is no number";
        return kernel_.parameters[now().number].type == type ? "" : "a parameter of another type";
      case Code::thread:
      case Code::block:
      case Code::blocks:
        return type == ir::DType::u32 && now().number < 2 ? "" : "it is of u32, of axis 0 or 1";
      case Code::load:
      case Code::store:
      case Code::atomic_add:
        return check_memory();
      case Code::load_shared:
      case Code::store_shared: {
        if (now().number >= kernel_.shared.size()) return "no such shared array";
        const bool fits = kernel_.shared[now().number].type == type && is_whole(of(0));
        return fits && (now().code == Code::load_shared || of(1) == type) ? "" : "an element of another type";
      }
      case Code::get:
      case Code::set:
        if (operand(0).code != Code::variable) return "it takes a variable";
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

  Wrong check_memory() const {
    if (now().number >= kernel_.parameters.size() || !kernel_.parameters[now().number].is_address)
      return "a parameter that is no address";
    const auto element = memory_type(kernel_.parameters[now().number].type);
    if (element != now().type || !is_whole(operand(0).type)) return "an element of another type";
    if (now().code != Code::load && operand(1).type != element) return "a value of another type";
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
