// Serves sessions on the workers of a router: on one of them, or on all of them as one device.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "daemon/host.h"
#include "net/trace/span_exporter.h"
#include "router/fleet_times.h"
#include "router/host_memory.h"
#include "router/member.h"
#include "serving/budget.h"

namespace burn::router {

// Device 0 is "fleet", all workers as one; devices 1 and up are the workers in the order of --worker,
// "member:HOST:PORT". Available by name only: "least-loaded", one of the workers, and "status". With one worker the
// fleet is that worker.
class RouterHost final : public daemon::Host {
 public:
  using Members = std::vector<std::shared_ptr<Member>>;
  // Requires: at least one member; names are unique.
  RouterHost(Members members, compile::partition::Mesh mesh, std::chrono::seconds lease,
             std::shared_ptr<daemon::AdmissionControl> admission);

  const Members& members() const { return members_; }
  // Sets the exporter for spans of runs; null: none. Must be called before there are sessions.
  void set_spans(std::shared_ptr<net::SpanExporter> spans) { spans_ = std::move(spans); }

  // Connects to all workers, retrying those that do not answer, and checks that they fit together. Sessions are refused
  // with UNAVAILABLE until this has succeeded. Errors: UNAVAILABLE for a worker that is not reachable within `timeout`,
  // or is not a worker; those of net::connect(); FAILED_PRECONDITION as in check_members().
  Status connect_members(std::chrono::milliseconds timeout);
  // Calls Member::poll() on all members. To be called about once a second by one thread, after connect_members() has
  // succeeded.
  void poll_members();

  const std::vector<std::string>& devices() const override { return devices_; }
  Result<std::string> device_of(const proto::Hello& hello) const override;
  std::unique_ptr<proto::ServedSession> open_session(const proto::Hello& hello) override;
  std::string_view role() const override { return "router"; }
  void collect(daemon::Samples& samples) const override;
  void report(daemon::Report& report) const override;

 private:
  std::unique_ptr<proto::ServedSession> open_status() const;
  std::unique_ptr<proto::ServedSession> open_on(const std::shared_ptr<Member>& member) const;
  std::unique_ptr<proto::ServedSession> open_least_loaded();
  std::unique_ptr<proto::ServedSession> open_fleet() const;
  Status readiness() const;

  const Members members_;
  std::shared_ptr<net::SpanExporter> spans_;
  const compile::partition::Mesh mesh_;
  const std::shared_ptr<HostMemory> memory_;  // used by sessions on all workers
  const std::shared_ptr<FleetTimes> times_ = std::make_shared<FleetTimes>();
  std::vector<std::string> devices_;
  std::atomic<std::size_t> round_robin_ = 0;  // round robin among members with the same load

  mutable std::mutex mutex_;
  Status readiness_;  // why sessions are refused; ok: they are served. Guarded by `mutex_`.
};

}  // namespace burn::router
