// Serves sessions on the devices of this process: one worker each.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "net/serve/session_host.h"
#include "server/gate.h"
#include "server/log_throttle.h"
#include "session/local_session.h"

namespace burn::server {

class WorkerHost final : public net::SessionHost {
 public:
  using Workers = std::vector<std::shared_ptr<session::Worker>>;
  // `quotas`: of each session. `lease`: how long they may outlive their connections. `gate`: who may have one; null:
  // everybody.
  WorkerHost(Workers workers, const session::Quotas& quotas, std::chrono::seconds lease = std::chrono::seconds{0},
             std::shared_ptr<const Gate> gate = nullptr);

  const Workers& workers() const { return workers_; }

  const std::vector<std::string>& devices() const override { return devices_; }
  Result<Admission> admit(const proto::Hello& hello, const std::string& peer) override;
  Status authenticate(const proto::Hello& hello) override;
  std::unique_ptr<proto::ServedSession> open_session(const proto::Hello& hello) override;
  void log(net::Severity severity, std::string_view line) override;
  // At most kMostLines of them in each kLinePeriod; of others the number is logged when the period is over.
  void log_unauthenticated(std::string_view line) override;
  // Logs how many lines were left out, if it is time. To be called every few seconds.
  void log_left_out();

  static constexpr std::size_t kMostLines = 10;
  static constexpr std::chrono::seconds kLinePeriod{10};

 private:
  const Workers workers_;
  const session::Quotas quotas_;
  const std::shared_ptr<const Gate> gate_;
  std::vector<std::string> devices_;
  LogThrottle strangers_{kMostLines, kLinePeriod};
};

}  // namespace burn::server
