#include "router/router_host.h"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/machine.h"
#include "base/one_line.h"
#include "daemon/log.h"
#include "daemon/operator/histogram_sample.h"
#include "daemon/spans.h"
#include "daemon/status_session.h"
#include "ir/catalogue.h"
#include "ir/ops/collectives.h"
#include "router/fleet_session.h"
#include "router/pass_through.h"
#include "router/version.h"

namespace burn::router {
namespace {

constexpr std::string_view kFleet = "fleet", kMinLoaded = "least-loaded";

// The info that a client gets for a session on the worker, before the worker has sent its welcome.
proto::SessionInfo info_for_client(const proto::SessionInfo& worker) {
  auto info = worker;
  info.server = fmt::format("{} ({})", kServerName, worker.server);
  info.bulk_credit = proto::kInitialCredit;
  return info;
}

void lower(std::uint64_t& limit, std::uint64_t other) { limit = std::min(limit, other); }

}  // namespace

RouterHost::RouterHost(Members members, compile::partition::Mesh mesh, std::chrono::seconds lease,
                       std::shared_ptr<daemon::AdmissionControl> admission)
    : Host(lease, std::move(admission)),
      members_(std::move(members)),
      mesh_(mesh),
      memory_(std::make_shared<HostMemory>(usable_memory())),
      devices_{std::string{kFleet}},
      readiness_(unavailable("this router is not connected to its workers yet")) {
  for (const auto& member : members_) devices_.push_back(member->name());
}

// --- workers ---------------------------------------------------------------------------------------------------------

Status RouterHost::connect_members(std::chrono::milliseconds timeout) {
  constexpr auto kPause = std::chrono::milliseconds{100};
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + timeout;
  std::vector<MemberFacts> facts;
  for (const auto& member : members_) {
    for (bool has_logged = false;; has_logged = true) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
      auto tried = member->connect(std::max(left, kPause));
      if (tried.ok()) break;
      if (tried.code() == StatusCode::unauthenticated)
        return Status{tried.code(), tried.message() + " (the router's token is in --worker-token-file)"};
      if (tried.code() != StatusCode::unavailable) return tried;
      if (Clock::now() + kPause >= deadline)
        return unavailable(fmt::format("{}; tried for {} s (--worker-timeout)", tried.message(),
                                       std::chrono::duration_cast<std::chrono::seconds>(timeout).count()));
      auto why = fmt::format("this router waits for its worker {}", tried.message());
      if (!has_logged) daemon::log_info(why);
      {
        const std::lock_guard lock{mutex_};
        readiness_ = unavailable(std::move(why));
      }
      std::this_thread::sleep_for(kPause);
    }
    facts.push_back(member->facts());
  }
  BURN_RETURN_IF_ERROR(check_members(facts, instance(), ir::op_set_fingerprint()));
  const std::lock_guard lock{mutex_};
  readiness_ = {};
  return {};
}

void RouterHost::poll_members() {
  for (const auto& member : members_) member->poll();
}

Status RouterHost::readiness() const {
  const std::lock_guard lock{mutex_};
  return readiness_;
}

void RouterHost::collect(daemon::Samples& samples) const {
  std::size_t lost = 0;
  for (const auto& member : members_) {
    const auto stats = member->stats();
    const bool is_up = stats.lost.empty();
    if (!is_up) ++lost;
    samples.add(daemon::Metric::router_member_up, is_up ? 1 : 0, {stats.url});
    samples.add(daemon::Metric::router_member_sessions, static_cast<double>(stats.sessions), {stats.url});
  }
  daemon::collect_spans(spans_.get(), samples);
  samples.add(daemon::Metric::router_members, static_cast<double>(members_.size() - lost), {"connected"});
  samples.add(daemon::Metric::router_members, static_cast<double>(lost), {"lost"});
  samples.add(daemon::Metric::router_kept, static_cast<double>(memory_->taken()));
  samples.add(daemon::Metric::router_regroup_seconds, daemon::histogram_sample(times_->first_group), {"first"});
  samples.add(daemon::Metric::router_regroup_seconds, daemon::histogram_sample(times_->new_group), {"failed_run"});
  samples.add(daemon::Metric::router_rewrite_seconds, daemon::histogram_sample(times_->rewrite));
}

