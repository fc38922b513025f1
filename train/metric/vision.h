// Scores of images: overlap of masks, and similarity of images.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "train/metric/metric.h"

namespace burn::metric {

// The overlap of masks (Dice, Ecology 26, 1945): 2 |answered and expected| / (|answered| + |expected|), counted over
// the epoch. "output" is a mask of integers or bools [batch, classes, ...], or floats of that shape, of which the class
// with the highest score is taken (with one class: pixels above 0.5). "targets" is a mask of the same shape, or
// integers [batch, ...], the class of each pixel.
class Dice : public CountedMetric {
 public:
  struct Config {
    double epsilon = 1e-7;            // added to numerator and denominator: two empty masks have 1
    bool include_background = false;  // false: class 0 is ignored if there are several classes
  };
  Dice() = default;
  explicit Dice(const Config& config) : config_(config) {}

  std::string name() const override { return "Dice"; }
  std::string label() const override { return "dice"; }
  bool higher_is_better() const override { return true; }
  std::vector<Need> needs() const override;
  Measured record(const StepOutput& output) const override;  // i64 [3]: both, answered, expected
  double value() const override;
  void load_state(std::span<const double> state) override;

 private:
  Config config_;
};

// The mean over images of one number per image. "output" and "targets" are floats [batch, channels, height, width].
class ImageMetric : public CountedMetric {
 public:
  std::vector<Need> needs() const override;
  void take(const MeasuredBatch& batch) override;
  bool higher_is_better() const override { return true; }
  double value() const override { return counts().empty() ? ratio(0, 0) : ratio(counts()[0], counts()[1]); }
  void load_state(std::span<const double> state) override;
  std::string name() const override { return name_; }

 protected:
  explicit ImageMetric(std::string name) : name_(std::move(name)) {}
  virtual double value_of(float measured) const { return static_cast<double>(measured); }  // for one image
  void set_name(std::string name) { name_ = std::move(name); }

 private:
  std::string name_;
};

// The peak signal-to-noise ratio in decibels, 10 log10(max_pixel_val^2 / mse) of each image.
class Psnr : public ImageMetric {
 public:
  struct Config {
    double max_pixel_val = 1;  // the largest possible pixel: 255 for 8 bits
    double epsilon = 1e-10;    // the smallest error that is distinguished from 0
  };
  explicit Psnr(double max_pixel_val = 1) : Psnr(Config{.max_pixel_val = max_pixel_val}) {}
  explicit Psnr(const Config& config);
  Psnr with_name(std::string name) const;

  std::string label() const override { return "psnr"; }
  Measured record(const StepOutput& output) const override;  // f32 [batch]: the mean square error
  ValueFormat value_format() const override { return {.decimals = 2, .unit = " dB"}; }

 protected:
  double value_of(float mse) const override;

 private:
  Config config_;
};

// Structural similarity (Wang, Bovik, Sheikh and Simoncelli, IEEE Trans. Image Process. 13(4), 2004): the mean over all
// places of a Gaussian window that lies within the image, and over the channels, of
// (2 mx my + C1)(2 cxy + C2) / ((mx^2 + my^2 + C1)(vx + vy + C2)), with Ci = (ki data_range)^2.
class Ssim : public ImageMetric {
 public:
  struct Config {
    double data_range = 1;  // the largest minus the smallest possible pixel
    double k1 = 0.01, k2 = 0.03;
    std::int64_t window_size = 11;  // odd; no image may be smaller
    double sigma = 1.5;             // of the window, in pixels
  };
  explicit Ssim(double data_range = 1) : Ssim(Config{.data_range = data_range}) {}
  explicit Ssim(const Config& config);
  Ssim with_name(std::string name) const;

  std::string label() const override { return "ssim"; }
  Measured record(const StepOutput& output) const override;  // f32 [batch]

 private:
  Config config_;
};

// Structural similarity at several scales (Wang, Simoncelli and Bovik, Asilomar 2003): the product over the scales of
// contrast and structure, at the last scale also luminance, each to the power of the scale's weight; between scales
// images are halved by averaging 2 x 2 pixels. Negative means count as 0. The result is the mean over channels and
// images.
class MsSsim : public ImageMetric {
 public:
  struct Config {
    double pixel_range = 1;
    double k1 = 0.01, k2 = 0.03;
    std::int64_t kernel_size = 11;  // odd; no image may be smaller than kernel_size 2^(scales - 1)
    double sigma = 1.5;
    std::vector<double> betas = {0.0448, 0.2856, 0.3001, 0.2363, 0.1333};  // one for each scale
  };
  explicit MsSsim(double pixel_range = 1);
  explicit MsSsim(Config config);
  MsSsim with_name(std::string name) const;

  std::string label() const override { return "ms-ssim"; }
  Measured record(const StepOutput& output) const override;  // f32 [batch]

 private:
  Config config_;
};

}  // namespace burn::metric
