#include "train/metric/vision.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "client/ops/formula.h"
#include "train/metric/labels.h"
#include "train/metric/similarity.h"

namespace burn::metric {
namespace {

using client::Value;

[[noreturn]] void throw_argument(const std::string& text) { throw Error(StatusCode::invalid_argument, text); }

void check_counts(const Metric& metric, std::span<const double> state, std::size_t size) {
  if (!state.empty()) check_state(metric, state, size);  // none before the first batch
}

void check_same_shape(const StepOutput& output) {
  if (output.output.shape() == output.targets.shape()) return;
  throw_argument(fmt::format("output {} and targets {} have different shapes", ir::to_string(output.output.type()),
                             ir::to_string(output.targets.type())));
}

// [batch, classes, ...] of bool from the class of each pixel, [batch, ...].
Value mask_of_classes(const Value& classes_of_pixels, std::int64_t classes) {
  const auto& site = client::current_site();
  const auto all = client::arange(client::place_of(classes_of_pixels), 0, classes, 1, DType::i64, site);
  const auto known = client::known_classes(client::cast(classes_of_pixels, DType::i64, site), all, site);
  ir::Shape line = ir::Shape::filled(classes_of_pixels.rank() + 1, 1);
  line[1] = classes;
  return client::unsqueeze(known, {1}, site) == client::reshape(all, line, site);
}

Value answered_mask(const Value& output) {
  const auto& site = client::current_site();
  if (!ir::is_floating(output.dtype())) return output;
  if (output.dim(1) == 1) return output > 0.5;
  return mask_of_classes(client::squeeze(client::arg_reduce(ir::ArgFn::max, output, 1, site), {1}, site),
                         output.dim(1));
}

// [n, 1, h, w] of f32 from [batch, channels, h, w].
Value planes(const Value& images) {
  const auto& site = client::current_site();
  return client::reshape(client::cast(images, DType::f32, site),
                         {images.dim(0) * images.dim(1), 1, images.dim(2), images.dim(3)}, site);
}

// f32 [batch] from [batch * channels, 1, ...]: the mean of each image.
Value mean_of_images(const Value& of_planes, std::int64_t batch) {
  const auto& site = client::current_site();
  const auto each = batch == 0 ? 0 : of_planes.type().num_elements() / batch;
  return client::reshape(client::mean(client::reshape(of_planes, {batch, each}, site), {1}, site), {batch}, site);
}

SimilarityConstants constants(const char* what, double range, double k1, double k2, std::int64_t window, double sigma) {
  if (!(range > 0)) throw_argument(fmt::format("{}: the range of pixels is {}, must be > 0", what, range));
  if (!(k1 > 0) || !(k2 > 0)) throw_argument(fmt::format("{}: k1 is {} and k2 {}, must be > 0", what, k1, k2));
  if (window < 1 || window % 2 == 0) throw_argument(fmt::format("{}: the window is {}, must be odd", what, window));
  if (!(sigma > 0)) throw_argument(fmt::format("{}: sigma is {}, must be > 0", what, sigma));
  return {k1 * range * k1 * range, k2 * range * k2 * range, window, sigma};
}

SimilarityConstants constants(const Ssim::Config& c) {
  return constants("Ssim", c.data_range, c.k1, c.k2, c.window_size, c.sigma);
}

SimilarityConstants constants(const MsSsim::Config& c) {
  return constants("MsSsim", c.pixel_range, c.k1, c.k2, c.kernel_size, c.sigma);
}

}  // namespace

std::vector<Need> Dice::needs() const { return {{"output"}, {"targets", NeededKind::integer_or_bool}}; }

Measured Dice::record(const StepOutput& output) const {
  const auto& site = client::current_site();
  if (output.output.rank() < 3)
    throw_argument(fmt::format("output {}, expected [batch, classes, ...]", ir::to_string(output.output.type())));
  const auto classes = output.output.dim(1);
  auto answered = answered_mask(output.output);
  auto expected = output.targets;
  if (expected.rank() + 1 == answered.rank() && classes > 1) expected = mask_of_classes(expected, classes);
  if (expected.rank() + 1 == answered.rank()) expected = client::unsqueeze(expected, {1}, site);
  if (expected.shape() != answered.shape()) check_same_shape(output);
  if (config_.include_background && classes < 2) throw_argument("the background needs a class beside it, there is one");
  if (!config_.include_background && classes > 1) {
    answered = client::narrow(answered, 1, 1, classes - 1, site);
    expected = client::narrow(expected, 1, 1, classes - 1, site);
  }
  const auto is_answered = client::cast(answered, DType::bool_, site);
  const auto is_expected = client::cast(expected, DType::bool_, site);
  const auto count = [&](const Value& mask) { return client::reduce_all(ir::ReduceFn::sum, mask, site); };
  const Value counts[] = {count(client::bool_and(is_answered, is_expected)), count(is_answered), count(is_expected)};
  return Measured{{client::concat(counts, 0, site)}};
}

double Dice::value() const {
  if (counts().empty()) return ratio(0, 0);
  return (2 * counts()[0] + config_.epsilon) / (counts()[1] + counts()[2] + config_.epsilon);
}

void Dice::load_state(std::span<const double> state) {
  check_counts(*this, state, 3);
  CountedMetric::load_state(state);
}

std::vector<Need> ImageMetric::needs() const {
  return {{"output", NeededKind::floating, {4}}, {"targets", NeededKind::floating, {4}}};
}

void ImageMetric::take(const MeasuredBatch& batch) {
  double sum = 0;
  const auto images = batch.tensors[0].as_slice<float>();
  for (const auto image : images) sum += value_of(image);
  const double counts[] = {sum, static_cast<double>(images.size())};
  add_counts(counts);
}

void ImageMetric::load_state(std::span<const double> state) {
  check_counts(*this, state, 2);
  CountedMetric::load_state(state);
}

Psnr::Psnr(const Config& config) : ImageMetric(fmt::format("PSNR@{}", config.max_pixel_val)), config_(config) {
  if (!(config.max_pixel_val > 0))
    throw_argument(fmt::format("Psnr: max_pixel_val is {}, must be > 0", config.max_pixel_val));
  if (!(config.epsilon > 0)) throw_argument(fmt::format("Psnr: epsilon is {}, must be > 0", config.epsilon));
}

Psnr Psnr::with_name(std::string name) const {
  auto result = *this;
  result.set_name(std::move(name));
  return result;
}

Measured Psnr::record(const StepOutput& output) const {
  check_same_shape(output);
  const auto difference = planes(output.output) - planes(output.targets);
  return Measured{{mean_of_images(difference * difference, output.output.dim(0))}};
}

double Psnr::value_of(float mse) const {
  const double error = std::max(static_cast<double>(mse), config_.epsilon);
  return 10 * std::log10(config_.max_pixel_val * config_.max_pixel_val / error);
}

Ssim::Ssim(const Config& config)
    : ImageMetric(fmt::format("SSIM (dr={}, w={}, σ={})", config.data_range, config.window_size, config.sigma)),
      config_(config) {
  (void)constants(config);
}

Ssim Ssim::with_name(std::string name) const {
  auto result = *this;
  result.set_name(std::move(name));
  return result;
}

Measured Ssim::record(const StepOutput& output) const {
  check_same_shape(output);
  const auto found = similarity(planes(output.output), planes(output.targets), constants(config_));
  return Measured{{mean_of_images(found.luminance * found.contrast_structure, output.output.dim(0))}};
}

MsSsim::MsSsim(double pixel_range)
    : MsSsim([&] {
        Config config;
        config.pixel_range = pixel_range;
        return config;
      }()) {}

MsSsim::MsSsim(Config config)
    : ImageMetric(fmt::format("MS-SSIM (pr={}, k={}, σ={})", config.pixel_range, config.kernel_size, config.sigma)),
      config_(std::move(config)) {
  (void)constants(config_);
  if (config_.betas.empty()) throw_argument("MsSsim: there are no betas, one is needed for each scale");
  if (std::ranges::any_of(config_.betas, [](double beta) { return !(beta >= 0); }))
    throw_argument("MsSsim: a beta is negative");
}

MsSsim MsSsim::with_name(std::string name) const {
  auto result = *this;
  result.set_name(std::move(name));
  return result;
}

Measured MsSsim::record(const StepOutput& output) const {
  const auto& site = client::current_site();
  check_same_shape(output);
  const auto smallest = config_.kernel_size << (config_.betas.size() - 1);
  if (output.output.dim(2) < smallest || output.output.dim(3) < smallest) {
    throw_argument(fmt::format("images of {} x {} pixels, at least {} x {} are needed for {} scales of a kernel of {}",
                               output.output.dim(2), output.output.dim(3), smallest, smallest, config_.betas.size(),
                               config_.kernel_size));
  }
  auto x = planes(output.output), y = planes(output.targets);
  const ir::AvgPool halve{.kernel = {2, 2}, .stride = {2, 2}, .padding = {0, 0}};
  Value product;  // [batch * channels, 1, 1, 1]
  for (std::size_t scale = 0; scale < config_.betas.size(); ++scale) {
    const bool is_last = scale + 1 == config_.betas.size();
    const auto found = similarity(x, y, constants(config_));
    const auto places = is_last ? found.luminance * found.contrast_structure : found.contrast_structure;
    const auto factor = client::pow(client::max(client::mean(places, {1, 2, 3}, site), 0.0), config_.betas[scale]);
    product = scale == 0 ? factor : product * factor;
    if (is_last) break;
    x = client::avg_pool(x, halve, site);
    y = client::avg_pool(y, halve, site);
  }
  return Measured{{mean_of_images(product, output.output.dim(0))}};
}

}  // namespace burn::metric
