#include "train/dashboard/web/web_dashboard.h"

#include "base/error.h"

namespace burn::train::dashboard {

WebDashboard::WebDashboard(const WebOptions& options, std::filesystem::path folder, Stop stop,
                           events::DeviceUseNow device_use)
    : device_use_(std::move(device_use)) {
  BoardRun run;
  run.folder = std::move(folder);
  run.is_running = true;
  run.stop = std::move(stop);
  board_.add(std::move(run));
  try {
    server_ = std::make_unique<WebServer>(options, board_);
    notices_.push_back({events::Level::info, "dashboard: " + server_->url()});
  } catch (const Error& error) {
    notices_.push_back({events::Level::warning, std::string{error.what()} + "; the training goes on without it"});
  }
}

void WebDashboard::event(const events::Event& event) {
  const bool goes_on = device_use_ && std::holds_alternative<events::Progress>(event.body);
  const auto use = goes_on ? device_use_() : std::nullopt;
  board_.change(0, [&](BoardRun& run) {
    if (const auto* start = std::get_if<events::Start>(&event.body)) add_history(run.folder, *start, run.state);
    run.state.add(event);
    if (goes_on) run.state.set_device_use(use);
  });
}

}  // namespace burn::train::dashboard
