// How images are interpolated. Apart from how that is done (ir/semantics/interpolation.h), for headers that many
// include.
#pragma once

namespace burn::ir {

// nearest: source floor(o in / out); nearest_exact: floor((o + 1/2) in / out), as image libraries do. bilinear: linear
// along each dim. bicubic: Keys' kernel with a = -3/4, positions outside clamped to the border. lanczos3: sinc(x)
// sinc(x / 3); elements outside are left out and the other weights scaled to a sum of 1.
enum class InterpolateMode : unsigned char { nearest, nearest_exact, bilinear, bicubic, lanczos3 };

}  // namespace burn::ir
