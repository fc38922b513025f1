// The lines of the terminal dashboard around the chart. Private to train/dashboard/terminal.
#pragma once

#include "train/dashboard/terminal/view.h"

namespace burn::train::dashboard {

void draw_title(Frame& frame, const RunState& run, const Moment& moment);  // in row 0
// Three lines and two bars. Requires: area.height is 5.
void draw_status(Frame& frame, Rect area, const RunState& run, const Moment& moment);
// A horizontal rule, then the newest lines of messages and output.
void draw_output(Frame& frame, Rect area, const RunState& run, const Moment& moment);

}  // namespace burn::train::dashboard
