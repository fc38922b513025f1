#include "router/router.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "daemon/periodic_thread.h"
#include "daemon/resource_limits.h"
#include "daemon/service.h"
#include "daemon/spans.h"
#include "daemon/tls_options.h"
#include "router/router_host.h"
#include "router/version.h"

namespace burn::router {
namespace {

RouterHost::Members make_members(const RouterOptions& options, const std::shared_ptr<SpanSink>& spans) {
  if (options.workers.empty())
    throw Error{StatusCode::invalid_argument, "a router needs a worker: --worker ws://HOST:PORT"};
  const auto token = std::make_shared<WorkerToken>(options.worker_token_file);
  RouterHost::Members members;
  for (const auto& text : options.workers) {
    const auto member =
        std::make_shared<Member>(value_or_throw(parse_worker(text)), token, options.worker_lease, spans);
    for (const auto& other : members) {
      if (other->name() != member->name()) continue;
      throw Error{
          StatusCode::invalid_argument,
          fmt::format("--worker {} and --worker {} are the same device of one worker", other->url(), member->url())};
    }
    members.push_back(member);
  }
  return members;
}

std::shared_ptr<RouterHost> make_host(const RouterOptions& options) {
  auto spans = value_or_throw(daemon::make_span_exporter(options.otlp, options.trace_one_in, kServerName));
  auto members = make_members(options, spans);
  const auto mesh = value_or_throw(parse_mesh(options.mesh, members.size()));
  auto admission = std::make_shared<daemon::AdmissionControl>(daemon::credentials_of(options.service),
                                                              daemon::ResourceLimits::sessions(options.service));
  auto host =
      std::make_shared<RouterHost>(std::move(members), mesh, options.service.session_lease, std::move(admission));
  host->set_spans(std::move(spans));
  return host;
}

// Accounts for the descriptors of a session, which has a connection to each worker.
daemon::ServiceOptions with_descriptors(daemon::ServiceOptions options, std::size_t workers) {
  options.session_descriptors = workers;
  return options;
}

}  // namespace

RouterOptions router_options(const daemon::OptionValues& values) {
  using daemon::Option;
  const auto seconds = [&](Option option) {
    return std::chrono::duration_cast<std::chrono::seconds>(values.duration(option));
  };
  RouterOptions options;
  options.service = {
      .ws = values.text(Option::ws),
      .grpc = values.text(Option::grpc),
      .unix_path = values.text(Option::unix_path),
      .grpc_unix_path = values.text(Option::grpc_unix_path),
      .advertise = values.list(Option::advertise),
      .operator_address = values.text(Option::operator_address),
      .title = kServerName,
      .token_file = values.text(Option::token_file),
      .tenant_file = values.text(Option::tenants),
      .audit_log = values.text(Option::audit_log),
      .audit_required = values.is_set(Option::audit_required),
      .tls = value_or_throw(daemon::tls_options(values)),
      .insecure = values.is_set(Option::insecure),
      .allow_origins = values.list(Option::allow_origin),
      .sessions = values.number(Option::sessions),
      .sessions_per_peer = values.number(Option::sessions_per_peer),
      .session_lease = seconds(Option::session_lease),
      .drain_timeout = seconds(Option::drain_timeout),
  };
  options.workers = values.list(Option::worker);
  options.mesh = values.text(Option::mesh);
  options.otlp = values.text(Option::otlp);
  options.trace_one_in = values.number(Option::trace_one_in);
  options.worker_token_file = values.text(Option::worker_token_file);
  options.worker_timeout = seconds(Option::worker_timeout);
  options.worker_lease = seconds(Option::worker_lease);
  return options;
}

Router::Router(const RouterOptions& options)
    : host_(make_host(options)),
      service_(std::make_unique<daemon::Service>(with_descriptors(options.service, host_->members().size()), host_)) {
  throw_if_error(host_->connect_members(options.worker_timeout));
  watch_ = std::make_unique<daemon::PeriodicThread>("burn-members", [host = host_] {
    host->poll_members();
    return std::chrono::seconds{1};
  });
}

Router::~Router() { stop(); }

std::string Router::url() const { return urls().front(); }
const std::vector<std::string>& Router::urls() const { return service_->urls(); }
std::size_t Router::sessions() const { return service_->sessions(); }

void Router::stop() {
  if (watch_) watch_->stop();
  service_->stop();
}

}  // namespace burn::router
