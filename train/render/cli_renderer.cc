#include "train/render/cli_renderer.h"

#include <iostream>

#include <sys/ioctl.h>
#include <unistd.h>

#include "train/render/lines.h"

namespace burn::train {
namespace {

constexpr double kRedrawSeconds = 0.1;  // interval of the bar
constexpr double kLineSeconds = 2;      // interval of lines, so that short epochs have none

int columns_of_stdout() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

CliOptions CliOptions::of_stdout() { return {.in_place = isatty(STDOUT_FILENO) == 1, .columns = columns_of_stdout}; }

CliRenderer::CliRenderer() : CliRenderer(std::cout, CliOptions::of_stdout()) {}
CliRenderer::CliRenderer(std::ostream& out, CliOptions options) : out_(out), options_(std::move(options)) {}

// An exception may have ended the training below the bar.
CliRenderer::~CliRenderer() {
  if (bar_is_shown_) out_ << '\n' << std::flush;
}

void CliRenderer::progress(const Progress& progress) {
  if (!is_due(progress)) return;
  if (options_.in_place) {
    // A single write that also erases the rest of a longer line, to avoid flicker.
    out_ << "\r" + bar_line(progress, options_.columns()) + "\x1b[K" << std::flush;
    bar_is_shown_ = true;
  } else {
    write_line(progress_line(progress));
  }
}

bool CliRenderer::is_due(const Progress& progress) {
  const bool is_new = progress.epoch != last_epoch_ || progress.split != last_split_;
  if (is_new) {
    last_epoch_ = progress.epoch;
    last_split_ = progress.split;
    last_seconds_ = 0;
    last_tenth_ = 0;
  }
  const double waited = progress.seconds - last_seconds_;
  if (options_.in_place) {
    const bool is_over = progress.items == progress.total_items;
    if (!is_new && !is_over && waited < kRedrawSeconds) return false;
  } else {
    const auto tenth = progress.total_items == 0 ? 10 : 10 * progress.items / progress.total_items;
    if (tenth <= last_tenth_ || tenth == 10 || waited < kLineSeconds) return false;
    last_tenth_ = tenth;
  }
  last_seconds_ = progress.seconds;
  return true;
}

void CliRenderer::epoch(const EpochSummary& summary) { write_line(epoch_line(summary)); }
void CliRenderer::message(const std::string& text) { write_line(text); }
void CliRenderer::summary(const std::vector<MetricSummary>& metrics) { write_line("\n" + summary_table(metrics)); }

void CliRenderer::write_line(const std::string& line) {
  out_ << (bar_is_shown_ ? "\r\x1b[K" : "") + line + "\n" << std::flush;
  bar_is_shown_ = false;
}

}  // namespace burn::train
