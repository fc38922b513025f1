// Shows a training on a terminal as one line that is redrawn in place, or as lines if the output is a file or a pipe.
#pragma once

#include <functional>
#include <iosfwd>

#include "train/render/renderer.h"

namespace burn::train {

struct CliOptions {
  bool in_place = false;
  // Returns the terminal's width; called for every redraw, because windows are resized.
  std::function<int()> columns = [] { return 80; };

  static CliOptions of_stdout();  // in place when stdout is a terminal
};

// Writes to a stream, which must outlive it; default: std::cout.
class CliRenderer : public Renderer {
 public:
  CliRenderer();
  explicit CliRenderer(std::ostream& out, CliOptions options = {});
  ~CliRenderer() override;

  void progress(const Progress& progress) override;
  void epoch(const EpochSummary& summary) override;
  void message(const std::string& text) override;
  void summary(const std::vector<MetricSummary>& metrics) override;

 private:
  bool is_due(const Progress& progress);
  void write_line(const std::string& line);  // replaces the bar if one is shown

  std::ostream& out_;
  const CliOptions options_;
  bool bar_is_shown_ = false;
  std::int64_t last_epoch_ = 0;
  Split last_split_ = Split::train;
  double last_seconds_ = 0;  // time of the last output for this split
  std::int64_t last_tenth_ = 0;
};

}  // namespace burn::train
