#include "train/dashboard/run_board.h"

#include <algorithm>

#include "base/error.h"

namespace burn::train::dashboard {
namespace {

constexpr std::size_t kEventsAtOnce = 4096;  // added while the board is locked

}  // namespace

std::size_t RunBoard::add(BoardRun run) {
  const std::lock_guard lock(mutex_);
  runs_.push_back(std::make_unique<BoardRun>(std::move(run)));
  return runs_.size() - 1;
}

std::size_t RunBoard::size() const {
  const std::lock_guard lock(mutex_);
  return runs_.size();
}

void RunBoard::read(const std::function<void(const std::vector<std::unique_ptr<BoardRun>>&)>& use) const {
  const std::lock_guard lock(mutex_);
  use(runs_);
}

void RunBoard::change(std::size_t run, const std::function<void(BoardRun&)>& use) {
  const std::lock_guard lock(mutex_);
  use(*runs_.at(run));
  ++runs_[run]->version;
}

void add_history(const std::filesystem::path& folder, const events::Start& start, RunState& state) {
  if (!start.resumed || state.has_begun()) return;
  const auto path = folder / "events";
  if (events::run_of(path) != start.run) return;
  events::EventFileReader reader{path};
  while (const auto event = reader.next())
    state.add(*event);  // NOLINT(bugprone-unchecked-optional-access): the loop's condition
}

FolderReader::FolderReader(std::vector<std::filesystem::path> folders, RunBoard& board)
    : folders_(std::move(folders)), board_(board) {}

bool FolderReader::poll() {
  find_runs();
  std::vector<std::uint64_t> ends;
  bool has_news = false;
  for (std::size_t i = 0; i < files_.size(); ++i) {
    const auto before = files_[i].reader.end();
    read(i);
    has_news = has_news || files_[i].reader.end() != before;
  }
  return has_news;
}

void FolderReader::find_runs() {
  for (const auto& folder : folders_) {
    for (const auto& found : run_folders(folder)) {
      bool is_known = false;
      board_.read([&](const auto& runs) {
        is_known = std::any_of(runs.begin(), runs.end(), [&](const auto& run) { return run->folder == found; });
      });
      if (is_known) continue;
      BoardRun run;
      run.folder = found;
      files_.push_back({board_.add(std::move(run)), events::EventFileReader{found / "events"}});
    }
  }
}

void FolderReader::read(std::size_t index) {
  auto& [run, reader] = files_[index];
  std::string problem;
  std::vector<events::Event> found;
  const auto path_is_locked = [&] {
    std::filesystem::path path;
    board_.read([&](const auto& runs) { path = runs[run]->folder / "events"; });
    return events::is_locked(path);
  };
  bool has_more = true;
  while (has_more) {
    found.clear();
    bool was_replaced = false;
    try {
      was_replaced = reader.was_replaced();
      while (found.size() < kEventsAtOnce) {
        auto event = reader.next();
        if (!event) break;
        found.push_back(std::move(*event));
      }
    } catch (const Error& error) {
      problem = error.what();
    }
    has_more = found.size() == kEventsAtOnce;
    const bool is_running = path_is_locked();
    bool is_same = found.empty() && !was_replaced;
    board_.read([&](const auto& runs) {
      is_same = is_same && runs[run]->is_running == is_running && runs[run]->problem == problem;
    });
    if (is_same) return;
    board_.change(run, [&](BoardRun& changed) {
      if (was_replaced) changed.state = RunState{};
      for (const auto& event : found) changed.state.add(event);
      changed.is_running = is_running;
      changed.problem = problem;
    });
  }
}

std::vector<std::filesystem::path> run_folders(const std::filesystem::path& folder, int depth) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  if (std::filesystem::is_regular_file(folder / "events", error)) found.push_back(folder);
  if (depth == 0) return found;
  std::vector<std::filesystem::path> below;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->is_directory(error) && !it->is_symlink(error)) below.push_back(it->path());
  }
  std::sort(below.begin(), below.end());
  for (const auto& path : below) {
    auto more = run_folders(path, depth - 1);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

}  // namespace burn::train::dashboard
