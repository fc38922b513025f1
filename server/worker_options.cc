#include "server/worker_options.h"

#include <utility>

#include <fmt/format.h>

#include "backends/registry/registry.h"
#include "base/error.h"
#include "daemon/log.h"
#include "daemon/resource_limits.h"
#include "daemon/spans.h"
#include "daemon/tls_options.h"
#include "server/collective_address.h"
#include "session/version.h"

namespace burn::server {

using std::chrono::seconds;

daemon::ServiceOptions service_options(const ServerOptions& options) {
  return {
      .ws = options.ws,
      .grpc = options.grpc,
      .unix_path = options.unix_path,
      .grpc_unix_path = options.grpc_unix_path,
      .advertise = options.advertise,
      .operator_address = options.operator_address,
      .title = session::kServerName,
      .token_file = options.token_file,
      .tenant_file = options.tenant_file,
      .audit_log = options.audit_log,
      .audit_required = options.audit_required,
      .tls = options.tls,
      .insecure = options.insecure,
      .allow_origins = options.allow_origins,
      .sessions = options.sessions,
      .sessions_per_peer = options.sessions_per_peer,
      .max_connections = options.max_connections,
      .session_lease = seconds{options.session_lease},
      .hello_timeout = seconds{options.hello_seconds},
      .drain_timeout = seconds{options.drain_seconds},
  };
}

std::shared_ptr<WorkerHost> open_worker(const ServerOptions& options) {
  auto collective_address = value_or_throw(find_collective_address(options.collective_address));
  if (collective_address != options.collective_address)
    daemon::log_info(
        fmt::format("other workers reach this one at {}, {}", options.collective_address, collective_address));
  session::PlanCapacity plans;
  if (options.plan_cache) plans.bytes = static_cast<std::size_t>(*options.plan_cache);
  WorkerHost::Workers workers;
  for (const auto& device : value_or_throw(backends::parse_devices(options.device))) {
    workers.push_back(
        session::Worker::create(value_or_throw(backends::open_backend(device)), {.bytes = options.idle_memory}, plans));
  }
  const session::Quotas quotas{
      .tensor_bytes = options.session_bytes, .programs = options.programs, .run_timeout = options.run_timeout};
  const auto service = service_options(options);
  auto admission = std::make_shared<daemon::AdmissionControl>(daemon::credentials_of(service),
                                                              daemon::ResourceLimits::sessions(service));
  auto spans = value_or_throw(daemon::make_span_exporter(options.otlp, options.trace_one_in, session::kServerName));
  for (const auto& worker : workers) worker->set_spans(spans);
  auto host = std::make_shared<WorkerHost>(std::move(workers), quotas, seconds{options.session_lease},
                                           std::move(admission), std::move(collective_address));
  host->show_spans(std::move(spans));
  return host;
}

ServerOptions server_options(const daemon::OptionValues& values) {
  using daemon::Option;
  ServerOptions options;
  options.device = values.text(Option::device);
  options.ws = values.text(Option::ws);
  options.grpc = values.text(Option::grpc);
  options.unix_path = values.text(Option::unix_path);
  options.grpc_unix_path = values.text(Option::grpc_unix_path);
  options.collective_address = values.text(Option::collective_address);
  options.advertise = values.list(Option::advertise);
  options.operator_address = values.text(Option::operator_address);
  options.token_file = values.text(Option::token_file);
  options.tenant_file = values.text(Option::tenants);
  options.audit_log = values.text(Option::audit_log);
  options.otlp = values.text(Option::otlp);
  options.trace_one_in = values.number(Option::trace_one_in);
  options.audit_required = values.is_set(Option::audit_required);
  options.tls = value_or_throw(daemon::tls_options(values));
  options.insecure = values.is_set(Option::insecure);
  options.allow_origins = values.list(Option::allow_origin);
  options.sessions = values.number(Option::sessions);
  options.sessions_per_peer = values.number(Option::sessions_per_peer);
  options.session_bytes = values.number(Option::session_memory);
  options.programs = values.number(Option::programs);
  options.run_timeout = values.duration(Option::run_timeout);
  if (values.is_set(Option::plan_cache)) options.plan_cache = values.number(Option::plan_cache);
  options.idle_memory = values.number(Option::idle_memory);
  options.session_lease =
      static_cast<int>(std::chrono::duration_cast<seconds>(values.duration(Option::session_lease)).count());
  options.drain_seconds =
      static_cast<int>(std::chrono::duration_cast<seconds>(values.duration(Option::drain_timeout)).count());
  return options;
}

}  // namespace burn::server
