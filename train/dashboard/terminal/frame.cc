#include "train/dashboard/terminal/frame.h"

namespace burn::train::dashboard {

void Frame::put(int x, int y, char32_t character, Style style) {
  if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
  cells_[index(x, y)] = {character, style};
}

int Frame::put(int x, int y, std::string_view text, Style style, int end) {
  if (end < 0 || end > width_) end = width_;
  for (const auto character : characters_of(text)) {
    if (x >= end) break;
    const bool is_control = character < 0x20 || (character >= 0x7f && character < 0xa0);
    put(x++, y, is_control ? U'?' : character, style);
  }
  return x;
}

void Frame::fill(Rect area, char32_t character, Style style) {
  for (int y = area.y; y < area.y + area.height; ++y) {
    for (int x = area.x; x < area.x + area.width; ++x) put(x, y, character, style);
  }
}

void Frame::box(Rect area, Style style) {
  fill(area, U' ', style);
  const int right = area.x + area.width - 1, bottom = area.y + area.height - 1;
  for (int x = area.x; x <= right; ++x) {
    put(x, area.y, U'─', style);
    put(x, bottom, U'─', style);
  }
  for (int y = area.y; y <= bottom; ++y) {
    put(area.x, y, U'│', style);
    put(right, y, U'│', style);
  }
  put(area.x, area.y, U'┌', style);
  put(right, area.y, U'┐', style);
  put(area.x, bottom, U'└', style);
  put(right, bottom, U'┘', style);
}

std::string Frame::line(int y) const {
  std::string text;
  for (int x = 0; x < width_; ++x) text += utf8(at(x, y).character);
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::u32string characters_of(std::string_view text) {
  std::u32string characters;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    char32_t character = length == 1 ? first : first & (0x7fU >> length);
    bool is_whole = i + length <= text.size();
    for (std::size_t k = 1; is_whole && k < length; ++k) {
      const auto byte = static_cast<unsigned char>(text[i + k]);
      is_whole = (byte & 0xc0) == 0x80;
      character = character << 6 | (byte & 0x3f);
    }
    characters += is_whole ? character : first;
    i += is_whole ? length : 1;
  }
  return characters;
}

std::string utf8(char32_t character) {
  const auto byte = [](char32_t bits) { return static_cast<char>(bits); };
  const auto tail = [&](int shift) { return byte(0x80 | (character >> shift & 0x3f)); };
  if (character < 0x80) return {byte(character)};
  if (character < 0x800) return {byte(0xc0 | character >> 6), tail(0)};
  if (character < 0x10000) return {byte(0xe0 | character >> 12), tail(6), tail(0)};
  return {byte(0xf0 | character >> 18), tail(12), tail(6), tail(0)};
}

int columns_of(std::string_view text) { return static_cast<int>(characters_of(text).size()); }

}  // namespace burn::train::dashboard
