#include "examples/guide/commands.h"

namespace guide {

std::string picture(const burn::data::MnistItem& item) {
  constexpr auto kSide = burn::data::MnistItem::kSide;
  constexpr int kInk = 96;  // of 255
  const auto is_ink = [&](std::size_t row, std::size_t column) { return item.image[row * kSide + column] >= kInk; };
  std::string text;
  for (std::size_t row = 0; row < kSide; row += 2) {
    for (std::size_t column = 0; column < kSide; ++column) {
      const bool upper = is_ink(row, column), lower = is_ink(row + 1, column);
      text += upper && lower ? "█" : upper ? "▀" : lower ? "▄" : " ";
    }
    text += '\n';
  }
  return text;
}

}  // namespace guide
