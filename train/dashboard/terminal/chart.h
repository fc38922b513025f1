// Draws curves with axes on a frame, in braille characters of two by four dots.
#pragma once

#include <string>
#include <vector>

#include "train/dashboard/terminal/frame.h"

namespace burn::train::dashboard {

struct Point {
  double x = 0, y = 0;
};

struct Line {
  std::vector<Point> points;  // sorted by x; values that are not finite interrupt the line
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
  std::vector<double> not_finite;  // x of values that are not finite; marked at the top
  bool logarithmic = false;        // logarithmic y axis; values that are not positive are omitted
};

// About `about` ticks, whose distance is 1, 2 or 5 times a power of ten; one tick for an empty range.
std::vector<double> ticks(double low, double high, int about);
// For a logarithmic axis: powers of ten and, if those are few, 2 and 5 times them.
std::vector<double> log_ticks(double low, double high, int about);
std::string tick_text(double value);  // "0.25", "1.5k", "2e-05"

void draw(Frame& frame, Rect area, const Chart& chart);

// Exponential moving average: the weights of earlier values fall by `factor` (0 to 1) per point; bias-corrected as in
// Adam. 0: no smoothing. Values that are not finite are returned unchanged and do not affect the others.
std::vector<Point> smooth(std::vector<Point> points, double factor);

}  // namespace burn::train::dashboard
