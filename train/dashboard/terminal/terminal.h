// The terminal dashboard: shows a training on the whole terminal while it runs.
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
  std::filesystem::path artifact_dir;  // output.log is written there
  Stop stop;
  std::vector<RendererSink::Format> formats;  // of the lines that stay on the terminal at the end
  events::DeviceUseNow device_use = {};       // of the device, asked for while the training goes on
};

// stdin and stdout are one terminal of at least 80 by 24 whose TERM is known, this process is in its foreground, and no
// other TerminalDashboard has it.
bool terminal_is_usable();

// Has the terminal from construction to destruction, with a thread of its own. stdout and stderr of the process are
// shown in a pane meanwhile. At the end, the lines that a plain log of the run has are written to stdout.
class TerminalDashboard final : public events::EventSink {
 public:
  // Errors (thrown): UNAVAILABLE where the terminal cannot be used.
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
  std::mutex mutex_;  // of the state, and what was started
  RunState state_;
  std::atomic<bool> has_news_{true};
  std::optional<bool> resumed_;  // what the last Start says, until the thread has seen it
  ViewState view_;               // of the thread
  std::ostringstream plain_;     // what a plain log of the run has
  std::unique_ptr<RendererSink> lines_;
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

}  // namespace burn::train::dashboard
