// Where the time of the thread that trains goes: counted always, at the cost of a few looks at the clock per step.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace burn::train {

// What the thread is about. `data`: waits for the loader, or makes the batch where it has no workers. `recording`: says
// what is to be computed, and sends it. `device`: waits for the device, for numbers or because it is far enough ahead.
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
  // One sentence about what takes most of the time, and what to do about it.
  std::string advice() const;
};

// One thread. Between two calls of begin() the time belongs to the phase of the first.
class PhaseClock {
 public:
  PhaseClock() : since_(Clock::now()) {}
  // Ends the phase under way.
  void begin(Phase phase) { begin(phase, Clock::now()); }
  // So much of the phase under way was another one's.
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
