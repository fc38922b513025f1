// The terminal itself, by ncurses: shows frames, reads keys. The only file that knows ncurses is screen.cc.
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
  int x = 0, y = 0;  // of a click
};

// One at a time in a process; all calls from one thread.
class Screen {
 public:
  // `input`, `output`: the terminal's descriptors, which stay the caller's. Errors (thrown): UNAVAILABLE for a terminal
  // that cannot place the cursor, or whose TERM is not known.
  Screen(int input, int output);
  ~Screen();  // the terminal is as it was
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
