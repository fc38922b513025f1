// Draws curves with axes on a frame, in braille: two by four dots to a character.
#pragma once

#include <string>
#include <vector>

#include "train/dashboard/terminal/frame.h"

namespace burn::train::dashboard {

struct Point {
  double x = 0, y = 0;
};

struct Line {
  std::vector<Point> points;  // by x, ascending; values that are not finite break the line
  Color color = Color::standard;
};

struct Mark {
  Point at;
  char32_t character = U'◆';
  Color color = Color::standard;
};

struct Chart {
  std::vector<Line> lines;  // later ones are drawn above earlier ones
  std::vector<Mark> marks;
  std::vector<double> not_finite;  // x of values that are not: marked at the top
  bool logarithmic = false;        // values that are not positive are left out
};

// Ticks at 1, 2 or 5 times a power of ten, `about` of them; of an empty range, one.
std::vector<double> ticks(double low, double high, int about);
// For a logarithmic axis: powers of ten and, where those are few, 2 and 5 times them.
std::vector<double> log_ticks(double low, double high, int about);
std::string tick_text(double value);  // "0.25", "1.5k", "2e-05"

void draw(Frame& frame, Rect area, const Chart& chart);

// Each value as the mean of those before it with weights that fall by `factor` a step, 0 to 1; corrected for its
// beginning, as Adam does. 0: as it is. Values that are not finite stay, and count for none of the others.
std::vector<Point> smooth(std::vector<Point> points, double factor);

}  // namespace burn::train::dashboard
