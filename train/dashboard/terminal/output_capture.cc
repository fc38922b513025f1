#include "train/dashboard/terminal/output_capture.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "train/dashboard/terminal/guard.h"

namespace burn::train::dashboard {
namespace {

constexpr std::size_t kMaxUnwritten = std::size_t{1} << 20;

void flush_streams() {
  std::cout.flush();
  std::cerr.flush();
  std::fflush(stdout);
}

}  // namespace

OutputCapture::OutputCapture(std::filesystem::path log) : log_(std::move(log)) {
  int ends[2];
  flush_streams();
  stdout_ = UniqueFd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  stderr_ = UniqueFd(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3));
  if (!stdout_ || !stderr_ || ::pipe2(ends, O_CLOEXEC) != 0)
    throw Error(StatusCode::unavailable, "dashboard: no pipe for stdout: " + std::generic_category().message(errno));
  read_end_ = UniqueFd(ends[0]);
  const UniqueFd write_end(ends[1]);
  ::fcntl(read_end_.get(), F_SETFL, O_NONBLOCK);
  ::dup2(write_end.get(), STDOUT_FILENO);
  ::dup2(write_end.get(), STDERR_FILENO);
}

OutputCapture::~OutputCapture() {
  flush_streams();
  ::dup2(stdout_.get(), STDOUT_FILENO);
  ::dup2(stderr_.get(), STDERR_FILENO);
  may_write_ = true;
  while (read()) continue;
}

bool OutputCapture::read() {
  std::array<char, 16384> bytes{};
  const auto count = ::read(read_end_.get(), bytes.data(), bytes.size());
  if (count > 0) add({bytes.data(), static_cast<std::size_t>(count)});
  write_file();
  return count > 0;
}

void OutputCapture::add(std::string_view bytes) {
  TerminalGuard::keep(bytes);
  if (unwritten_.size() < kMaxUnwritten) unwritten_ += bytes;
  for (const char byte : bytes) {
    if (in_escape_) {  // "\x1b[31m": ends with its first letter
      in_escape_ = (byte < 'A' || byte > 'Z') && (byte < 'a' || byte > 'z');
    } else if (byte == '\x1b') {
      in_escape_ = true;
    } else if (byte == '\n') {
      if (!line_is_open_) lines_.emplace_back();
      line_is_open_ = false;
    } else if (byte == '\r') {
      if (line_is_open_) lines_.back().clear();
    } else {
      if (!line_is_open_) lines_.emplace_back();
      line_is_open_ = true;
      if (lines_.back().size() < 1000) lines_.back() += byte == '\t' ? ' ' : byte;
    }
  }
  while (lines_.size() > kLines) lines_.pop_front();
}

// If the file cannot be written, the pane shows it once, and the training continues.
void OutputCapture::write_file() {
  if (!may_write_ || unwritten_.empty() || has_failed_) return;
  try {
    if (!file_) file_.emplace(log_);
    if (should_replace_) file_->cut(0);
    should_replace_ = false;
    file_->write(unwritten_);
  } catch (const Error& error) {
    has_failed_ = true;
    lines_.emplace_back(error.what());
  }
  unwritten_.clear();
}

}  // namespace burn::train::dashboard
