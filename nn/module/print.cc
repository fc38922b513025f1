// Prints a module as a tree, with the parameter count of each module and the type of each tensor.
#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "nn/module/module.h"
#include "nn/module/module_path.h"

namespace burn::nn::detail {
namespace {

class PrintVisitor : public ModuleVisitor {
 public:
  explicit PrintVisitor(const DisplaySettings& settings) : settings_(settings) {}

  void enter(std::string_view name, std::string_view type) override {
    lines_.push_back(
        {open_.size(), name.empty() ? std::string{type} : std::string{name} + ": " + std::string{type}, true, 0, {}});
    open_.push_back(lines_.size() - 1);
    path_.enter(name);
  }
  void leave() override {
    path_.leave();
    open_.pop_back();
  }
  void slot(std::string_view name, Slot& slot) override {
    const bool is_empty = !slot.value.has_value();
    auto text = std::string{name} + ": " + (is_empty ? "empty" : ir::to_string(slot.value.type()));
    if (!is_empty && slot.role == Slot::Role::parameter) {
      path_.enter(name);
      const auto [first, is_first] = first_path_.try_emplace(slot.id, path_.text());
      if (!is_first) text += ", tied to " + first->second;
      if (settings_.param_ids) text += ", id " + std::to_string(slot.id);
      path_.leave();
      for (const auto open : open_) {
        auto& line = lines_[open];
        if (line.counted.insert(slot.id).second) line.params += slot.value.type().num_elements();
      }
    }
    lines_.push_back({open_.size(), std::move(text), false, 0, {}});
  }

  void write(std::ostream& out) const {
    for (const auto& line : lines_) {
      if (settings_.depth && line.depth >= *settings_.depth) continue;
      if (!line.is_module && !settings_.tensors) continue;
      out << std::string(static_cast<std::size_t>(std::max(settings_.indentation, 0)) * line.depth, ' ') << line.text;
      if (line.is_module && settings_.num_parameters) out << " (" << line.params << " parameters)";
      out << '\n';
    }
  }

 private:
  struct Line {
    std::size_t depth;
    std::string text;
    bool is_module;
    std::int64_t params;        // parameter count of a module; each parameter counts once
    std::set<ParamId> counted;  // parameters in that count
  };

  const DisplaySettings settings_;
  std::vector<Line> lines_;
  std::vector<std::size_t> open_;  // lines of the enclosing modules
  detail::ModulePath path_;
  std::map<ParamId, std::string> first_path_;
};

}  // namespace

void print(std::ostream& out, const ModuleWalk& walk, const DisplaySettings& settings) {
  PrintVisitor visitor{settings};
  walk(visitor);
  visitor.write(out);
}

}  // namespace burn::nn::detail
