// Where a walk through a module stands, as a dotted path: "encoder.layers.0.weight".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace burn::nn::detail {

class ModulePath {
 public:
  // A field of this name; the module that the walk begins with has none.
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
  std::vector<std::size_t> lengths_;  // of the text before each name in it
};

}  // namespace burn::nn::detail
