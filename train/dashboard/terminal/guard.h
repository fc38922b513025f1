// Gives the terminal back whatever ends the process: a signal, an exception, exit().
#pragma once

#include <string_view>

namespace burn::train::dashboard {

// While it lives, signals that end the process first put the terminal as it was found and say on stderr what was last
// captured. Handlers that others have set for SIGINT, SIGTERM, SIGHUP and SIGQUIT are called and leave the terminal
// alone. One at a time.
class TerminalGuard {
 public:
  // `terminal`: its descriptor; `error`: where stderr went before; `captured`: the end of a pipe whose rest is shown if
  // the process crashes. They outlive this.
  TerminalGuard(int terminal, int error, int captured);
  ~TerminalGuard();
  TerminalGuard(const TerminalGuard&) = delete;
  TerminalGuard& operator=(const TerminalGuard&) = delete;

  // Remembers the last bytes of the output, to be shown if the process crashes.
  static void keep(std::string_view output);
  // A signal has given the terminal back: nothing may be drawn any more.
  static bool is_given_back();
  // As a signal would. Safe in signal handlers.
  static void give_back();
};

}  // namespace burn::train::dashboard
