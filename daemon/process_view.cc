#include "daemon/process_view.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

#include <fmt/format.h>

#include "base/one_line.h"
#include "daemon/log.h"
#include "daemon/operator/process_metrics.h"
#include "daemon/operator/thread_times.h"
#include "ir/catalogue.h"
#include "net/listen/process_limits.h"
#include "proto/message.h"

namespace burn::daemon {
namespace {

using net::SessionEnd;

template <typename Reason>
struct Named {
  Reason reason;
  std::string_view name;
};
constexpr std::array<Named<SessionEnd>, kSessionEnds> kEnds{{{SessionEnd::client, "client"},
                                                             {SessionEnd::connection, "connection"},
                                                             {SessionEnd::rule, "rule"},
                                                             {SessionEnd::drain, "drain"},
                                                             {SessionEnd::lease, "lease"}}};

constexpr std::array<Named<Refusal>, kRefusals> kRefusalNames{{{Refusal::token, "token"},
                                                               {Refusal::limit, "limit"},
                                                               {Refusal::version, "version"},
                                                               {Refusal::no_hello, "no_hello"},
                                                               {Refusal::draining, "draining"},
                                                               {Refusal::session, "session"},
                                                               {Refusal::protocol, "protocol"},
                                                               {Refusal::left, "left"},
                                                               {Refusal::tenant, "tenant"}}};

using net::tls::HandshakeResult;
constexpr std::array<Named<HandshakeResult>, net::tls::kHandshakeResults> kHandshakes{
    {{HandshakeResult::ok, "ok"},
     {HandshakeResult::plain_text, "plain_text"},
     {HandshakeResult::refused_by_client, "refused_by_client"},
     {HandshakeResult::bad_certificate, "bad_certificate"},
     {HandshakeResult::version, "version"},
     {HandshakeResult::cut, "cut"}}};

// "0.1.0" of "burn-server 0.1.0".
std::string_view version_of(std::string_view title) { return title.substr(title.rfind(' ') + 1); }

double number(std::uint64_t count) { return static_cast<double>(count); }

void report_threads(Report& report) {
  auto& table = report.tables.emplace_back(
      Report::Table{.name = "threads", .columns = {"name", "number", "cpu_seconds"}, .rows = {}});
  for (const auto& [name, count, seconds] : threads_by_name())
    table.rows.push_back({name, std::uint64_t{count}, seconds});
}

}  // namespace

void ProcessView::show_options(Daemon daemon, const OptionValues& values) {
  const std::lock_guard lock{mutex_};
  daemon_ = daemon;
  options_ = values;
}

void ProcessView::attach(Service& service, Host& host) {
  const std::lock_guard lock{mutex_};
  service_ = &service;
  host_ = &host;
}

void ProcessView::detach() {
  const std::lock_guard lock{mutex_};
  service_ = nullptr;
  host_ = nullptr;
}

Status ProcessView::why_not_started() const {
  return service_ ? Status{} : unavailable("starting: devices are being opened, or the process is at its end");
}

Status ProcessView::why_not_ready() const {
  if (service_->is_stopping()) return unavailable(fmt::format("draining: {} sessions are left", service_->sessions()));
  BURN_RETURN_IF_ERROR(host_->health());
  if (!net::has_memory_for_connection()) return resource_exhausted("there is no memory for another session");
  if (net::free_descriptors() == 0) return resource_exhausted("there is no file descriptor for another connection");
  return {};
}

Status ProcessView::startup() const {
  const std::lock_guard lock{mutex_};
  return why_not_started();
}

Status ProcessView::ready() const {
  const std::lock_guard lock{mutex_};
  BURN_RETURN_IF_ERROR(why_not_started());
  return why_not_ready();
}

// A process without a service is healthy: it is starting or shutting down.
Status ProcessView::healthy() const {
  const std::lock_guard lock{mutex_};
  if (!service_) return {};
  if (service_->is_stuck(std::chrono::steady_clock::now())) {
    return internal_error(fmt::format("the thread that sees to deadlines has not come round for {} s beyond its time",
                                      Service::kMaxPause.count()));
  }
  return host_->health();
}

void ProcessView::collect_bytes(Samples& samples) const {
  constexpr std::array<Named<Transport>, kTransports> kNames{{{Transport::websocket, "websocket"},
                                                              {Transport::grpc, "grpc"},
                                                              {Transport::unix_socket, "unix"},
                                                              {Transport::grpc_unix, "grpc_unix"}}};
  for (const auto& [transport, name] : kNames) {
    const auto* bytes = service_->bytes(transport);
    if (!bytes) continue;
    samples.add(Metric::received_bytes, number(bytes->received), {name});
    samples.add(Metric::sent_bytes, number(bytes->sent), {name});
  }
}

void ProcessView::collect_clients(Samples& samples) const {
  const auto leases = host_->leases().counts();
  const auto sessions = service_->sessions();
  const auto waiting = std::min(leases.lost, sessions);
  samples.add(Metric::sessions, number(sessions - waiting), {"connected"});
  samples.add(Metric::sessions, number(waiting), {"waiting"});
  samples.add(Metric::sessions_limit, number(service_->sessions_limit()));
  samples.add(Metric::connections, number(service_->connections()));
  samples.add(Metric::connections_limit, number(service_->connections_limit()));
  const auto& counters = host_->counters();
  samples.add(Metric::sessions_opened, number(counters.opened()));
  for (const auto& [end, name] : kEnds) samples.add(Metric::sessions_closed, number(counters.closed(end)), {name});
  samples.add(Metric::session_resumes, number(leases.resumes));
  samples.add(Metric::frames_duplicate, number(leases.duplicates));
  for (const auto& [refusal, name] : kRefusalNames) {
    samples.add(Metric::admissions_refused, number(counters.refused(refusal)), {name});
  }
}

void ProcessView::collect_security(Samples& samples) const {
  if (const auto* tls = service_->tls()) {
    for (const auto& [result, name] : kHandshakes)
      samples.add(Metric::tls_handshakes, number(tls->counted(result)), {name});
    const auto expires = std::chrono::system_clock::to_time_t(tls->current()->not_after());
    samples.add(Metric::tls_not_after, static_cast<double>(expires));
  }
  const auto& reloads = service_->reloads();
  samples.add(Metric::reloads, number(reloads.config), {"config", "ok"});
  samples.add(Metric::reloads, number(reloads.config_refused), {"config", "refused"});
  samples.add(Metric::reloads, number(reloads.credentials), {"credentials", "ok"});
  samples.add(Metric::reloads, number(reloads.credentials_refused), {"credentials", "refused"});
  samples.add(Metric::reloads, number(reloads.certificate), {"certificate", "ok"});
  samples.add(Metric::reloads, number(reloads.certificate_refused), {"certificate", "refused"});
  for (const auto& tenant : host_->admission().tenants().all()) {
    const std::string_view name = tenant->name();
    const auto& account = *tenant->account();
    samples.add(Metric::tenant_sessions, number(tenant->sessions()), {name});
    samples.add(Metric::tenant_memory, number(account.in_use()), {name});
    samples.add(Metric::tenant_device_seconds, std::chrono::duration<double>(account.device()).count(), {name});
    samples.add(Metric::tenant_queue_seconds, std::chrono::duration<double>(account.queue()).count(), {name});
    samples.add(Metric::tenant_refused, number(tenant->refused()), {name});
  }
  if (const auto* log = host_->audit_log()) samples.add(Metric::audit_lines_lost, number(log->lines_lost()));
}

void ProcessView::collect(Samples& samples) const {
  collect_process(samples);
  samples.add(Metric::build_info, 1,
              {version_of(title_), fmt::format("{}", proto::kProtocolVersion),
               fmt::format("{:016x}", ir::op_set_fingerprint())});
  samples.add(Metric::log_lines_lost, number(log_lines_lost()));
  const std::lock_guard lock{mutex_};
  samples.add(Metric::ready, why_not_started().ok() && why_not_ready().ok() ? 1 : 0);
  samples.add(Metric::draining, service_ && service_->is_stopping() ? 1 : 0);
  if (!service_) return;
  samples.add(Metric::insecure, host_->admission().is_open() ? 1 : 0);
  collect_clients(samples);
  collect_bytes(samples);
  collect_security(samples);
  host_->collect(samples);
}

Status ProcessView::set_log_level(std::string_view level) {
  if (!daemon::set_log_level(level)) {
    return invalid_argument(
        fmt::format("there is no log level {}: trace, debug, info, warning, error or off", quoted(level)));
  }
  log_info(fmt::format("the operator has set the log level to {}", level));
  return {};
}

Status ProcessView::close_session(std::string_view name) {
  const std::lock_guard lock{mutex_};
  BURN_RETURN_IF_ERROR(why_not_started());
  auto status = service_->close_session(name);
  if (auto* log = host_->audit_log())
    log->write("close", fmt::format("{}: {}", name, status.ok() ? "ok" : status.message()));
  return status;
}

// The same values as --print-config. No secrets: options hold only the paths of files of tokens and keys.
void ProcessView::report_options(Report& report) const {
  if (!options_) return;
  auto& table =
      report.tables.emplace_back(Report::Table{.name = "options", .columns = {"name", "value", "origin"}, .rows = {}});
  for (const auto& row : options()) {
    if (!has_option(daemon_, row.option) || is_of_command_line(row.option)) continue;
    const auto value = options_->to_toml(row.option);
    table.rows.push_back({std::string{row.flag}, value, value.empty() ? "not set" : options_->origin(row.option)});
  }
}

void ProcessView::report_tenants(Report& report) const {
  const auto tenants = host_->admission().tenants().all();
  if (tenants.empty()) return;
  auto& table = report.tables.emplace_back(Report::Table{
      .name = "tenants",
      .columns = {"name", "sessions", "memory_in_use_bytes", "device_seconds", "queue_seconds", "refused"},
      .rows = {}});
  for (const auto& tenant : tenants) {
    const auto& account = *tenant->account();
    table.rows.push_back({std::string{tenant->name()}, std::uint64_t{tenant->sessions()},
                          std::uint64_t{account.in_use()}, std::chrono::duration<double>(account.device()).count(),
                          std::chrono::duration<double>(account.queue()).count(), std::uint64_t{tenant->refused()}});
  }
}

void ProcessView::report_sessions(Report& report) const {
  auto& table = report.tables.emplace_back(
      Report::Table{.name = "sessions",
                    .columns = {"name", "tenant", "device", "connected", "age_seconds", "resumes", "runs",
                                "busy_seconds", "memory_in_use_bytes", "memory_peak_bytes"},
                    .rows = {}});
  for (const auto& view : service_->session_views()) {
    if (table.rows.size() == kMaxSessions) break;
    const auto& usage = view.stats.session;
    table.rows.push_back({view.name, view.tenant, view.device, view.is_connected,
                          std::chrono::duration<double>(view.age).count(), view.resumes, usage.runs, usage.busy_seconds,
                          usage.memory_in_use, usage.memory_peak});
  }
}

Report ProcessView::report() const {
  const std::lock_guard lock{mutex_};
  const auto why_not = !service_ ? why_not_started() : why_not_ready();
  Report report;
  report.tables.push_back({.name = "process",
                           .columns = {"name", "ready", "why_not", "protocol", "fingerprint"},
                           .rows = {{title_, why_not.ok(), why_not.message(), std::uint64_t{proto::kProtocolVersion},
                                     fmt::format("{:016x}", ir::op_set_fingerprint())}}});
  if (!service_) return report_options(report), report;
  auto& listeners = report.tables.emplace_back(Report::Table{.name = "listeners", .columns = {"url"}, .rows = {}});
  for (const auto& url : service_->urls()) listeners.rows.push_back({url});
  const auto leases = host_->leases().counts();
  report.tables.push_back({.name = "clients",
                           .columns = {"sessions", "sessions_limit", "sessions_waiting", "connections",
                                       "connections_limit", "sessions_opened", "resumes", "duplicate_frames"},
                           .rows = {{std::uint64_t{service_->sessions()}, std::uint64_t{service_->sessions_limit()},
                                     std::uint64_t{leases.lost}, std::uint64_t{service_->connections()},
                                     std::uint64_t{service_->connections_limit()}, host_->counters().opened(),
                                     leases.resumes, leases.duplicates}}});
  host_->report(report);
  report_tenants(report);
  report_sessions(report);
  report_threads(report);
  report_options(report);
  return report;
}

}  // namespace burn::daemon