void RouterHost::report(daemon::Report& report) const {
  daemon::Report::Table table{.name = "members",
                              .columns = {"name", "url", "why_lost", "weight", "sessions", "runs", "busy_seconds",
                                          "memory_in_use_bytes", "memory_limit_bytes"},
                              .rows = {}};
  for (const auto& member : members_) {
    const auto stats = member->stats();
    table.rows.push_back({stats.name, stats.url, stats.lost, stats.weight, stats.sessions, stats.device.runs,
                          stats.device.busy_seconds, stats.device.memory_in_use, stats.device.memory_limit});
  }
  report.tables.push_back(std::move(table));
}

// --- sessions --------------------------------------------------------------------------------------------------------

Result<std::string> RouterHost::device_of(const proto::Hello& hello) const {
  if (hello.device_name == kMinLoaded) return hello.device_name;
  if (daemon::status_subject(hello)) return std::string{"status"};
  auto found = Host::device_of(hello);
  if (found.ok()) return found;
  return not_found(fmt::format("{}; by name also {} and status", found.status().message(), kMinLoaded));
}

std::unique_ptr<proto::ServedSession> RouterHost::open_session(const proto::Hello& hello) {
  if (daemon::status_subject(hello)) return open_status();
  if (auto ready = readiness(); !ready.ok()) return daemon::make_refused_session(std::move(ready));
  if (hello.device_name == kMinLoaded) return open_least_loaded();
  const auto slot = net::find_device(devices_, hello);
  if (!slot.ok()) return daemon::make_refused_session(slot.status());
  if (*slot > 0) return open_on(members_[*slot - 1]);
  return members_.size() == 1 ? open_on(members_.front()) : open_fleet();
}

// Also works while the router is not connected to its workers: a router opens this session to detect that it is its own
// worker.
std::unique_ptr<proto::ServedSession> RouterHost::open_status() const {
  const proto::SessionInfo info{.server = kServerName,
                                .session = {},
                                .devices = devices_,
                                .max_tensor_bytes = 0,
                                .max_in_flight = 16,
                                .bulk_credit = proto::kInitialCredit};
  return daemon::make_status_session(info, [members = members_] {
    proto::SessionStats stats;
    for (const auto& member : members) stats.members.push_back(member->stats());
    return stats;
  });
}

std::unique_ptr<proto::ServedSession> RouterHost::open_on(const std::shared_ptr<Member>& member) const {
  if (auto health = member->health(); !health.ok()) return daemon::make_refused_session(std::move(health));
  auto session = member->open_session(Member::Use::pass_through);
  if (!session.ok()) return daemon::make_refused_session(session.status());
  return make_pass_through(*std::move(session), info_for_client(member->facts().info));
}

std::unique_ptr<proto::ServedSession> RouterHost::open_least_loaded() {
  std::shared_ptr<Member> best;
  std::string lost;
  const auto first = round_robin_++;
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const auto& member = members_[(first + k) % members_.size()];
    if (const auto health = member->health(); !health.ok()) {
      lost += (lost.empty() ? "" : "; ") + health.message();
    } else if (!best || member->load() < best->load()) {
      best = member;
    }
  }
  if (best) return open_on(best);
  return daemon::make_refused_session(unavailable("no worker of this router is there: " + lost));
}

std::unique_ptr<proto::ServedSession> RouterHost::open_fleet() const {
  if (std::max(mesh_.data, mesh_.model) > ir::kMaxMembers) {
    return daemon::make_refused_session(Status{
        StatusCode::failed_precondition,
        fmt::format(
            "a session on all {} workers needs a mesh: an axis has at most {} (--mesh data=N,model=M); devices 1 "
            "to {} and {} are one worker each",
            members_.size(), ir::kMaxMembers, members_.size(), kMinLoaded)});
  }
  FleetOptions options;
  options.mesh = mesh_;
  options.account = memory_;
  options.times = times_;
  options.spans = spans_;
  for (std::size_t k = 0; k < members_.size(); ++k) {
    const auto& member = members_[k];
    if (auto health = member->health(); !health.ok()) return daemon::make_refused_session(std::move(health));
    auto session = member->open_session(Member::Use::fleet);
    if (!session.ok()) return daemon::make_refused_session(session.status());
    options.members.push_back(*std::move(session));
    options.names.push_back(member->url());
    options.weights.push_back(member->weight());
    if (member->load() < members_[options.home]->load()) options.home = k;
    const auto& theirs = member->facts().info;
    lower(options.quotas.in_flight, theirs.max_in_flight);
    lower(options.quotas.programs, theirs.max_programs);
    lower(options.quotas.program_entries, theirs.max_program_entries);
  }
  return make_fleet_session(std::move(options));
}

}  // namespace burn::router
