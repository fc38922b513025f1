// Takes what the program writes to stdout and stderr while a dashboard has the terminal.
#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>

#include "base/unique_fd.h"
#include "train/events/append_file.h"

namespace burn::train::dashboard {

// read() and lines() from one thread. Everything also goes to a file, byte by byte.
class OutputCapture {
 public:
  static constexpr std::size_t kLines = 1000;  // the newest, which are kept

  // From now on stdout and stderr of the process are a pipe. Errors (thrown): UNAVAILABLE with the system's reason.
  explicit OutputCapture(std::filesystem::path log);
  ~OutputCapture();  // they are what they were, and the rest of the pipe is in the file
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;

  int pipe() const { return read_end_.get(); }  // readable when something was written
  int former_stdout() const { return stdout_.get(); }
  int former_stderr() const { return stderr_.get(); }

  bool read();  // takes what there is; false: nothing
  // The file is a new run's: what it has of former ones is dropped. Until this or keep_file() nothing is written.
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
  bool line_is_open_ = false;  // the last line has no end yet
  bool in_escape_ = false;
};

}  // namespace burn::train::dashboard
