#include "backends/autotune.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <vector>

#include "backends/interrupt.h"
#include "base/cache_folder.h"
#include "base/settings.h"

namespace burn::backends {
namespace {

constexpr std::string_view kHeader = "burn autotune 1";
constexpr std::size_t kMaxLine = 512;

// Returns the candidate with the shortest time, or std::nullopt if all failed. Candidates are timed in turn, so that
// what disturbs the machine affects all of them; the shortest of several times counts, since nothing makes a run too
// fast.
std::optional<int> fastest(int count, const std::function<Result<double>(int)>& seconds_of) {
  constexpr int kRounds = 4, kMaxRounds = 16;         // more than kRounds only while all take less than kShort
  constexpr double kHopeless = 1.5, kPatience = 0.5;  // times the best; seconds
  constexpr double kShort = 0.01;                     // seconds
  constexpr double kHopelessAtFirst = 4;              // after its first run, which also pays for its memory and caches
  std::vector<double> best(static_cast<std::size_t>(count), std::numeric_limits<double>::infinity());
  double spent = 0;
  const auto shortest = [&] { return std::min_element(best.begin(), best.end()); };
  (void)seconds_of(0);  // the first run pays for memory and caches
  const auto goes_on = [&](int round) {
    return round < 2 || (round < kRounds && spent < kPatience) || (round < kMaxRounds && spent < kShort);
  };
  for (int round = 0; goes_on(round); ++round) {
    for (int i = 0; i < count; ++i) {
      auto& mine = best[static_cast<std::size_t>(i)];
      const auto hopeless = round > 1 ? kHopeless : kHopelessAtFirst;
      if (round > 0 && !(mine <= hopeless * *shortest())) continue;
      throw_if_interrupted();
      const auto seconds = seconds_of(i);
      if (!seconds.ok()) continue;
      mine = std::min(mine, *seconds);
      spent += *seconds;
    }
  }
  if (*shortest() == std::numeric_limits<double>::infinity()) return {};
  return static_cast<int>(shortest() - best.begin());
}

}  // namespace

int Autotune::choose(std::string_view key, std::span<const std::string_view> names,
                     const std::function<Status(int)>& run) {
  using Clock = std::chrono::steady_clock;
  return choose_timed(key, names, [&](int i) -> Result<double> {
    const auto start = Clock::now();
    BURN_RETURN_IF_ERROR(run(i));
    return std::chrono::duration<double>(Clock::now() - start).count();
  });
}

int Autotune::choose_timed(std::string_view key, std::span<const std::string_view> names,
                           const std::function<Result<double>(int)>& seconds) {
  if (!enabled_ || names.size() < 2) return 0;
  const auto position = [&](const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? -1 : static_cast<int>(found - names.begin());
  };
  std::unique_lock lock(mutex_);
  if (!is_loaded_) load();
  // Another thread's timing takes as long as the work does; this run may have to end earlier.
  constexpr std::chrono::milliseconds kLook{5};
  while (!decided_.wait_for(lock, kLook, [&] {
    const auto found = entries_.find(key);
    return found == entries_.end() || !found->second.name.empty();
  })) {
    throw_if_interrupted();
  }
  if (const auto found = entries_.find(key); found != entries_.end()) {
    if (const int known = position(found->second.name); known >= 0) return known;
  }
  if (entries_.size() >= kMaxKeys)
    std::erase_if(entries_, [](const auto& entry) { return !entry.second.name.empty(); });
  const auto mine = entries_.insert_or_assign(std::string(key), Entry{}).first;
  // Other threads wait for this key. Even if timing or storing the choice throws, they must be released: with the
  // choice, or for one of them to try again.
  struct Release {
    Autotune& tuner;
    std::unique_lock<std::mutex>& lock;
    const decltype(entries_)::iterator entry;
    ~Release() {
      if (!lock.owns_lock()) lock.lock();
      if (!is_decided) tuner.entries_.erase(entry);
      lock.unlock();
      tuner.decided_.notify_all();
    }
    bool is_decided = false;
  } release{*this, lock, mine};
  lock.unlock();
  const auto measured = fastest(static_cast<int>(names.size()), seconds);
  const int chosen = measured.value_or(0);
  lock.lock();
  mine->second = {std::string(names[static_cast<std::size_t>(chosen)]), measured.has_value()};
  release.is_decided = true;
  save();
  return chosen;
}

void Autotune::load() {
  is_loaded_ = true;
  if (file_.empty()) return;
  constexpr std::size_t kMaxBytes = 2 * kMaxKeys * kMaxLine;
  const auto text = CacheFolder(file_.parent_path()).read(file_.filename().string(), kMaxBytes);
  if (!text.ok()) return warn_of_cache(text.status());
  std::string_view rest = *text;
  const auto next_line = [&] {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return line;
  };
  if (next_line() != kHeader) {
    if (!text->empty())
      warn_of_cache(failed_precondition(file_.string() + " is no list of choices: they are timed anew"));
    return;
  }
  while (entries_.size() < kMaxKeys && !rest.empty()) {
    const auto line = next_line();
    const auto tab = line.find('\t');
    if (line.size() > kMaxLine || tab == line.npos || tab == 0 || tab + 1 == line.size()) continue;
    entries_.try_emplace(std::string(line.substr(0, tab)), Entry{std::string(line.substr(tab + 1))});
  }
}

// If the file cannot be written, the choices stay in memory only.
void Autotune::save() {
  if (file_.empty()) return;
  load();  // other processes write too
  std::string text{kHeader};
  text += '\n';
  for (const auto& [key, entry] : entries_) {
    if (!entry.name.empty() && entry.is_measured) text.append(key).append("\t").append(entry.name).append("\n");
  }
  warn_of_cache(CacheFolder(file_.parent_path()).write(file_.filename().string(), text));
}

std::filesystem::path autotune_file(std::string_view device) {
  const std::filesystem::path folder = cache_folder();
  if (folder.empty()) return {};
  std::string name;
  for (const char c : "autotune-" + std::string(device) + "-" BURN_VERSION) {
    const bool is_plain =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-';
    name += is_plain ? c : '_';
  }
  return folder / (name + ".txt");
}

bool autotune_is_wanted() { return !is_off(Setting::autotune); }

}  // namespace burn::backends
