#include "train/learner/profile.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace burn::train {
namespace {

constexpr std::array<std::string_view, kPhases> kNames = {
    "waiting for data", "recording and sending", "waiting for the device", "validation", "checkpoints", "other"};

int percent(double part, double whole) { return whole > 0 ? static_cast<int>(std::lround(100 * part / whole)) : 0; }

}  // namespace

std::string_view name(Phase phase) { return kNames[static_cast<std::size_t>(phase)]; }

double Profile::total() const { return std::accumulate(seconds.begin(), seconds.end(), 0.0); }

std::string Profile::shares() const {
  std::array<std::size_t, kPhases> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return seconds[a] > seconds[b]; });
  std::string text;
  for (const auto phase : order) {
    if (const int share = percent(seconds[phase], total()); share > 0)
      text += fmt::format("{}{} {} %", text.empty() ? "" : ", ", kNames[phase], share);
  }
  return text;
}

std::string Profile::advice() const {
  const auto share = [this](Phase phase) { return percent(of(phase), total()); };
  constexpr int kNotable = 10;  // percent
  // The phase with the largest share among those that the user can reduce.
  constexpr std::array kMendable{Phase::data, Phase::recording, Phase::validation, Phase::checkpoint};
  const auto largest = *std::ranges::max_element(kMendable, {}, [this](Phase phase) { return of(phase); });
  if (largest == Phase::data && share(largest) >= kNotable) {
    if (workers == 0) {
      return fmt::format(
          "{} % of the time goes into making batches on the thread that trains: give the loader "
          "num_workers; this machine has {} cores",
          share(Phase::data), cores);
    }
    return fmt::format("{} % of the time waits for the loader: it has {} workers on {} cores", share(Phase::data),
                       workers, cores);
  }
  if (largest == Phase::checkpoint && share(largest) >= kNotable) {
    return fmt::format("{} % of the time goes into checkpoints: write them less often, or to a faster disk",
                       share(Phase::checkpoint));
  }
  if (largest == Phase::recording && share(largest) >= 50) {
    return fmt::format(
        "{} % of the time goes into recording the steps: capture() of a loop of your own records once "
        "(docs/fast-loops.md), and larger batches are recorded less often",
        share(Phase::recording));
  }
  if (largest == Phase::validation && share(largest) >= 50) {
    return fmt::format("{} % of the time goes into validation: limit_batches() or a smaller split makes it shorter",
                       share(Phase::validation));
  }
  if (of(Phase::other) > of(Phase::device)) {
    return fmt::format("{} % of the time goes into the start, the end and callbacks: a longer training says more",
                       share(Phase::other));
  }
  return fmt::format("the device is the limit: {} % of the time waits for it", share(Phase::device));
}

void PhaseClock::move(double seconds, Phase phase) {
  profile_.seconds[static_cast<std::size_t>(phase_)] -= seconds;
  profile_.seconds[static_cast<std::size_t>(phase)] += seconds;
}

}  // namespace burn::train
