// The terminal, accessed with ncurses: shows frames, reads keys. Only screen.cc includes ncurses.
#pragma once

#include <memory>
#include <optional>

#include "train/dashboard/terminal/frame.h"
#include "train/dashboard/terminal/view.h"

namespace burn::train::dashboard {

struct Input {
  enum class Kind : std::uint8_t { key, click, resized } kind = Kind::key;
  Key key = Key::other;
  char character = 0;
  int x = 0, y = 0;  // position of a click
};

// One at a time in a process; all calls from one thread.
class Screen {
 public:
  // `input`, `output`: the terminal's descriptors, which the caller still owns. Errors (thrown): UNAVAILABLE for a
  // terminal that cannot position the cursor, or whose TERM is not known.
  Screen(int input, int output);
  ~Screen();  // restores the terminal
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  int width() const;
  int height() const;
  void show(const Frame& frame);
  std::optional<Input> read();  // does not wait

 private:
  struct Curses;
  std::unique_ptr<Curses> curses_;
};

}  // namespace burn::train::dashboard
