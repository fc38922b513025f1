// Local means, variances and covariances of two images under a Gaussian window. Private to train/metric.
#pragma once

#include <cstdint>

#include "client/value.h"

namespace burn::metric {

struct SimilarityConstants {
  double c1 = 0, c2 = 0;  // (k1 range)^2, (k2 range)^2
  std::int64_t window = 11;
  double sigma = 1.5;
};

// Values for each position of the window within the images, f32 [batch * channels, 1, h - window + 1, w - window + 1].
struct Similarity {
  client::Value luminance;           // (2 mx my + c1) / (mx^2 + my^2 + c1)
  client::Value contrast_structure;  // (2 cov + c2) / (vx + vy + c2)
};

// x, y: f32 [batch * channels, 1, h, w]. Errors: INVALID_ARGUMENT for images smaller than the window.
Similarity similarity(const client::Value& x, const client::Value& y, const SimilarityConstants& constants);

}  // namespace burn::metric
