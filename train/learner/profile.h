// How the training thread spends its time: always measured, with a few clock reads per step.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace burn::train {

// The thread's activity. `data`: waits for the loader, or makes the batch if the loader has no workers. `recording`:
// records and sends the program. `device`: waits for the device, for results or because it is far enough ahead.
enum class Phase : std::uint8_t { data, recording, device, validation, checkpoint, other };
inline constexpr std::size_t kPhases = 6;
std::string_view name(Phase phase);  // "waiting for data", ...

// Seconds by phase.
struct Profile {
  std::array<double, kPhases> seconds{};
  std::int64_t workers = 0, cores = 0;  // threads of the training loader; cores of this machine

  double of(Phase phase) const { return seconds[static_cast<std::size_t>(phase)]; }
  double total() const;
  // "recording 12 %, waiting for the device 85 %, ...", the largest first.
  std::string shares() const;
  // One sentence about the phase that takes most of the time, and how to reduce it.
  std::string advice() const;
};

// One thread. The time between two calls of begin() is counted for the phase of the first call.
class PhaseClock {
 public:
  PhaseClock() : since_(Clock::now()) {}
  // Ends the current phase and begins another.
  void begin(Phase phase) { begin(phase, Clock::now()); }
  // Attributes `seconds` of the current phase to another one.
  void move(double seconds, Phase phase);
  const Profile& profile() const { return profile_; }
  Profile& profile() { return profile_; }

 private:
  using Clock = std::chrono::steady_clock;
  void begin(Phase phase, Clock::time_point now) {
    profile_.seconds[static_cast<std::size_t>(phase_)] += std::chrono::duration<double>(now - since_).count();
    phase_ = phase;
    since_ = now;
  }

  Profile profile_;
  Phase phase_ = Phase::other;
  Clock::time_point since_;
};

}  // namespace burn::train
