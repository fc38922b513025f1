// A grid of characters that the terminal dashboard draws on before it is shown on a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace burn::train::dashboard {

enum class Color : std::uint8_t { standard, red, green, yellow, blue, magenta, cyan, grey };

struct Style {
  Color color = Color::standard;
  bool bold = false, reverse = false;
  bool operator==(const Style&) const = default;
};

struct Cell {
  char32_t character = U' ';
  Style style;
};

struct Rect {
  int x = 0, y = 0, width = 0, height = 0;
};

// Drawing is clipped to the frame.
class Frame {
 public:
  Frame(int width, int height)
      : width_(width), height_(height), cells_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height)) {}

  int width() const { return width_; }
  int height() const { return height_; }
  const Cell& at(int x, int y) const { return cells_[index(x, y)]; }
  void put(int x, int y, char32_t character, Style style = {});
  // Writes UTF-8 at most up to column `end` (not included; -1: the frame's), one column for each character; control
  // characters are shown as '?'. Returns the column after the last character.
  int put(int x, int y, std::string_view text, Style style = {}, int end = -1);
  void fill(Rect area, char32_t character, Style style = {});
  void box(Rect area, Style style = {});  // the border, and blanks inside
  std::string line(int y) const;          // as UTF-8, without trailing blanks

 private:
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
  }

  int width_, height_;
  std::vector<Cell> cells_;
};

// Decodes UTF-8; each byte of an invalid sequence becomes one character.
std::u32string characters_of(std::string_view text);
std::string utf8(char32_t character);
int columns_of(std::string_view text);

}  // namespace burn::train::dashboard
