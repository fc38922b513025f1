#include "data/digit_strokes.h"

#include <algorithm>
#include <array>

namespace burn::data {
namespace {

constexpr bool kLines = false, kCurve = true;
constexpr int kSteps = 5;  // line segments of a curve between two points

using Styles = std::array<std::vector<Glyph>, 10>;

// clang-format off
const Styles& styles() {
  static const Styles table = {{
    {  // 0
      {{kCurve, {{.06f, -.5f}, {-.16f, -.42f}, {-.28f, -.05f}, {-.2f, .36f}, {0, .5f}, {.2f, .38f}, {.28f, 0}, {.2f, -.38f},
                 {.04f, -.5f}, {-.06f, -.48f}}}},
    },
    {  // 1: bare, with a flag, with flag and foot
      {{kLines, {{.03f, -.5f}, {-.01f, .5f}}}},
      {{kLines, {{-.2f, -.24f}, {.05f, -.5f}, {.05f, .5f}}}},
      {{kLines, {{-.17f, -.3f}, {.03f, -.5f}, {.03f, .5f}}}, {kLines, {{-.2f, .5f}, {.24f, .5f}}}},
    },
    {  // 2: with a corner, with a loop
      {{kCurve, {{-.25f, -.28f}, {-.18f, -.43f}, {0, -.5f}, {.2f, -.42f}, {.25f, -.24f}, {.16f, 0}, {-.27f, .48f}}},
       {kLines, {{-.27f, .48f}, {.28f, .48f}}}},
      {{kCurve, {{-.24f, -.3f}, {-.1f, -.48f}, {.12f, -.48f}, {.22f, -.28f}, {.12f, 0}, {-.08f, .3f}, {-.22f, .47f},
                 {-.3f, .38f}, {-.16f, .3f}, {.06f, .44f}, {.3f, .42f}}}},
    },
    {  // 3: round, with a flat top
      {{kCurve, {{-.22f, -.4f}, {-.04f, -.5f}, {.18f, -.43f}, {.21f, -.24f}, {.1f, -.08f}, {-.06f, -.03f}}},
       {kCurve, {{-.06f, -.03f}, {.15f, .03f}, {.26f, .22f}, {.17f, .42f}, {-.03f, .5f}, {-.25f, .4f}}}},
      {{kLines, {{-.22f, -.48f}, {.2f, -.48f}, {-.04f, -.1f}}},
       {kCurve, {{-.04f, -.1f}, {.18f, -.02f}, {.25f, .2f}, {.15f, .43f}, {-.05f, .5f}, {-.25f, .4f}}}},
    },
    {  // 4: open, closed
      {{kLines, {{-.18f, -.46f}, {-.26f, .08f}, {.28f, .08f}}}, {kLines, {{.16f, -.38f}, {.12f, .5f}}}},
      {{kLines, {{.12f, -.5f}, {-.3f, .15f}, {.3f, .15f}}}, {kLines, {{.12f, -.5f}, {.1f, .5f}}}},
    },
    {  // 5: with corners, in one swing
      {{kLines, {{.24f, -.48f}, {-.17f, -.48f}, {-.21f, -.06f}}},
       {kCurve, {{-.21f, -.06f}, {0, -.14f}, {.2f, -.04f}, {.26f, .18f}, {.16f, .41f}, {-.04f, .5f}, {-.26f, .4f}}}},
      {{kCurve, {{.26f, -.5f}, {-.1f, -.44f}, {-.18f, -.14f}, {.08f, -.06f}, {.22f, .16f}, {.14f, .4f}, {-.06f, .5f},
                 {-.24f, .42f}}}},
    },
    {  // 6: leaning, upright
      {{kCurve, {{.2f, -.5f}, {-.06f, -.3f}, {-.22f, -.02f}, {-.24f, .25f}, {-.12f, .45f}, {.08f, .5f}, {.23f, .36f},
                 {.22f, .14f}, {.04f, .03f}, {-.14f, .1f}, {-.23f, .28f}}}},
      {{kCurve, {{-.08f, -.5f}, {-.18f, -.2f}, {-.22f, .15f}, {-.14f, .42f}, {.06f, .5f}, {.2f, .36f}, {.16f, .16f}, {0, .1f},
                 {-.2f, .24f}}}},
    },
    {  // 7: straight, with a bar, bent
      {{kLines, {{-.25f, -.46f}, {.25f, -.46f}, {-.05f, .5f}}}},
      {{kLines, {{-.25f, -.46f}, {.25f, -.46f}, {-.06f, .5f}}}, {kLines, {{-.12f, .02f}, {.22f, .02f}}}},
      {{kLines, {{-.26f, -.3f}, {-.24f, -.46f}, {.25f, -.46f}}}, {kCurve, {{.25f, -.46f}, {.05f, -.08f}, {-.02f, .5f}}}},
    },
    {  // 8: in one line, two loops
      {{kCurve, {{.18f, -.34f}, {.03f, -.5f}, {-.16f, -.42f}, {-.17f, -.24f}, {.02f, -.03f}, {.2f, .17f}, {.19f, .39f}, {0, .5f},
                 {-.2f, .38f}, {-.19f, .17f}, {.02f, -.03f}, {.19f, -.22f}, {.17f, -.38f}, {.08f, -.47f}}}},
      {{kCurve, {{0, -.5f}, {-.16f, -.4f}, {-.16f, -.14f}, {0, -.03f}, {.16f, -.14f}, {.16f, -.4f}, {0, -.5f}, {-.1f, -.47f}}},
       {kCurve, {{0, -.03f}, {-.2f, .1f}, {-.2f, .38f}, {0, .5f}, {.2f, .38f}, {.2f, .1f}, {0, -.03f}, {-.12f, 0}}}},
    },
    {  // 9: straight, with a hook
      {{kCurve, {{.22f, -.3f}, {.1f, -.48f}, {-.1f, -.48f}, {-.22f, -.3f}, {-.17f, -.1f}, {0, -.03f}, {.15f, -.12f},
                 {.22f, -.32f}}},
       {kLines, {{.22f, -.32f}, {.14f, .5f}}}},
      {{kCurve, {{.2f, -.36f}, {.04f, -.5f}, {-.18f, -.4f}, {-.2f, -.16f}, {-.02f, -.04f}, {.16f, -.16f}, {.22f, -.36f}}},
       {kCurve, {{.22f, -.36f}, {.23f, .1f}, {.12f, .42f}, {-.08f, .5f}, {-.22f, .4f}}}},
    },
  }};
  return table;
}
// clang-format on

// The Catmull-Rom spline between b and c, at t in [0, 1].
float spline(float a, float b, float c, float d, float t) {
  const float linear = c - a;
  const float square = 2 * a - 5 * b + 4 * c - d;
  const float cube = 3 * (b - c) + d - a;
  return b + 0.5f * t * (linear + t * (square + t * cube));
}

}  // namespace

std::span<const Glyph> glyphs_of(int digit) { return styles()[static_cast<std::size_t>(digit)]; }

std::vector<Point> flatten(const Stroke& stroke) {
  const auto& points = stroke.points;
  if (!stroke.smooth) return points;
  std::vector<Point> line;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const Point a = points[i > 0 ? i - 1 : 0], b = points[i], c = points[i + 1];
    const Point d = points[std::min(i + 2, points.size() - 1)];
    for (int step = 0; step < kSteps; ++step) {
      const float t = static_cast<float>(step) / kSteps;
      line.push_back({spline(a.x, b.x, c.x, d.x, t), spline(a.y, b.y, c.y, d.y, t)});
    }
  }
  line.push_back(points.back());
  return line;
}

}  // namespace burn::data
