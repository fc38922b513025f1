#include "train/dashboard/terminal/screen.h"

#include <clocale>
#include <cstdio>
#include <string>

#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <fcntl.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>

#include "base/error.h"

namespace burn::train::dashboard {
namespace {

// Characters beyond ASCII need a locale that has them. NOLINTBEGIN(concurrency-mt-unsafe): the locale of the process is
// used for the terminal only, changed only here and restored by the same thread.
std::string use_utf8() {
  const char* before = std::setlocale(LC_CTYPE, nullptr);
  std::string kept = before != nullptr ? before : "C";
  const auto is_utf8 = [] { return std::string{nl_langinfo(CODESET)} == "UTF-8"; };
  if (!is_utf8()) std::setlocale(LC_CTYPE, "");
  if (!is_utf8()) std::setlocale(LC_CTYPE, "C.UTF-8");
  return kept;
}

// Opens the same terminal again with O_NONBLOCK, so that its reads return at once without input; the flag belongs to
// the open file, which `input` may share with other programs. Without it, ncurses blocks the drawing thread until the
// next input after it has dropped an unrequested mouse event. If the terminal has no name, duplicates `input`.
int open_without_waiting(int input) {
  const char* name = ::ttyname(input);
  const int opened = name != nullptr ? ::open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
  return opened >= 0 ? opened : ::dup(input);
}
// NOLINTEND(concurrency-mt-unsafe)

short number_of(Color color) {
  switch (color) {
    case Color::red:
      return COLOR_RED;
    case Color::green:
      return COLOR_GREEN;
    case Color::yellow:
      return COLOR_YELLOW;
    case Color::blue:
      return COLOR_BLUE;
    case Color::magenta:
      return COLOR_MAGENTA;
    case Color::cyan:
      return COLOR_CYAN;
    case Color::grey:
      return 8;  // "bright black" of terminals with 16 colours
    case Color::standard:
      return -1;
  }
  return -1;
}

}  // namespace

struct Screen::Curses {
  std::string locale_before;
  FILE *in = nullptr, *out = nullptr;
  SCREEN* screen = nullptr;
  int terminal = -1;
  bool has_colors = false;

  ~Curses() {
    if (screen != nullptr) {
      ::endwin();
      ::delscreen(screen);
    }
    if (in != nullptr) std::fclose(in);
    if (out != nullptr) std::fclose(out);
    std::setlocale(LC_CTYPE, locale_before.c_str());  // NOLINT(concurrency-mt-unsafe): as in use_utf8
  }

  attr_t attributes(Style style) const {
    attr_t attributes = A_NORMAL;
    if (style.bold) attributes |= A_BOLD;
    if (style.reverse) attributes |= A_REVERSE;
    if (style.color == Color::grey && (!has_colors || COLORS < 16)) attributes |= A_DIM;
    return attributes;
  }
  short pair(Style style) const {
    if (!has_colors || (style.color == Color::grey && COLORS < 16)) return 0;
    return static_cast<short>(style.color);
  }
};

Screen::Screen(int input, int output) : curses_(std::make_unique<Curses>()) {
  auto& c = *curses_;
  c.locale_before = use_utf8();
  c.terminal = output;
  c.in = ::fdopen(open_without_waiting(input), "r");
  c.out = ::fdopen(::dup(output), "w");
  if (c.in != nullptr && c.out != nullptr) c.screen = ::newterm(nullptr, c.out, c.in);
  if (c.screen == nullptr)
    throw Error(StatusCode::unavailable, "this terminal cannot show a dashboard (TERM is not known)");
  ::set_term(c.screen);
  ::cbreak();
  ::noecho();
  ::keypad(stdscr, TRUE);
  ::nodelay(stdscr, TRUE);
  ::set_escdelay(50);
  ::curs_set(0);
  ::mousemask(ALL_MOUSE_EVENTS, nullptr);
  ::mouseinterval(0);
  c.has_colors = ::has_colors() && ::start_color() == OK;
  if (!c.has_colors) return;
  ::use_default_colors();
  for (short color = 1; color <= static_cast<short>(Color::grey); ++color) {
    const short number = number_of(static_cast<Color>(color));
    if (number < COLORS) ::init_pair(color, number, -1);
  }
}

Screen::~Screen() = default;

int Screen::width() const { return ::getmaxx(stdscr); }
int Screen::height() const { return ::getmaxy(stdscr); }

void Screen::show(const Frame& frame) {
  for (int y = 0; y < frame.height(); ++y) {
    for (int x = 0; x < frame.width(); ++x) {
      const auto& cell = frame.at(x, y);
      const wchar_t text[] = {static_cast<wchar_t>(cell.character), L'\0'};
      cchar_t character{};
      ::setcchar(&character, text, curses_->attributes(cell.style), curses_->pair(cell.style), nullptr);
      ::mvadd_wch(y, x, &character);
    }
  }
  ::refresh();
}

std::optional<Input> Screen::read() {
  winsize size{};
  if (::ioctl(curses_->terminal, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 &&
      (size.ws_col != width() || size.ws_row != height())) {
    ::resizeterm(size.ws_row, size.ws_col);
    ::clear();
    return Input{.kind = Input::Kind::resized};
  }
  const int key = ::getch();
  switch (key) {
    case ERR:
      return std::nullopt;
    case KEY_LEFT:
      return Input{.key = Key::left};
    case KEY_RIGHT:
      return Input{.key = Key::right};
    case KEY_UP:
      return Input{.key = Key::up};
    case KEY_DOWN:
      return Input{.key = Key::down};
    case 27:
      return Input{.key = Key::escape};
    case KEY_RESIZE:
      return Input{.kind = Input::Kind::resized};
    case KEY_MOUSE: {
      MEVENT event{};
      if (::getmouse(&event) != OK || (event.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED)) == 0) return Input{};
      return Input{.kind = Input::Kind::click, .x = event.x, .y = event.y};
    }
    default:
      return Input{.character = key > 0 && key < 128 ? static_cast<char>(key) : '\0'};
  }
}

}  // namespace burn::train::dashboard
