#include "train/dashboard/terminal/terminal.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <iostream>

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/thread.h"
#include "train/dashboard/run_board.h"
#include "train/dashboard/terminal/guard.h"
#include "train/dashboard/terminal/output_capture.h"
#include "train/dashboard/terminal/screen.h"
#include "train/render/cli_renderer.h"

namespace burn::train::dashboard {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kFrameInterval{100};
constexpr std::size_t kPlainBytes = std::size_t{64} << 10;  // limit of the lines that remain on the terminal
constexpr int kEndedByUser = 130;                           // the exit status that shells use for Ctrl-C

std::atomic<bool> terminal_is_taken{false};

}  // namespace

struct TerminalDashboard::Terminal {
  explicit Terminal(const std::filesystem::path& artifact_dir)
      : capture(artifact_dir / "output.log"),
        guard(capture.former_stdout(), capture.former_stderr(), capture.pipe()),
        screen(STDIN_FILENO, capture.former_stdout()) {}
  ~Terminal() { terminal_is_taken = false; }

  OutputCapture capture;
  TerminalGuard guard;  // destroyed after the screen, before the capture
  Screen screen;
  Clock::time_point drawn{};
};

bool terminal_is_usable() {
  const char* term = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): no thread writes it
  if (term == nullptr || std::string_view{term}.empty() || std::string_view{term} == "dumb") return false;
  winsize size{};
  return !terminal_is_taken && ::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1 &&
         ::tcgetpgrp(STDIN_FILENO) == ::getpgrp() && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
         size.ws_col >= kMinWidth && size.ws_row >= kMinHeight;
}

TerminalDashboard::TerminalDashboard(TerminalOptions options)
    : options_(std::move(options)),
      lines_(std::make_unique<RendererSink>(std::make_shared<CliRenderer>(plain_), options_.formats)) {
  if (terminal_is_taken.exchange(true))
    throw Error(StatusCode::unavailable, "dashboard: another training of this program has the terminal");
  try {
    terminal_ = std::make_unique<Terminal>(options_.artifact_dir);
  } catch (...) {
    terminal_is_taken = false;
    throw;
  }
  thread_ = start_thread("burn-terminal", [this] { run(); });
}

TerminalDashboard::~TerminalDashboard() {
  is_over_ = true;
  thread_.join();
  const bool has_output = terminal_->capture.has_written();
  terminal_.reset();
  auto text = plain_.str();
  if (text.size() > kPlainBytes) text = text.substr(text.find('\n', text.size() - kPlainBytes) + 1);
  std::cout << text;
  if (has_output)
    std::cout << "what the program wrote meanwhile: " << (options_.artifact_dir / "output.log").string() << '\n';
  std::cout << std::flush;
}

void TerminalDashboard::event(const events::Event& event) {
  const bool goes_on = options_.device_use && std::holds_alternative<events::Progress>(event.body);
  const auto use = goes_on ? options_.device_use() : std::nullopt;
  const std::lock_guard lock(mutex_);
  if (const auto* start = std::get_if<events::Start>(&event.body)) add_history(options_.artifact_dir, *start, state_);
  state_.add(event);
  if (goes_on) state_.set_device_use(use);
  if (const auto* start = std::get_if<events::Start>(&event.body)) resumed_ = start->resumed;
  if (!std::holds_alternative<events::Progress>(event.body)) lines_->event(event);  // the log has epochs only
  has_news_ = true;
}

void TerminalDashboard::run() {
  auto& terminal = *terminal_;
  while (!is_over_) {
    std::array<pollfd, 2> files{{{STDIN_FILENO, POLLIN, 0}, {terminal.capture.pipe(), POLLIN, 0}}};
    ::poll(files.data(), files.size(), static_cast<int>(kFrameInterval.count()));
    if (TerminalGuard::is_given_back()) {  // the process is about to end
      ::usleep(10'000);
      continue;
    }
    if ((files[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) ::usleep(100'000);  // the terminal is gone
    {
      const std::lock_guard lock(mutex_);
      if (resumed_) *resumed_ ? terminal.capture.keep_file() : terminal.capture.replace_file();
      resumed_.reset();
    }
    for (int i = 0; i < 8 && terminal.capture.read(); ++i) has_news_ = true;
    read_input();
    draw_frame();
  }
}

void TerminalDashboard::read_input() {
  auto& screen = terminal_->screen;
  while (const auto input = screen.read()) {
    const std::lock_guard lock(mutex_);
    has_news_ = true;
    terminal_->drawn = {};
    if (input->kind == Input::Kind::key) {
      act(press(view_, state_.metrics().size(), input->key, input->character));
    } else if (input->kind == Input::Kind::click) {
      if (const auto tab = tab_at(state_, view_, screen.width(), input->x, input->y)) view_.metric = *tab;
    }
  }
}

void TerminalDashboard::act(Action action) {
  switch (action) {
    case Action::stop_with_checkpoint:
      if (options_.stop) options_.stop(StopRequest::with_checkpoint);
      break;
    case Action::stop_without_checkpoint:
      if (options_.stop) options_.stop(StopRequest::without_checkpoint);
      break;
    case Action::end_at_once:
    case Action::leave:
      TerminalGuard::give_back();
      ::_exit(kEndedByUser);
    case Action::none:
      break;
  }
}

// Draws after new events, and every second, as displayed times advance.
void TerminalDashboard::draw_frame() {
  const auto now = Clock::now();
  const auto since = now - terminal_->drawn;
  auto& screen = terminal_->screen;
  Frame frame{screen.width(), screen.height()};
  {
    const std::lock_guard lock(mutex_);
    if (since < kFrameInterval || (!has_news_ && since < std::chrono::seconds{1})) return;
    has_news_ = false;
    draw(frame, state_, view_, {events::now_us(), &terminal_->capture.lines()});
  }
  terminal_->drawn = now;
  if (!TerminalGuard::is_given_back()) screen.show(frame);
}

}  // namespace burn::train::dashboard
