// Chooses among several ways to compute the same by timing them, and remembers the choice, in the process and on disk.
//
// The first call for a key times every candidate on the call's own operands, all in that call: afterwards the choice is
// fixed for as long as the process lives, so one program gives the same bits from run to run. Between processes it is
// the file that keeps it. What can change results in their last digits is therefore: another machine, number of threads
// or version; a file that was removed or could not be written; BURN_AUTOTUNE.
#pragma once

#include <condition_variable>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace burn::backends {

// Thread-safe. Calls for different keys may overlap, and then disturb each other's timings; those for one key wait for
// the first.
class Autotune {
 public:
  // Without a file, choices live in memory alone. Disabled, the first candidate is always taken.
  explicit Autotune(std::filesystem::path file, bool enabled = true) : enabled_(enabled), file_(std::move(file)) {}
  Autotune(const Autotune&) = delete;
  Autotune& operator=(const Autotune&) = delete;

  // The position of the best of `names` for `key`. `run(i)` computes the whole with candidate i; it may be called any
  // number of times, and candidates that fail are not chosen: the first where all fail, for this process. Throws
  // Interrupted (backends/interrupt.h) where the calling thread's run is to end, between candidates and while it waits
  // for another's. Requires: a key without tabs and line ends.
  int choose(std::string_view key, std::span<const std::string_view> names, const std::function<Status(int)>& run);
  // The same for what has a clock of its own: `seconds(i)` is how long candidate i took.
  int choose_timed(std::string_view key, std::span<const std::string_view> names,
                   const std::function<Result<double>(int)>& seconds);

  static constexpr std::size_t kMaxKeys = 4096;  // then all is forgotten and begun anew

 private:
  struct Entry {
    std::string name;         // empty: being timed
    bool is_measured = true;  // else all candidates failed, which is not kept on disk
  };
  void load();  // what the file has and memory has not; damaged lines are passed over. Requires: mutex_ held.
  void save();  // Requires: mutex_ held.

  const bool enabled_;
  const std::filesystem::path file_;
  std::mutex mutex_;
  std::condition_variable decided_;
  bool is_loaded_ = false;
  std::map<std::string, Entry, std::less<>> entries_;
};

// $XDG_CACHE_HOME/burn/autotune-DEVICE-VERSION.txt, or under ~/.cache; empty where there is no home.
std::filesystem::path autotune_file(std::string_view device);

// BURN_AUTOTUNE is not "off".
bool autotune_is_wanted();

}  // namespace burn::backends
