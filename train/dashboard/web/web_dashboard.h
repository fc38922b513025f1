// The browser's dashboard of one training, served by the training program.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "train/dashboard/run_board.h"
#include "train/dashboard/web/server.h"
#include "train/events/event_sink.h"

namespace burn::train::dashboard {

class WebDashboard final : public events::EventSink {
 public:
  // `folder`: the run's; `device_use`: queried while the training runs, may be empty. If the server cannot listen on
  // the address, there is a notice, and the training continues without a dashboard.
  WebDashboard(const WebOptions& options, std::filesystem::path folder, Stop stop,
               events::DeviceUseNow device_use = {});

  void event(const events::Event& event) override;
  std::vector<events::Message> notices() override { return notices_; }
  std::string name() const override { return "the dashboard"; }
  std::string url() const { return server_ ? server_->url() : ""; }

 private:
  const events::DeviceUseNow device_use_;
  RunBoard board_;  // with one run
  std::unique_ptr<WebServer> server_;
  std::vector<events::Message> notices_;
};

}  // namespace burn::train::dashboard
