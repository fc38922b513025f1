// Serves sessions on the devices of this process: one worker each.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "net/serve/session_host.h"
#include "server/gate.h"
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
  std::unique_ptr<proto::ServedSession> open_session(std::size_t device) override;
  void log(net::Severity severity, std::string_view line) override;

 private:
  const Workers workers_;
  const session::Quotas quotas_;
  const std::shared_ptr<const Gate> gate_;
  std::vector<std::string> devices_;
};

}  // namespace burn::server
