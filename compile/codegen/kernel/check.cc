#include "compile/codegen/kernel/check.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "compile/codegen/kernel/type_check.h"

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
    const auto count = operand_count(now());
    for (int k = 0; k < 3; ++k) {
      const auto id = now().operands[static_cast<std::size_t>(k)];
      if ((id >= 0) != (k < count)) return fmt::format("it takes {} operands", count);
      if (k < count && (static_cast<std::size_t>(id) >= at_ || !is_visible_[static_cast<std::size_t>(id)]))
        return fmt::format("operand {} is not made, or in a loop or branch that has ended", k);
      if (k < count && !takes(k, operand(k).code))
        return fmt::format("operand {} is a {}", k, name_of(operand(k).code));
    }
    if (auto wrong = type_error(kernel_, at_); !wrong.empty()) return wrong;
    return check_flow();
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
