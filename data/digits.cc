#include "data/digits.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "data/digit_strokes.h"
#include "data/random.h"

// All operations here are ones that IEEE 754 rounds in one way only (no sin, no exp): see also CMakeLists.txt.
namespace burn::data {
namespace {

constexpr int kSide = static_cast<int>(MnistItem::kSide);
constexpr float kHeight = 19;                              // of an average digit, in pixels
constexpr float kReach = 3.5f;                             // pixels around a stroke that it may touch
constexpr std::uint64_t kLabels = std::uint64_t{1} << 63;  // random streams from here on determine the order of labels

// x -> matrix * x + offset, from glyph coordinates to pixels.
struct Affine {
  float xx, xy, yx, yy, dx, dy;
  Point operator()(Point p) const { return {xx * p.x + xy * p.y + dx, yx * p.x + yy * p.y + dy}; }
};

Affine random_affine(Rng& rng) {
  const float half_tangent = rng.uniform(-0.16f, 0.16f);  // of the angle: 18 degrees either way
  const float norm = 1 + half_tangent * half_tangent;
  const float cosine = (1 - half_tangent * half_tangent) / norm, sine = 2 * half_tangent / norm;
  const float slant = rng.uniform(-0.4f, 0.2f);  // people's digits lean to the right
  const float width = kHeight * rng.uniform(0.7f, 1.25f);
  const float height = kHeight * rng.uniform(0.8f, 1.1f);
  const float dx = rng.uniform(-2.25f, 2.25f), dy = rng.uniform(-2.25f, 2.25f);
  const float slanted = slant * height;
  return {cosine * width,   cosine * slanted - sine * height,
          sine * width,     sine * slanted + cosine * height,
          kSide / 2.f + dx, kSide / 2.f + dy};
}

// The squared distance of each pixel's centre from the nearest line.
class Distances {
 public:
  Distances() { squares_.fill(kReach * kReach); }

  void add(Point a, Point b) {
    const Point along = {b.x - a.x, b.y - a.y};
    const float length = along.x * along.x + along.y * along.y;
    const auto [left, right] = touched(a.x, b.x);
    const auto [top, bottom] = touched(a.y, b.y);
    for (int row = top; row < bottom; ++row) {
      for (int column = left; column < right; ++column) {
        const float x = static_cast<float>(column) + 0.5f - a.x, y = static_cast<float>(row) + 0.5f - a.y;
        const float at = length > 0 ? std::clamp((x * along.x + y * along.y) / length, 0.f, 1.f) : 0.f;
        const float off_x = x - at * along.x, off_y = y - at * along.y;
        auto& square = squares_[static_cast<std::size_t>(row) * MnistItem::kSide + static_cast<std::size_t>(column)];
        square = std::min(square, off_x * off_x + off_y * off_y);
      }
    }
  }

  float at(std::size_t pixel) const { return std::sqrt(squares_[pixel]); }

 private:
  // The columns or rows [first, last) that a line between two coordinates may touch.
  static std::pair<int, int> touched(float a, float b) {
    return {static_cast<int>(std::clamp(std::min(a, b) - kReach, 0.f, static_cast<float>(kSide))),
            static_cast<int>(std::clamp(std::max(a, b) + kReach + 1, 0.f, static_cast<float>(kSide)))};
  }

  std::array<float, MnistItem::kSide * MnistItem::kSide> squares_;
};

Stroke jittered(const Stroke& stroke, float amount, Rng& rng) {
  Stroke result = stroke;
  for (auto& point : result.points) {
    point.x += rng.uniform(-amount, amount);
    point.y += rng.uniform(-amount, amount);
  }
  return result;
}

Distances draw(const Glyph& glyph, Rng& rng) {
  const Affine place = random_affine(rng);
  const float jitter = rng.uniform(0.02f, 0.065f);
  Distances distances;
  for (const auto& stroke : glyph) {
    const auto line = flatten(jittered(stroke, jitter, rng));
    for (std::size_t i = 0; i + 1 < line.size(); ++i) distances.add(place(line[i]), place(line[i + 1]));
  }
  return distances;
}

}  // namespace

MnistItem DigitsDataset::get(std::size_t index) const {
  check_index(index, count_);
  const auto order = permutation(10, Rng(seed_, kLabels + index / 10));
  const auto label = static_cast<int>(order[index % 10]);

  Rng rng(seed_, index);
  const auto styles = glyphs_of(label);
  const auto distances = draw(styles[rng.below(styles.size())], rng);
  const float half_width = rng.uniform(0.6f, 1.7f);
  const float softness = rng.uniform(0.7f, 1.4f);  // width in pixels of the edge, from full darkness to none
  const float darkness = rng.uniform(190, 255), noise = rng.uniform(0, 30);

  MnistItem item;
  item.label = static_cast<std::uint8_t>(label);
  for (std::size_t pixel = 0; pixel < item.image.size(); ++pixel) {
    const float covered = std::clamp((half_width - distances.at(pixel)) / softness + 0.5f, 0.f, 1.f);
    const float value = covered * (darkness + noise * rng.uniform(-1, 1));
    item.image[pixel] = static_cast<std::uint8_t>(std::clamp(value + 0.5f, 0.f, 255.f));
  }
  return item;
}

}  // namespace burn::data
