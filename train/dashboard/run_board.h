// The runs that a dashboard shows, shared by what fills them and what serves them.
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
  std::filesystem::path folder;  // of the run: it holds the file "events"
  RunState state;
  std::uint64_t version = 0;  // changes with every event
  bool is_running = false;    // as far as is known
  std::string problem;        // why its file cannot be read; empty: it can
  Stop stop;                  // empty: it cannot be stopped from here
};

// Thread-safe. Runs keep their places: run i stays run i.
class RunBoard {
 public:
  std::size_t add(BoardRun run);
  std::size_t size() const;
  // Calls `use` with the runs, which nothing changes meanwhile.
  void read(const std::function<void(const std::vector<std::unique_ptr<BoardRun>>&)>& use) const;
  void change(std::size_t run, const std::function<void(BoardRun&)>& use);

 private:
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<BoardRun>> runs_;
};

// Adds the events that a resumed run's file has of the time before; of another run, nothing. Errors: as
// events::EventFileReader.
void add_history(const std::filesystem::path& folder, const events::Start& start, RunState& state);

// Follows the event files of folders: those that are there, those that come, and what is added to them. Used by one
// thread.
class FolderReader {
 public:
  // Folders with a file "events", at most so many folders below those that are given.
  static constexpr int kMaxDepth = 4;

  FolderReader(std::vector<std::filesystem::path> folders, RunBoard& board);

  // Looks for new runs, and reads what the files have more. Returns whether there was anything.
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

// The folders below (or equal to) a folder that hold an event file.
std::vector<std::filesystem::path> run_folders(const std::filesystem::path& folder,
                                               int depth = FolderReader::kMaxDepth);

}  // namespace burn::train::dashboard
