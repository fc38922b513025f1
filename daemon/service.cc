#include "daemon/service.h"

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/fork.h"
#include "daemon/certificate_log.h"
#include "daemon/connection_acceptor.h"
#include "daemon/drain.h"
#include "daemon/handshake_timer.h"
#include "daemon/log.h"
#include "daemon/periodic_thread.h"
#include "daemon/resource_limits.h"
#include "daemon/session_reaper.h"
#include "net/dial/connect.h"
#include "net/listen/listener.h"
#include "net/tls/identity.h"

namespace burn::daemon {
namespace {

constexpr auto kPeriod = std::chrono::seconds{1};               // interval of tick() while there are clients
constexpr auto kCloseTimeout = std::chrono::seconds{1};         // for clients to receive their Close
constexpr auto kFilePeriod = std::chrono::milliseconds{9'500};  // interval of checking files for changes
constexpr std::string_view kShuttingDown = "the server is shutting down";

std::uint32_t count_forks() {
  install_fork_handlers();
  return fork_count();
}

Status check_advertised(const std::vector<std::string>& urls) {
  for (const auto& url : urls) {
    const auto endpoint = net::parse_url(url);
    if (!endpoint.ok()) return endpoint.status().with_context("--advertise");
    const bool is_tcp =
        endpoint->scheme == net::Endpoint::Scheme::websocket || endpoint->scheme == net::Endpoint::Scheme::grpc;
    if (!is_tcp || endpoint->device != 0 || !endpoint->device_name.empty())
      return invalid_argument(fmt::format("--advertise {}: a server is HOST:PORT, without a path", url));
  }
  return {};
}

}  // namespace

// The components that have threads. Later members use earlier ones; stop() ends them.
struct Service::Parts {
  Parts(const ServiceOptions& options, const std::shared_ptr<Host>& host)
      : handshake_timer(options.hello_timeout),
        reaper(host),
        acceptor(host, [this](auto ended) { reaper.add(std::move(ended)); }) {}

