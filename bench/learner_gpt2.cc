// Checkpoints of a large model while the learner trains it: GPT-2's smallest with AdamW on a GPU, 124 million
// parameters and 1.5 GB a checkpoint; elsewhere one of 8 million, which the writer streams from the device just as
// well.
//
// Each step ends with the device at rest, so that its time is its own, and every few seconds a checkpoint is written
// beside the steps. The first checkpoint is left out of neither row: the step after it is planned.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>

#include <unistd.h>

#include "bench/gpt2.h"
#include "bench/models.h"

namespace burn::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct Span {
  Clock::time_point begin, end;
  std::chrono::duration<double> seconds() const { return end - begin; }
};

// /proc/self/status, in MiB: "VmRSS", "VmHWM".
double memory_mib(const std::string& name) {
  std::ifstream status("/proc/self/status");
  std::string word;
  double kib = 0;
  while (status >> word) {
    if (word == name + ":" && status >> kib) return kib / 1024;
  }
  throw std::runtime_error("learner_gpt2: /proc/self/status has no " + name);
}

// Records when each checkpoint was written, and by how much this process grew meanwhile.
class TimedCheckpointer : public train::FileCheckpointer {
 public:
  using FileCheckpointer::FileCheckpointer;

  void save(const std::string& name, const train::Checkpoint& checkpoint) override {
    std::ofstream("/proc/self/clear_refs") << 5;  // resets VmHWM
    const double before = memory_mib("VmRSS");
    const auto begin = Clock::now();
    FileCheckpointer::save(name, checkpoint);
    const std::scoped_lock lock{mutex_};
    writes_.push_back({begin, Clock::now()});
    growths_.push_back(std::max(memory_mib("VmHWM") - before, 0.0));
  }
  std::vector<Span> writes() const {
    const std::scoped_lock lock{mutex_};
    return writes_;
  }
  std::vector<double> growths() const {
    const std::scoped_lock lock{mutex_};
    return growths_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Span> writes_;
  std::vector<double> growths_;
};

struct TimesSteps : train::Callback {
  explicit TimesSteps(Device d) : device(std::move(d)) {}
  Device device;
  Clock::time_point last = Clock::now();
  std::vector<Span> steps;
  std::string name() const override { return "TimesSteps"; }
  void step(train::Run&) override {
    device.sync();
    const auto now = Clock::now();
    steps.push_back({std::exchange(last, now), now});
  }
};

struct Text {
  Tensor<2, Int> tokens;  // [pieces, length + 1]
};
struct LossOutput {
  Tensor<1> loss;
  train::StepOutput step_output() const { return train::StepOutput{.loss = loss.value(), .items = 1}; }
};
struct Trained {
  gpt2::Gpt2 net;
  BURN_MODULE(Trained, net)

  LossOutput step(const Text& text) const {
    const auto length = text.tokens.dim(1) - 1;
    return {net.loss(text.tokens.narrow(1, 0, length), text.tokens.narrow(1, 1, length))};
  }
};

struct Run {
  std::vector<Span> steps, writes;
  std::vector<double> growths;  // MiB, for each write
};

Run run(const Context& c) {
  const Device ad = c.device.autodiff();
  ad.seed(1);
  const gpt2::Gpt2Config config = c.gpu ? kGpt2 : gpt2::Gpt2Config{8192, 32, 384, 6, 3};
  const std::int64_t pieces = c.gpu ? kPieces : 1;
  const auto numbers = [&] {  // meaningless tokens
    std::vector<std::int64_t> tokens(static_cast<std::size_t>(pieces * (config.context + 1)));
    for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<std::int64_t>(i * i % 8191);
    return std::make_shared<const TensorData>(std::move(tokens),
                                              std::initializer_list<std::int64_t>{pieces, config.context + 1});
  }();
  const auto batch = [ad, numbers](std::span<const std::size_t>) {
    return Text{Tensor<2, Int>::from_data(*numbers, ad)};
  };
  const data::DataLoader<Text> loader{batch, 100'000, {.batch_size = 1}};
  const auto folder = fs::temp_directory_path() / ("burn-bench-learner-gpt2-" + std::to_string(::getpid()));
  const auto noting = std::make_shared<TimedCheckpointer>(folder / "checkpoint");
  const auto times = std::make_shared<TimesSteps>(c.device);
  auto training = train::SupervisedTraining(folder, loader)
                      .renderer(std::make_shared<train::SilentRenderer>())
                      .callbacks(times)
                      .checkpointer(noting)
                      .checkpoints(train::KeepLast{1}, train::EveryTime{std::chrono::seconds{c.gpu ? 6 : 2}})
                      .max_time(std::chrono::duration<double>{c.seconds + 12});
  if (c.gpu) training.autocast(DType::bf16);
  (void)training.launch(train::Learner(Trained{config.init(ad)}, gpt2_optimizer(), 1e-4));
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return {times->steps, noting->writes(), noting->growths()};
}

// The longest step during the writing of a checkpoint, divided by the median of the other steps.
std::vector<double> longest_step(const Context& c) {
  const auto [steps, writes, growths] = run(c);
  const auto is_within = [](const Span& step, const Span& write) {
    return step.begin < write.end && write.begin < step.end;
  };
  std::vector<double> undisturbed;
  for (const auto& step : steps) {
    if (std::ranges::none_of(writes, [&](const Span& write) { return is_within(step, write); }))
      undisturbed.push_back(step.seconds().count());
  }
  if (undisturbed.empty()) throw std::runtime_error("gpt2_checkpoint_step: every step had a checkpoint beside it");
  std::ranges::sort(undisturbed);
  double longest = 0;
  for (const auto& step : steps) {
    if (std::ranges::any_of(writes, [&](const Span& write) { return is_within(step, write); }))
      longest = std::max(longest, step.seconds().count());
  }
  if (longest == 0) throw std::runtime_error("gpt2_checkpoint_step: too little time for a checkpoint");
  return {longest / undisturbed[undisturbed.size() / 2]};
}

// The largest growth of this process while a checkpoint is written: the part of it that is held in memory at a time.
std::vector<double> staging(const Context& c) {
  const auto growths = run(c).growths;
  if (growths.empty()) throw std::runtime_error("gpt2_checkpoint_staging: too little time for a checkpoint");
  return {*std::ranges::max_element(growths)};
}

}  // namespace

void add_learner_gpt2(std::vector<Benchmark>& list) {
  list.push_back({"gpt2_checkpoint_step", "ratio", "lower", longest_step, true});
  list.push_back({"gpt2_checkpoint_staging", "MiB", "lower", staging, true});
}

}  // namespace burn::bench
