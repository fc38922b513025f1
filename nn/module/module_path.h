// The current position of a walk through a module, as a dotted path: "encoder.layers.0.weight".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace burn::nn::detail {

class ModulePath {
 public:
  // Appends a field's name; the module that the walk begins with has an empty name.
  void enter(std::string_view name) {
    lengths_.push_back(text_.size());
    if (!text_.empty() && !name.empty()) text_ += '.';
    text_ += name;
  }
  // Requires: an enter() that was not left.
  void leave() {
    text_.resize(lengths_.back());
    lengths_.pop_back();
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::vector<std::size_t> lengths_;  // length of the text before each name in it
};

}  // namespace burn::nn::detail
