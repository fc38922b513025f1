// The learner beside a loop by hand: the same model, batches, clipping and averages; the learner also measures four
// metrics, tells its events to a logger, and writes a checkpoint every ten seconds.
//
// A sample is the mean over ten steps, or over a hundred on a GPU, as in steps.cc. The rows _p99 are one number: the
// 99th percentile of single steps over their median.
#include <algorithm>
#include <filesystem>
#include <memory>

#include <unistd.h>

#include "bench/models.h"

namespace burn::bench {
namespace {

using Clock = std::chrono::steady_clock;

struct Batch {
  Tensor<2> images;        // [batch, features]
  Tensor<1, Int> targets;  // [batch]
};

// Each batch is the same, and is uploaded anew.
template <typename Net>
data::DataLoader<Batch> loader_of(const Device& device, std::int64_t batch, std::size_t batches) {
  const auto numbers = std::make_shared<const std::pair<TensorData, TensorData>>(batch_data<Net>(batch));
  const auto make = [device, numbers](std::span<const std::size_t>) {
    return Batch{Tensor<2>::from_data(numbers->first, device), Tensor<1, Int>::from_data(numbers->second, device)};
  };
  const auto size = static_cast<std::size_t>(batch);
  return {make, size * batches, {.batch_size = size}};
}

template <typename Net>
struct Trained {
  Net net;
  BURN_MODULE(Trained, net)

  train::ClassificationOutput step(const Batch& batch) const {
    const auto output = net.forward(batch.images);
    return {nn::CrossEntropyLoss{}(output, batch.targets), output, batch.targets};
  }
};

// When each step was sent.
struct StepTimes : train::Callback {
  std::vector<Clock::time_point> times;
  std::string name() const override { return "StepTimes"; }
  void step(train::Run&) override { times.push_back(Clock::now()); }
};

struct Counting : train::events::EventSink {
  std::int64_t events = 0;
  void event(const train::events::Event&) override { ++events; }
};

enum class Extras { none, averages_and_clipping };

constexpr std::size_t kEpoch = 200;  // batches
constexpr double kClip = 1;
constexpr optim::Ema kEma{.decay = 0.999};

template <typename Net>
std::vector<Clock::time_point> learner_times(const Context& c, std::int64_t batch, Extras extras) {
  const Device ad = c.device.autodiff();
  ad.seed(1);
  const auto folder = std::filesystem::temp_directory_path() / ("burn-bench-learner-" + std::to_string(::getpid()));
  const auto times = std::make_shared<StepTimes>();
  auto training = train::SupervisedTraining(folder, loader_of<Net>(ad, batch, kEpoch))
                      .renderer(std::make_shared<train::SilentRenderer>())
                      .logger(std::make_shared<Counting>())
                      .callbacks(times)
                      .epochs(1'000'000)
                      .max_time(std::chrono::duration<double>{c.seconds + 1});
  if (extras == Extras::averages_and_clipping) {
    training.metrics(metric::Loss{}, metric::Accuracy{}, metric::TopKAccuracy{5}, metric::LearningRate{})
        .clip_norm(kClip)
        .ema(kEma)
        .checkpoints(train::KeepLast{1}, train::EveryTime{std::chrono::seconds{10}});
  } else {
    training.checkpoints(std::nullopt);
  }
  (void)training.launch(train::Learner(Trained<Net>{Net::init(ad)}, optim::AdamConfig{}, 1e-3));
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return times->times;
}

template <typename Net>
std::vector<Clock::time_point> loop_times(const Context& c, std::int64_t batch, Extras extras) {
  const Device ad = c.device.autodiff();
  ad.seed(1);
  Net net = Net::init(ad);
  auto optim = optim::AdamConfig{}.init<Net>();
  auto average = kEma.init(net);
  auto loader = loader_of<Net>(ad, batch, kEpoch);
  std::vector<Clock::time_point> times;
  const auto end = Clock::now() + std::chrono::duration<double>{c.seconds + 1};
  while (Clock::now() < end) {
    for (const auto& made : loader) {
      const auto loss = nn::CrossEntropyLoss{}(net.forward(made.images), made.targets);
      auto gradients = optim::GradientsParams::from_grads(loss.backward(), net);
      if (extras == Extras::averages_and_clipping) {
        (void)gradients.clip_norm(kClip);
        net = optim.step(1e-3, std::move(net), std::move(gradients), average);
      } else {
        net = optim.step(1e-3, std::move(net), std::move(gradients));
      }
      times.push_back(Clock::now());
    }
  }
  ad.sync();
  return times;
}

// After a second, in which plans are made: the mean of each so many steps, in microseconds.
std::vector<double> means(const std::vector<Clock::time_point>& times, std::size_t steps) {
  std::vector<double> samples;
  const auto begin = std::ranges::lower_bound(times, times.front() + std::chrono::seconds{1});
  for (auto at = begin; times.end() - at > static_cast<std::ptrdiff_t>(steps);
       at += static_cast<std::ptrdiff_t>(steps)) {
    const std::chrono::duration<double, std::micro> took = *(at + static_cast<std::ptrdiff_t>(steps)) - *at;
    samples.push_back(took.count() / static_cast<double>(steps));
  }
  return samples;
}

std::vector<double> p99_over_median(const std::vector<Clock::time_point>& times) {
  auto samples = means(times, 1);
  std::ranges::sort(samples);
  return {samples[samples.size() * 99 / 100] / samples[samples.size() / 2]};
}

template <typename Net>
void add(std::vector<Benchmark>& list, const std::string& name) {
  const auto steps = [](const Context& c) { return std::size_t{c.gpu ? 100U : 10U}; };
  const auto all = Extras::averages_and_clipping, none = Extras::none;
  list.push_back(
      {name, "us", "lower", [=](const Context& c) { return means(learner_times<Net>(c, 64, all), steps(c)); }});
  list.push_back(
      {name + "_loop", "us", "lower", [=](const Context& c) { return means(loop_times<Net>(c, 64, all), steps(c)); }});
  list.push_back({name + "_plain", "us", "lower",
                  [=](const Context& c) { return means(learner_times<Net>(c, 64, none), steps(c)); }});
  list.push_back({name + "_plain_loop", "us", "lower",
                  [=](const Context& c) { return means(loop_times<Net>(c, 64, none), steps(c)); }});
  list.push_back({name + "_p99", "ratio", "lower",
                  [=](const Context& c) { return p99_over_median(learner_times<Net>(c, 64, all)); }});
}

}  // namespace

void add_learner(std::vector<Benchmark>& list) {
  add<Mlp>(list, "learner_mlp64");
  add<Cnn>(list, "learner_cnn64");
}

}  // namespace burn::bench
