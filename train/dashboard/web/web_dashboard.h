// The browser's dashboard of one training, served by the program that trains.
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
  // `folder`: of the run; `device_use`: of its device, asked for while it goes on, or empty. Where the address cannot
  // be listened to there is a notice, and the training goes on without.
  WebDashboard(const WebOptions& options, std::filesystem::path folder, Stop stop,
               events::DeviceUseNow device_use = {});

  void event(const events::Event& event) override;
  std::vector<events::Message> notices() override { return notices_; }
  std::string name() const override { return "the dashboard"; }
  std::string url() const { return server_ ? server_->url() : ""; }

 private:
  const events::DeviceUseNow device_use_;
  RunBoard board_;  // of one run
  std::unique_ptr<WebServer> server_;
  std::vector<events::Message> notices_;
};

}  // namespace burn::train::dashboard
