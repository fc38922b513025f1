// The terminal dashboard: a full-screen view of a training while it runs.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include "train/dashboard/run_state.h"
#include "train/dashboard/stop_request.h"
#include "train/dashboard/terminal/view.h"
#include "train/events/event_sink.h"
#include "train/render/renderer_sink.h"

namespace burn::train::dashboard {

struct TerminalOptions {
  std::filesystem::path artifact_dir;  // folder for output.log
  Stop stop;
  std::vector<RendererSink::Format> formats;  // for the lines that remain on the terminal at the end
  events::DeviceUseNow device_use = {};       // queried while the training runs
};

// Whether stdin and stdout are one terminal of at least 80 by 24 whose TERM is known, this process is in its
// foreground, and no other TerminalDashboard uses it.
bool terminal_is_usable();

// Uses the terminal from construction to destruction, on its own thread. Meanwhile, stdout and stderr of the process
// are shown in a pane. At the end, the lines of a plain log of the run are written to stdout.
class TerminalDashboard final : public events::EventSink {
 public:
  // Errors (thrown): UNAVAILABLE if the terminal cannot be used.
  explicit TerminalDashboard(TerminalOptions options);
  ~TerminalDashboard() override;

  void event(const events::Event& event) override;
  std::string name() const override { return "the terminal dashboard"; }

 private:
  struct Terminal;

  void run();
  void read_input();
  void act(Action action);
  void draw_frame();

  const TerminalOptions options_;
  std::unique_ptr<Terminal> terminal_;
  std::mutex mutex_;  // guards state_, resumed_ and lines_
  RunState state_;
  std::atomic<bool> has_news_{true};
  std::optional<bool> resumed_;  // from the last Start, until the thread has handled it
  ViewState view_;               // used by the thread only
  std::ostringstream plain_;     // the run as a plain log
  std::unique_ptr<RendererSink> lines_;
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

}  // namespace burn::train::dashboard
