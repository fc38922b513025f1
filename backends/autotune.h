// Chooses among several ways to compute the same result by timing them, and remembers the choice in the process and on
// disk.
//
// The first call for a key times every candidate on the call's own operands. Afterwards the choice is fixed for as long
// as the process lives, so one program gives the same bits from run to run. The file keeps choices between processes.
// So results can change in their last digits only with another machine, number of threads or version, if the file was
// removed or could not be written, or with BURN_AUTOTUNE.
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

// Thread-safe. Calls for different keys may overlap and then disturb each other's timings; calls for the same key wait
// for the first.
class Autotune {
 public:
  // Without a file, choices are kept in memory only. If not `enabled`, the first candidate is always chosen.
  explicit Autotune(std::filesystem::path file, bool enabled = true) : enabled_(enabled), file_(std::move(file)) {}
  Autotune(const Autotune&) = delete;
  Autotune& operator=(const Autotune&) = delete;

  // Returns the position of the fastest of `names` for `key`. `run(i)` computes the whole result with candidate i and
  // may be called any number of times. Candidates that fail are not chosen; if all fail, the first one is chosen, for
  // this process only. Throws Interrupted (backends/interrupt.h), between candidates and while waiting for another
  // thread's timing, if the calling thread's run has to end. Requires: a key without tabs and line ends.
  int choose(std::string_view key, std::span<const std::string_view> names, const std::function<Status(int)>& run);
  // The same for candidates that measure themselves: `seconds(i)` returns how long candidate i took.
  int choose_timed(std::string_view key, std::span<const std::string_view> names,
                   const std::function<Result<double>(int)>& seconds);

  static constexpr std::size_t kMaxKeys = 4096;  // at this many, all choices made so far are dropped

 private:
  struct Entry {
    std::string name;         // empty: being timed
    bool is_measured = true;  // false: all candidates failed; such an entry is not saved
  };
  void load();  // adds the file's choices that memory lacks; skips damaged lines. Requires: mutex_ held.
  void save();  // Requires: mutex_ held.

  const bool enabled_;
  const std::filesystem::path file_;
  std::mutex mutex_;
  std::condition_variable decided_;
  bool is_loaded_ = false;
  std::map<std::string, Entry, std::less<>> entries_;
};

// Returns $XDG_CACHE_HOME/burn/autotune-DEVICE-VERSION.txt, or the same under ~/.cache; empty if there is no home.
std::filesystem::path autotune_file(std::string_view device);

// Whether BURN_AUTOTUNE is not "off".
bool autotune_is_wanted();

}  // namespace burn::backends
