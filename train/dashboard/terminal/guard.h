// Restores the terminal whatever ends the process: a signal, an exception, exit().
#pragma once

#include <string_view>

namespace burn::train::dashboard {

// During its lifetime, signals that end the process first restore the terminal; faults also write the output captured
// last to stderr. Handlers that the program has installed for SIGINT, SIGTERM, SIGHUP and SIGQUIT are called instead,
// without restoring the terminal. One at a time.
class TerminalGuard {
 public:
  // `terminal`: its descriptor; `error`: the original stderr; `captured`: the read end of a pipe whose remaining
  // content is shown if the process crashes. They must outlive the guard.
  TerminalGuard(int terminal, int error, int captured);
  ~TerminalGuard();
  TerminalGuard(const TerminalGuard&) = delete;
  TerminalGuard& operator=(const TerminalGuard&) = delete;

  // Stores the last bytes of the output, to be shown if the process crashes.
  static void keep(std::string_view output);
  // Whether the terminal has been restored, after which nothing may be drawn any more.
  static bool is_given_back();
  // Restores the terminal as a signal would. Async-signal-safe.
  static void give_back();
};

}  // namespace burn::train::dashboard
