#include "compile/codegen/dialects/spirv_parameters.h"

#include <algorithm>
#include <optional>

namespace burn::compile::spirv {
namespace {

using kernel::Code;

// A branch or a loop that instructions are in. The two branches of one `when` begin at different instructions.
struct Block {
  std::size_t begin;      // its first instruction
  std::size_t construct;  // the `loop` or `when`
  bool is_loop;
};

class LoadPoints {
 public:
  explicit LoadPoints(const kernel::Kernel& kernel) : kernel_(kernel), points_(kernel.parameters.size()) {}

  std::vector<std::vector<std::uint64_t>> find() {
    for (std::size_t i = 0; i < kernel_.body.size(); ++i) {
      use_parameters(i);
      follow(i);
    }
    std::vector<std::vector<std::uint64_t>> all(kernel_.body.size());
    for (std::size_t k = 0; k < points_.size(); ++k) {
      const auto& point = points_[k];
      if (!point) continue;
      const auto loop = std::ranges::find_if(point->blocks, &Block::is_loop);
      all[loop == point->blocks.end() ? point->at : loop->construct].push_back(k);
    }
    return all;
  }

 private:
  struct Point {
    std::vector<Block> blocks;  // that it is in, the outermost first
    std::size_t at;             // an instruction
  };

  void use_parameters(std::size_t i) {
    const auto& now = kernel_.body[i];
    if (is_at_address(now.code)) use(now.number, i);
    if (now.code == Code::parameter_word) use(now.number / 2, i);
    for (int k = 0; k < operand_count(now); ++k) {
      const auto& operand = kernel_.body[static_cast<std::size_t>(now.operands[static_cast<std::size_t>(k)])];
      if (operand.code == Code::parameter) use(operand.number, i);
    }
  }

  void use(std::uint64_t parameter, std::size_t i) {
    auto& point = points_[parameter];
    if (!point) {
      point = {open_, i};
      return;
    }
    auto& blocks = point->blocks;
    std::size_t common = 0;
    while (common < blocks.size() && common < open_.size() && blocks[common].begin == open_[common].begin) ++common;
    if (common == blocks.size()) return;
    point->at = blocks[common].construct;
    blocks.resize(common);
  }

  void follow(std::size_t i) {
    switch (kernel_.body[i].code) {
      case Code::loop:
        open_.push_back({i, i, true});
        break;
      case Code::when:
        open_.push_back({i, i, false});
        break;
      case Code::otherwise:
        open_.back().begin = i;
        break;
      case Code::end_loop:
      case Code::end_when:
        open_.pop_back();
        break;
      default:
        break;
    }
  }

  const kernel::Kernel& kernel_;
  std::vector<std::optional<Point>> points_;  // per parameter
  std::vector<Block> open_;
};

}  // namespace

std::vector<std::vector<std::uint64_t>> load_points(const kernel::Kernel& kernel) { return LoadPoints(kernel).find(); }

}  // namespace burn::compile::spirv
