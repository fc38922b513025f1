#include "examples/modern-lstm/train.h"

#include <cmath>

namespace modern_lstm {
namespace {

// The square root of the mean square error over all items.
class RootMeanSquare : public metric::MeanMetric {
 public:
  std::string name() const override { return "RMSE"; }
  std::string label() const override { return "rmse"; }
  bool higher_is_better() const override { return false; }
  std::vector<metric::Need> needs() const override { return {{"output"}, {"targets"}}; }
  Tensor<1> measure(const burn::train::StepOutput& output) const override {
    return (output.output_as<2>() - output.targets_as<2>()).square().mean();
  }
  double value() const override { return std::sqrt(MeanMetric::value()); }
};

}  // namespace

Trained train(const Options& options) {
  const Device device{options.device};
  device.seed(options.seed);
  const auto loader = [&](std::size_t count, std::uint64_t seed, bool shuffled) {
    auto builder = data::DataLoaderBuilder(SequenceBatcher{device}).batch_size(options.batch_size);
    if (shuffled) builder.shuffle(options.seed);
    return builder.build(
        data::InMemDataset<Sequence>(make_sequences(count, options.length, options.noise, options.seed + seed)));
  };
  auto training = burn::train::SupervisedTraining(options.artifacts, loader(options.sequences, 1, true),
                                                  loader(options.sequences / 4, 2, false))
                      .metrics(RootMeanSquare{}, metric::Loss{}, metric::LearningRate{}, metric::IterationSpeed{})
                      .early_stopping({.metric = "RMSE", .patience = 5})
                      .interrupter(burn::train::Interrupter::on_ctrl_c())
                      .epochs(options.epochs)
                      .seed(options.seed);
  if (options.renderer) training.renderer(options.renderer);
  if (!options.dashboard.empty()) training.dashboard(options.dashboard);
  const auto steps = static_cast<std::int64_t>((options.sequences + options.batch_size - 1) / options.batch_size);
  const auto result = training.launch(burn::train::Learner(
      options.net.init(device.autodiff()), optim::AdamConfig{.grad_clipping = {{.norm = 1}}},
      lr::Cosine{.initial = options.lr, .min_lr = options.lr / 50, .steps = options.epochs * steps}));
  auto best = result.report.best ? result.best().model : result.model;

  burn::train::Evaluator evaluator(options.artifacts);
  evaluator.metrics(RootMeanSquare{});
  if (options.renderer) evaluator.renderer(options.renderer);
  const auto test = evaluator.eval("test", best, loader(options.sequences / 4, 3, false));
  double before = 1, size = 1;
  for (std::size_t i = 2; i < options.length; ++i) size += std::exchange(before, size);
  return {std::move(best), test.value("RMSE"), options.noise / size};
}

}  // namespace modern_lstm
