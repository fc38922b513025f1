// How the ten digits are drawn: lines through points, in one or more styles each.
#pragma once

#include <span>
#include <vector>

namespace burn::data {

struct Point {
  float x, y;  // y points down; a digit is 1 high and about 0.6 wide around the origin
};

struct Stroke {
  bool smooth;  // a curve through the points rather than straight lines
  std::vector<Point> points;
};

using Glyph = std::vector<Stroke>;

// The styles of a digit. Requires: 0 <= digit < 10.
std::span<const Glyph> glyphs_of(int digit);

// The corners of a line that approximates the stroke. Uses only operations that every platform rounds alike.
std::vector<Point> flatten(const Stroke& stroke);

}  // namespace burn::data
