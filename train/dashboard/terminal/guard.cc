#include "train/dashboard/terminal/guard.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>

#include <fcntl.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

namespace burn::train::dashboard {
namespace {

constexpr std::array kFaults = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
constexpr std::array kRequests = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};  // requests to end; a program may handle them
constexpr int kSignals = 65;

// The data of the only guard, for its signal handlers.
struct Saved {
  std::atomic<bool> is_active{false}, is_given_back{false};
  int terminal = -1, error = -1, captured = -1;
  termios mode{};
  std::array<struct sigaction, kSignals> before{};
  std::array<char, 4096> tail{};
  std::atomic<std::size_t> tail_bytes{0};  // all bytes ever kept; `tail` is a ring buffer
};
Saved saved;

void write_all(int file, const char* bytes, std::size_t size) {
  while (size > 0) {
    const auto written = ::write(file, bytes, size);
    if (written <= 0) return;
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
}

void show_what_was_captured() {
  const std::size_t all = saved.tail_bytes.load();
  const std::size_t size = std::min(all, saved.tail.size());
  for (std::size_t i = all - size; i < all; ++i) write_all(saved.error, &saved.tail[i % saved.tail.size()], 1);
  std::array<char, 4096> rest{};
  for (ssize_t count = 0; (count = ::read(saved.captured, rest.data(), rest.size())) > 0;)
    write_all(saved.error, rest.data(), static_cast<std::size_t>(count));
}

void call(const struct sigaction& action, int signal, siginfo_t* info, void* context) {
  if ((action.sa_flags & SA_SIGINFO) != 0)
    action.sa_sigaction(signal, info, context);
  else
    action.sa_handler(signal);
}

void on_signal(int signal, siginfo_t* info, void* context) {
  auto& before = saved.before.at(static_cast<std::size_t>(signal));
  const bool has_handler =
      (before.sa_flags & SA_SIGINFO) != 0 || (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN);
  const bool is_fault = std::find(kFaults.begin(), kFaults.end(), signal) != kFaults.end();
  if (!is_fault && has_handler) {
    const auto action = before;
    if ((before.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) {
      before.sa_flags = 0;
      before.sa_handler = SIG_DFL;
    }
    call(action, signal, info, context);
    return;
  }
  TerminalGuard::give_back();
  if (is_fault) show_what_was_captured();
  if (has_handler) return call(before, signal, info, context);
  ::sigaction(signal, &before, nullptr);
  ::raise(signal);  // delivered when this handler returns
}

void install(int signal, bool is_fault) {
  auto& before = saved.before.at(static_cast<std::size_t>(signal));
  ::sigaction(signal, nullptr, &before);
  if (!is_fault && (before.sa_flags & SA_SIGINFO) == 0 && before.sa_handler == SIG_IGN) return;  // nohup
  struct sigaction action {};
  action.sa_sigaction = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | (is_fault ? 0 : SA_RESTART);
  ::sigaction(signal, &action, nullptr);
}

void uninstall(int signal) {
  struct sigaction now {};
  ::sigaction(signal, nullptr, &now);
  const bool is_ours = (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_signal;
  if (is_ours) ::sigaction(signal, &saved.before.at(static_cast<std::size_t>(signal)), nullptr);
}

}  // namespace

TerminalGuard::TerminalGuard(int terminal, int error, int captured) {
  saved.terminal = terminal;
  saved.error = error;
  saved.captured = captured;
  saved.tail_bytes = 0;
  saved.is_given_back = false;
  ::tcgetattr(terminal, &saved.mode);
  saved.is_active = true;
  for (const int signal : kFaults) install(signal, true);
  for (const int signal : kRequests) install(signal, false);
  static const int at_exit = std::atexit([] { give_back(); });
  static_cast<void>(at_exit);
}

TerminalGuard::~TerminalGuard() {
  saved.is_active = false;
  for (const int signal : kFaults) uninstall(signal);
  for (const int signal : kRequests) uninstall(signal);
}

void TerminalGuard::keep(std::string_view output) {
  std::size_t at = saved.tail_bytes.load();
  for (const char byte : output) saved.tail[at++ % saved.tail.size()] = byte;
  saved.tail_bytes = at;
}

bool TerminalGuard::is_given_back() { return saved.is_given_back; }

void TerminalGuard::give_back() {
  if (!saved.is_active || saved.is_given_back.exchange(true)) return;
  // Mouse reports off, keypad off, colours off, cursor on, alternate screen off: modern terminals understand these, and
  // others ignore them.
  constexpr std::string_view kLeave = "\x1b[?1006l\x1b[?1002l\x1b[?1000l\x1b[?1l\x1b>\x1b[0m\x1b[?25h\x1b[?1049l";
  write_all(saved.terminal, kLeave.data(), kLeave.size());
  ::tcsetattr(saved.terminal, TCSANOW, &saved.mode);
  ::dup2(saved.error, STDERR_FILENO);
}

}  // namespace burn::train::dashboard