  const HandshakeTimer handshake_timer;
  SessionReaper reaper;
  ConnectionAcceptor acceptor;
  std::unique_ptr<PeriodicThread> timer;
  std::vector<std::unique_ptr<MeteredAcceptor>> acceptors;  // of the listeners
  std::vector<std::unique_ptr<net::Listener>> listeners;
  std::mutex stopping;      // held by stop()
  bool is_stopped = false;  // Guarded by `stopping`.
};

Service::Service(const ServiceOptions& options, std::shared_ptr<Host> host)
    : options_(options), host_(std::move(host)), forks_(count_forks()), drain_timeout_(options.drain_timeout) {
  throw_if_error(check_advertised(options_.advertise));
  host_->set_advertised(options_.advertise);
  credentials_seen_ = stamp_credentials();
  throw_if_error(host_->admission().reload());
  if (!options_.audit_log.empty()) {
    auto log = std::make_shared<AuditLog>(options_.audit_log);
    throw_if_error(log->open());
    host_->set_audit_log(std::move(log), options_.audit_required);
  }
  if (!options_.tls.certificate.empty()) tls_ = value_or_throw(net::tls::ServerTls::open(options_.tls));
  parts_ = std::make_unique<Parts>(options_, host_);
  try {
    parts_->timer = std::make_unique<PeriodicThread>("burn-timer", [this] { return tick(); });
    listen();
  } catch (...) {
    stop();
    throw;
  }
}

Service::~Service() {
  // In a forked child the threads do not exist and cannot be joined, and the connections belong to the parent: leave
  // everything as it is.
  if (is_forked()) {
    (void)parts_.release();
  } else {
    stop();
  }
}

bool Service::is_forked() const { return forks_ != fork_count(); }
const std::vector<std::string>& Service::urls() const { return urls_; }
std::size_t Service::connections() const { return parts_->acceptor.count() + parts_->reaper.connections(); }
std::size_t Service::sessions() const { return host_->admission().sessions(); }

void Service::listen() {
  const ResourceLimits limits{options_};
  connections_limit_ = limits.connections().all;
  if (!limits.warning().empty()) log_info(limits.warning());
  const net::ListenOptions options{
      .permits = std::make_shared<net::PermitPool>("connections", limits.connections()),
      .loopback_only = !options_.insecure && host_->admission().is_open(),
      .origins = options_.allow_origins,
      .tls = tls_,
  };
  const auto add = [&](Transport transport, const std::string& address, auto listen_on) {
    if (address.empty()) return;
    auto& counts = bytes_[static_cast<std::size_t>(transport)];
    counts = std::make_shared<ByteCounts>();
    auto& acceptor = *parts_->acceptors.emplace_back(std::make_unique<MeteredAcceptor>(parts_->acceptor, counts));
    parts_->listeners.push_back(value_or_throw(listen_on(address, acceptor, options)));
    urls_.push_back(parts_->listeners.back()->url());
  };
  add(Transport::websocket, options_.ws, net::listen_websocket);
  add(Transport::grpc, options_.grpc, net::listen_grpc);
  add(Transport::unix_socket, options_.unix_path, net::listen_unix);
  add(Transport::grpc_unix, options_.grpc_unix_path, net::listen_grpc_unix);
  if (urls_.empty()) throw Error{StatusCode::invalid_argument, "the server has no address to listen on"};
}

// Runs on the timer thread, which no session can block: enforces deadlines.
std::chrono::milliseconds Service::tick() {
  ticked_ = std::chrono::steady_clock::now();
  parts_->handshake_timer.end_overdue(parts_->acceptor.open(), HandshakeTimer::Clock::now());
  reload_changed_files(std::chrono::steady_clock::now());
  auto& leases = host_->leases();
  parts_->reaper.add_expired(leases.take_expired());
  host_->tick();
  // Without clients, the next possible deadline is the one of a new client's handshake, hello_timeout away.
  const bool is_quiet = parts_->acceptor.count() == 0 && leases.counts().lost == 0;
  return is_quiet ? quiet_period() : kPeriod;
}

std::array<net::tls::FileStamp, 2> Service::stamp_credentials() const {
  const auto of = [](const std::string& path) {
    return path.empty() ? net::tls::FileStamp{} : net::tls::stamp_of(path);
  };
  return {of(options_.token_file), of(options_.tenant_file)};
}

void Service::reload_changed_files(std::chrono::steady_clock::time_point now) {
  if (now - files_checked_at_ < kFilePeriod) return;
  files_checked_at_ = now;
  auto certificate = tls_ ? tls_->reload_if_changed() : std::nullopt;
  if (certificate) log_certificate(*tls_, count_certificate(*std::move(certificate)), "changed");
  const auto seen = stamp_credentials();
  if (std::exchange(credentials_seen_, seen) == seen) return;
  const auto read = reload_credentials();
  read.ok() ? log_info("tokens and tenants have changed and are read again")
            : log_warning("tokens and tenants have changed, and stay what they were: " + read.message());
}

Status Service::count_certificate(Status read) {
  ++(read.ok() ? reloads_.certificate : reloads_.certificate_refused);
  return read;
}

Status Service::reload_certificate() { return tls_ ? count_certificate(tls_->reload()) : Status{}; }

Status Service::check_files(std::string_view* what) const {
  if (what) *what = "credentials";
  BURN_RETURN_IF_ERROR(host_->admission().check());
  if (what) *what = "certificate";
  return tls_ ? net::tls::ServerIdentity::read(options_.tls).status() : Status{};
}

void Service::change(const OptionValues& values) {
  using std::chrono::duration_cast;
  using std::chrono::seconds;
  drain_timeout_ = duration_cast<seconds>(values.duration(Option::drain_timeout));
  host_->leases().set_limit(duration_cast<seconds>(values.duration(Option::session_lease)));
  host_->set_audit_required(values.is_set(Option::audit_required));
}

Status Service::reload_credentials() {
  auto read = host_->admission().reload();
  ++(read.ok() ? reloads_.credentials : reloads_.credentials_refused);
  if (read.ok()) end_sessions_of_gone_tenants();
  return read;
}

Status Service::close_session(std::string_view name) {
  for (const auto& connection : parts_->acceptor.open()) {
    if (!connection->is_welcome() || connection->session_name() != name) continue;
    connection->end(cancelled("an operator has closed the session"));
    return {};
  }
  return not_found("no session " + std::string{name} + " has a connection");
}

std::vector<SessionView> Service::session_views() const {
  const auto now = net::ServedConversation::Clock::now();
  std::map<std::string_view, SessionView> by_name;  // during a reconnect a session may have two connections
  const auto add = [&](const net::ServedConversation& conversation, bool is_connected) {
    const auto& terms = conversation.terms();
    if (conversation.is_over() || by_name.contains(terms.name)) return;
    const auto counts = conversation.counts();
    const auto& devices = conversation.info().devices;
    by_name.emplace(terms.name, SessionView{.name = terms.name,
                                            .tenant = terms.tenant,
                                            .device = devices.empty() ? std::string{} : devices.front(),
                                            .is_connected = is_connected,
                                            .age = now - conversation.since(),
                                            .resumes = counts.resumes,
                                            .stats = counts.session});
  };
  const auto connections = parts_->acceptor.open();  // own the names that by_name refers to
  const auto leased = host_->leases().all();
  for (const auto& connection : connections) {
    if (connection->is_welcome()) add(connection->conversation(), !connection->conversation().lost_at());
  }
  for (const auto& conversation : leased) add(*conversation, !conversation->lost_at());
  std::vector<SessionView> views;
  views.reserve(by_name.size());
  for (auto& [name, view] : by_name) views.push_back(std::move(view));
  std::ranges::stable_sort(views, std::greater{},
                           [](const SessionView& view) { return view.stats.session.memory_in_use; });
  return views;
}

void Service::end_sessions_of_gone_tenants() {
  const auto& tenants = host_->admission().tenants();
  if (!tenants.are_used()) return;
  const auto is_gone = [&](const std::string& name) {
    const auto tenant = tenants.by_name(name);
    if (!tenant) return name != net::Identity{}.tenant;  // the default tenant need not be listed
    return !tenant->is_admitted();
  };
  for (const auto& connection : parts_->acceptor.open()) {
    if (!connection->is_welcome() || !is_gone(connection->tenant())) continue;
    connection->end({StatusCode::permission_denied, "tenant " + connection->tenant() + " is disabled"});
  }
  parts_->reaper.add_expired(host_->leases().take_lost_if(is_gone));
}

std::chrono::milliseconds Service::quiet_period() const { return std::max(options_.hello_timeout, kPeriod); }

bool Service::is_stuck(std::chrono::steady_clock::time_point now) const {
  return !is_stopping_ && now - ticked_.load() > quiet_period() + kMaxPause;
}

void Service::stop() {
  if (is_forked()) return;
  is_stopping_ = true;
  auto& parts = *parts_;
  const std::lock_guard stopping{parts.stopping};
  if (std::exchange(parts.is_stopped, true)) return;
  const Drain drain{std::chrono::steady_clock::now() + drain_timeout()};
  host_->admission().begin_drain();
  for (const auto& listener : parts.listeners) listener->begin_drain();
  drain.wait_for_notified(parts.acceptor, host_->leases());
  for (const auto& listener : parts.listeners) listener->stop_accepting();
  parts.acceptor.stop();
  const auto connections = parts.acceptor.open();
  drain.wait_for_answers(connections);
  Drain::close(connections, unavailable(std::string{kShuttingDown}));
  parts.acceptor.wait_until_empty(kCloseTimeout);
  parts.listeners.clear();  // ends the remaining connections
  SessionReaper::dispose(host_->leases().take_all(), net::SessionEnd::drain, kShuttingDown, *host_);
  if (parts.timer) parts.timer->stop();
  parts.reaper.stop();
}

}  // namespace burn::daemon
