#include "examples/dqn/train.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <ostream>
#include <random>

#include <fmt/format.h>

#include "examples/dqn/replay.h"

namespace dqn {
namespace {

Tensor<2> upload(const std::vector<State>& states, const Device& device) {
  std::vector<float> numbers;
  for (const auto& state : states) numbers.insert(numbers.end(), state.begin(), state.end());
  return Tensor<2>::from_data(TensorData(std::move(numbers), {static_cast<std::int64_t>(states.size()), 4}), device);
}

// The best action of each state.
std::vector<std::int64_t> best_actions(const QNet& net, const std::vector<State>& states, const Device& device) {
  return net.forward(upload(states, device)).argmax(1).to_data().to_vec<std::int64_t>();
}

// A batch of transitions, as tensors.
struct Batch {
  Tensor<2> states, next;     // [batch, 4]
  Tensor<2, Int> actions;     // [batch, 1]
  Tensor<2> rewards, follow;  // [batch, 1]; follow: 0 where no reward follows, else 1
};

void capture_fields(burn::client::CaptureState& state, Batch& batch) {
  state.fields(batch.states, batch.next, batch.actions, batch.rewards, batch.follow);
}

Batch draw(const Replay& replay, std::int64_t size, std::mt19937_64& rng, const Device& device) {
  std::vector<State> states, next;
  std::vector<std::int64_t> actions;
  std::vector<float> rewards, follow;
  for (std::int64_t i = 0; i < size; ++i) {
    const auto& one = replay.draw(rng);
    states.push_back(one.state);
    next.push_back(one.next);
    actions.push_back(one.action);
    rewards.push_back(one.reward);
    follow.push_back(one.is_final ? 0 : 1);
  }
  return {upload(states, device), upload(next, device),
          Tensor<2, Int>::from_data(TensorData(std::move(actions), {size, 1}), device),
          Tensor<2>::from_data(TensorData(std::move(rewards), {size, 1}), device),
          Tensor<2>::from_data(TensorData(std::move(follow), {size, 1}), device)};
}

double exploration(const Options& options, std::int64_t step) {
  const double share = static_cast<double>(step - options.warmup) / static_cast<double>(options.explore_steps);
  return std::lerp(options.explore_first, options.explore_last, std::clamp(share, 0.0, 1.0));
}

// One optimizer step, recorded once (client/capture/capture.h); then the target network moves by `tau` toward the new
// parameters. The target for a transition is its reward plus the discounted value that the target network assigns to
// the action that the trained network would take next.
auto captured_step(const Device& device, const Options& options) {
  return burn::capture(device, [gamma = options.gamma, tau = options.tau](QNet& net, QNet& target,
                                                                          optim::Optimizer<QNet>& optim, Scalar lr,
                                                                          const Batch& batch) {
    const auto next_actions = net.forward(batch.next).detach().argmax(1);                  // [batch, 1]
    const auto next_values = target.forward(batch.next).gather(1, next_actions).detach();  // [batch, 1]
    const auto wanted = batch.rewards + batch.follow * next_values * gamma;
    const auto values = net.forward(batch.states).gather(1, batch.actions);
    const auto loss = nn::HuberLossConfig{.delta = 1}.init()(values, wanted, nn::Reduction::mean);
    auto gradients = optim::GradientsParams::from_grads(loss.backward(), net);
    (void)gradients.clip_norm(10);  // the norm is not reported
    net = optim.step(lr, std::move(net), std::move(gradients));
    nn::for_each_pair(net, target,
                      [tau](const std::string&, const auto& now, auto& slow) { slow = slow * (1 - tau) + now * tau; });
  });
}

void check(const Options& options) {
  const auto refuse = [](const std::string& what) {
    throw burn::Error(burn::StatusCode::invalid_argument, "dqn: " + what);
  };
  if (options.environments < 1) refuse("at least one environment is needed");
  if (options.batch < 1 || options.replay < options.batch) refuse("the replay must hold a batch, of 1 or more");
  if (options.warmup < options.batch) refuse("the warm-up must give a batch to learn from");
}

// Reports the progress of a training, about ten times.
class Report {
 public:
  Report(const Options& options, std::ostream& out) : options_(options), out_(out) {}

