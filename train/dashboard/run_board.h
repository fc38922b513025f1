// The runs that a dashboard shows, shared by the threads that fill them and those that serve them.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "train/dashboard/run_state.h"
#include "train/dashboard/stop_request.h"
#include "train/events/event_file.h"

namespace burn::train::dashboard {

struct BoardRun {
  std::filesystem::path folder;  // the run's folder, with the file "events"
  RunState state;
  std::uint64_t version = 0;  // changes with every event
  bool is_running = false;    // as far as known
  std::string problem;        // why its file cannot be read; empty: no problem
  Stop stop;                  // empty: the dashboard cannot stop the run
};

// Thread-safe. Runs keep their index.
class RunBoard {
 public:
  std::size_t add(BoardRun run);
  std::size_t size() const;
  // Calls `use` with the runs; they do not change during the call.
  void read(const std::function<void(const std::vector<std::unique_ptr<BoardRun>>&)>& use) const;
  void change(std::size_t run, const std::function<void(BoardRun&)>& use);

 private:
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<BoardRun>> runs_;
};

// Adds the events that the file of a resumed run has from before `start`; adds nothing if the file is of another run.
// Errors: as events::EventFileReader.
void add_history(const std::filesystem::path& folder, const events::Start& start, RunState& state);

// Follows the event files in folders: finds existing and new ones, and reads the events that are appended. Used by one
// thread.
class FolderReader {
 public:
  // How deep below the given folders it looks for folders with a file "events".
  static constexpr int kMaxDepth = 4;

  FolderReader(std::vector<std::filesystem::path> folders, RunBoard& board);

  // Looks for new runs, and reads the new events of all files. Returns whether anything was new.
  bool poll();

 private:
  void find_runs();
  void read(std::size_t index);

  struct Followed {
    std::size_t run;
    events::EventFileReader reader;
  };
  const std::vector<std::filesystem::path> folders_;
  RunBoard& board_;
  std::vector<Followed> files_;
};

// The folders with an event file, below `folder` or the folder itself.
std::vector<std::filesystem::path> run_folders(const std::filesystem::path& folder,
                                               int depth = FolderReader::kMaxDepth);

}  // namespace burn::train::dashboard
