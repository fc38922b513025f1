// A custom renderer: each epoch is one line, with a dot for each tenth of a pass.
//
//   epoch 1/3  train ..........  valid ..........  valid loss 0.1613 acc 95.4 %  (train loss 0.4216 acc 86.7 %)
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "burn/burn.h"
#include "examples/guide/model.h"

namespace custom_renderer {

using namespace burn;

// Called by the training's event thread, never by the thread that trains. `out` must outlive it.
class DotsRenderer final : public train::Renderer {
 public:
  explicit DotsRenderer(std::ostream& out) : out_(out) {}

  // Called up to 50 times a second, not for every batch.
  void progress(const train::Progress& progress) override {
    begin(progress.epoch, progress.epochs, progress.split);
    if (progress.total_items > 0) dots_until(kDots * progress.items / progress.total_items);
  }
  void epoch(const train::EpochSummary& summary) override {
    begin(summary.epoch, summary.epochs, summary.valid.empty() ? Split::train : Split::valid);
    end_pass();
    is_in_line_ = false;
    if (!summary.valid.empty()) out_ << "  valid" << values(summary.valid);
    out_ << "  (train" << values(summary.train) << ")" << std::endl;
  }
  void message(const std::string& text) override {
    out_ << (is_in_line_ ? "\n" : "") << "! " << text << std::endl;
    is_in_line_ = false;
  }
  void summary(const std::vector<train::MetricSummary>& metrics) override {
    for (const auto& one : metrics) {
      out_ << name(one.split) << ' ' << one.name << ": from " << one.min << " (epoch " << one.min_epoch << ") to "
           << one.max << " (epoch " << one.max_epoch << ")" << std::endl;
    }
  }

 private:
  static constexpr std::int64_t kDots = 10;

  static std::string values(const std::vector<train::ShownValue>& values) {
    std::string text;
    for (const auto& [label, value] : values) text += " " + label + " " + value;
    return text;
  }
  // Starts the line of the epoch, and within it the pass over the split, unless they have been started.
  void begin(std::int64_t epoch, std::int64_t epochs, Split split) {
    if (!is_in_line_) {
      out_ << "epoch " << epoch << '/' << epochs;
      split_.reset();
    }
    is_in_line_ = true;
    if (split_ == split) return;
    if (split_) end_pass();
    split_ = split;
    dots_ = 0;
    out_ << "  " << name(split) << ' ';
  }
  void end_pass() { dots_until(kDots); }
  void dots_until(std::int64_t count) {
    for (; dots_ < std::min(count, kDots); ++dots_) out_ << '.';
    out_ << std::flush;
  }

  std::ostream& out_;
  bool is_in_line_ = false;     // the current line, of an epoch, is not complete
  std::optional<Split> split_;  // the split whose pass was started in this line
  std::int64_t dots_ = 0;       // dots printed for this pass
};

struct Options {
  std::string device = "cpu";
  std::filesystem::path artifacts = "runs/custom-renderer";
  std::int64_t epochs = 3;
  std::size_t train_images = 8000, test_images = 2000;
};

// Trains the guide's network with this renderer. Returns the accuracy of the last epoch, in percent.
inline double train(const Options& options, std::ostream& out) {
  const Device device{options.device};
  device.seed(1);
  auto builder = data::DataLoaderBuilder(guide::MnistBatcher{device}).batch_size(64).num_workers(2);
  const auto valid = builder.build(data::DigitsDataset(options.test_images, 2));
  const auto loader = builder.shuffle(1).build(data::DigitsDataset(options.train_images, 1));
  const auto result =
      train::SupervisedTraining(options.artifacts, loader, valid)
          .metrics(metric::Loss{}, metric::Accuracy{})
          .renderer(std::make_shared<DotsRenderer>(out))
          .epochs(options.epochs)
          .seed(1)
          .summary()
          .launch(train::Learner(guide::NetConfig{}.init(device.autodiff()), optim::AdamConfig{}, 1e-3));
  return result.report.history.back().valid.at(1);
}

}  // namespace custom_renderer
