// Captures what the program writes to stdout and stderr while a dashboard uses the terminal.
#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>

#include "base/unique_fd.h"
#include "train/events/append_file.h"

namespace burn::train::dashboard {

// read() and lines() are called by one thread. All captured bytes are also written to a file, unchanged.
class OutputCapture {
 public:
  static constexpr std::size_t kLines = 1000;  // how many of the newest lines are kept

  // Redirects stdout and stderr of the process to a pipe. Errors (thrown): UNAVAILABLE with the system's reason.
  explicit OutputCapture(std::filesystem::path log);
  ~OutputCapture();  // restores them, and writes the rest of the pipe to the file
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  int pipe() const { return read_end_.get(); }  // readable when there is output
  int former_stdout() const { return stdout_.get(); }
  int former_stderr() const { return stderr_.get(); }

  bool read();  // reads what has been written; false: nothing
  // The file is for a new run: its old content is dropped. Nothing is written to it before this or keep_file().
  void replace_file() { may_write_ = should_replace_ = true; }
  void keep_file() { may_write_ = true; }
  const std::deque<std::string>& lines() const { return lines_; }  // without escape sequences
  bool has_written() const { return file_.has_value(); }

 private:
  void add(std::string_view bytes);
  void write_file();

  const std::filesystem::path log_;
  UniqueFd stdout_, stderr_, read_end_;
  std::optional<events::AppendFile> file_;
  bool may_write_ = false, should_replace_ = false, has_failed_ = false;
  std::string unwritten_;
  std::deque<std::string> lines_;
  bool line_is_open_ = false;  // the last line is not complete yet
  bool in_escape_ = false;
};

}  // namespace burn::train::dashboard
