// The terminal dashboard without a terminal: draws a run on a frame and handles keys.
#pragma once

#include <deque>
#include <string>

#include "train/dashboard/run_state.h"
#include "train/dashboard/terminal/frame.h"

namespace burn::train::dashboard {

enum class Pane : std::uint8_t { full, recent, summary };  // what to show of a metric

// The view's settings, changed by keys.
struct ViewState {
  std::size_t metric = 0;
  Pane pane = Pane::full;
  bool logarithmic = false, smoothed = false;
  double smoothing = 0.9;  // 0 to 1; larger is smoother
  bool help = false, asks_to_stop = false;
  bool can_stop = true;  // false: the run can only be watched
};

enum class Key : std::uint8_t { left, right, up, down, escape, other };
enum class Action : std::uint8_t { none, stop_with_checkpoint, stop_without_checkpoint, end_at_once, leave };

// Applies a key to the view, or returns the action that it requests. `character`: for Key::other.
Action press(ViewState& view, std::size_t metrics, Key key, char character = 0);

struct Moment {
  std::int64_t now_us = 0;
  const std::deque<std::string>* output = nullptr;  // the program's output, newest line last
};

constexpr int kMinWidth = 80, kMinHeight = 24;  // of the terminal

// Fills the whole frame. A frame smaller than 80 by 24 shows as much as fits.
void draw(Frame& frame, const RunState& run, const ViewState& view, const Moment& moment);

// The metric whose tab is at (x, y) of a frame of this width; std::nullopt if there is none.
std::optional<std::size_t> tab_at(const RunState& run, const ViewState& view, int width, int x, int y);

std::string duration_text(double seconds);  // "0:07", "12:34", "1:02:03"

}  // namespace burn::train::dashboard