  void episode(double reward, int steps) {
    reward_.add_number(reward);
    length_.add_number(steps);
    lately_.push_back(reward);
    if (lately_.size() > 100) lately_.pop_front();
  }
  void step(std::int64_t steps, double explored) {
    explored_.add_number(explored);
    const auto every = std::max<std::int64_t>(options_.steps / 10, 1);
    if (steps / every == said_) return;
    said_ = steps / every;
    out_ << fmt::format("step {:6}  reward {}  episodes of {}  exploring {}\n", steps, reward_.text(), length_.text(),
                        explored_.text())
         << std::flush;
    for (metric::Metric* metric : std::initializer_list<metric::Metric*>{&reward_, &length_, &explored_})
      metric->reset();
  }
  // The mean reward of the last 100 episodes; 0 before the first has ended.
  double reward() const {
    return std::accumulate(lately_.begin(), lately_.end(), 0.0) /
           static_cast<double>(std::max<std::size_t>(lately_.size(), 1));
  }

 private:
  const Options& options_;
  std::ostream& out_;
  std::deque<double> lately_;
  std::int64_t said_ = 0;
  metric::CumulativeReward reward_;  // since the last line, like the others
  metric::EpisodeLength length_;
  metric::ExplorationRate explored_;
};

}  // namespace

Trained train(const Options& options, std::ostream& out) {
  check(options);
  const Device device = Device{options.device}.autodiff();
  device.seed(options.seed);
  std::mt19937_64 rng{options.seed};
  QNet net = QNetConfig{}.init(device);
  QNet target = net.no_grad();
  auto optim = optim::AdamConfig{.epsilon = 1e-8}.init<QNet>();
  auto learn = captured_step(device, options);
  std::vector<CartPole> carts;
  for (std::int64_t i = 0; i < options.environments; ++i)
    carts.emplace_back(options.seed + static_cast<std::uint64_t>(i));
  Replay replay{static_cast<std::size_t>(options.replay)};
  Report report{options, out};
  std::uniform_real_distribution<double> share(0, 1);
  const lr::Linear rate{
      .initial = options.lr, .final_lr = options.lr / 100, .steps = std::max<std::int64_t>(options.steps, 1)};
  for (std::int64_t step = 0; step < options.steps; step += options.environments) {
    const double explored = exploration(options, step);
    std::vector<State> states;
    states.reserve(carts.size());
    for (const auto& cart : carts) states.push_back(cart.state());
    const auto best = best_actions(net.valid(), states, device.inner());
    for (std::size_t i = 0; i < carts.size(); ++i) {
      const bool is_random = share(rng) < explored;
      const int action = is_random ? static_cast<int>(rng() % CartPole::kActions) : static_cast<int>(best[i]);
      const auto [next, reward, is_fallen, is_cut_short] = carts[i].step(action);
      replay.add({states[i], action, reward, next, is_fallen});
      if (!is_fallen && !is_cut_short) continue;
      report.episode(carts[i].steps(), carts[i].steps());  // a reward of 1 for each step
      carts[i].reset();
    }
    if (step >= options.warmup) learn(net, target, optim, rate.at(step), draw(replay, options.batch, rng, device));
    report.step(step + options.environments, explored);
  }
  return {std::move(net), report.reward()};
}

double play(const QNet& net, const Device& device, std::int64_t episodes, std::uint64_t seed) {
  const QNet best = net.valid();
  std::vector<CartPole> carts;
  for (std::int64_t i = 0; i < episodes; ++i) carts.emplace_back(seed + static_cast<std::uint64_t>(i));
  std::vector<bool> is_over(carts.size(), false);
  double steps = 0;
  while (std::ranges::count(is_over, true) < episodes) {
    std::vector<State> states;
    states.reserve(carts.size());
    for (const auto& cart : carts) states.push_back(cart.state());
    const auto actions = best_actions(best, states, device.inner());
    for (std::size_t i = 0; i < carts.size(); ++i) {
      if (is_over[i]) continue;
      is_over[i] = carts[i].step(static_cast<int>(actions[i])).is_over();
      steps += 1;
    }
  }
  return steps / static_cast<double>(episodes);
}

}  // namespace dqn
