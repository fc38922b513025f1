#include "router/member.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "daemon/log.h"
#include "net/dial/connect.h"

namespace burn::router {
namespace {

// The device of the worker that a URL names, in the form for the device "status:DEVICE".
std::string device_of(const std::string& url) {
  const auto endpoint = net::parse_url(url);
  if (!endpoint.ok()) return "0";
  return endpoint->device_name.empty() ? fmt::format("{}", endpoint->device) : endpoint->device_name;
}

MemberFacts facts_of(const std::string& url, const net::RemoteSession& link) {
  return {url, device_of(url), link.op_set(), link.info()};
}

// The number of the worker's device, so that a number and a name of the same device compare equal.
std::string canonical_device(const MemberFacts& facts) {
  const auto& devices = facts.info.devices;
  const auto found = std::ranges::find(devices, facts.device);
  return found == devices.end() ? facts.device : fmt::format("{}", found - devices.begin());
}

Status check_one(const MemberFacts& member, std::string_view instance) {
  const auto& info = member.info;
  if (info.instance == instance)
    return failed_precondition(fmt::format("--worker {} is this router itself", member.url));
  if (info.role == "router")
    return failed_precondition(
        fmt::format("--worker {} is a router ({}); the workers of a router are burn-servers", member.url, info.server));
  if (info.role.empty() || info.numerics == 0)
    return failed_precondition(
        fmt::format("--worker {} ({}) does not say what it computes with: it is of an older version than this router",
                    member.url, info.server));
  return {};
}

Status check_two(const MemberFacts& a, const MemberFacts& b) {
  if (a.info.instance == b.info.instance && canonical_device(a) == canonical_device(b))
    return failed_precondition(
        fmt::format("--worker {} and --worker {} are the same device of one worker", a.url, b.url));
  if (a.op_set != b.op_set)
    return failed_precondition(
        fmt::format("--worker {} ({}) and --worker {} ({}) do not have the same ops: {:016x} and {:016x}", a.url,
                    a.info.server, b.url, b.info.server, a.op_set, b.op_set));
  if (a.info.numerics != b.info.numerics)
    return failed_precondition(fmt::format(
        "--worker {} ({}) and --worker {} ({}) do not compute the same bits, as they differ in their version "
        "or the kind of their device: numerics {:016x} and {:016x}",
        a.url, a.info.server, b.url, b.info.server, a.info.numerics, b.info.numerics));
  return {};
}

}  // namespace

Status check_members(const std::vector<MemberFacts>& members, std::string_view instance, std::uint64_t op_set) {
  for (std::size_t k = 0; k < members.size(); ++k) {
    BURN_RETURN_IF_ERROR(check_one(members[k], instance));
    for (std::size_t i = 0; i < k; ++i) BURN_RETURN_IF_ERROR(check_two(members[i], members[k]));
    if (members[k].op_set != op_set)
      return failed_precondition(
          fmt::format("--worker {} ({}) and this router do not have the same ops: {:016x} and {:016x}", members[k].url,
                      members[k].info.server, members[k].op_set, op_set));
  }
  return {};
}

Member::Member(const WorkerSpec& spec, std::shared_ptr<WorkerToken> token, std::chrono::seconds lease,
               std::shared_ptr<SpanSink> spans)
    : spec_(spec),
      name_(member_name(spec.url)),
      token_(std::move(token)),
      lease_(lease),
      spans_(std::move(spans)),
      lost_(unavailable("it is not connected yet")) {}

net::ConnectOptions Member::options() const {
  net::ConnectOptions options;
  options.token = token_->current();
  options.lease_seconds = 0;
  return options;
}

Status Member::connect(std::chrono::milliseconds timeout) {
  auto options = this->options();
  options.device_name = "status:" + device_of(url());
  options.timeout_seconds = static_cast<int>(
      std::max<std::int64_t>(1, std::min<std::int64_t>(timeout.count() / 1000, options.timeout_seconds)));
  BURN_TRY(link_, net::connect(url(), options));
  facts_ = facts_of(url(), *link_);
  {
    const std::lock_guard lock{mutex_};
    lost_ = {};
  }
  listen(*link_);
  return {};
}

void Member::listen(net::RemoteSession& session) {
  session.listen({.progress = nullptr, .sent_parts = nullptr, .ended = [weak = weak_from_this()](const Status& why) {
                    if (const auto self = weak.lock()) self->on_end(why);
                  }});
}

Result<std::unique_ptr<net::RemoteSession>> Member::open_session(Use use) {
  auto options = this->options();
  options.never_waits = use == Use::pass_through;
  // Passed-through parts of uploads are not stored, so they could not be sent again after a reconnect.
  if (use == Use::fleet) options.lease_seconds = static_cast<std::uint32_t>(lease_.count());
  options.assumed_info = facts_.info;
  options.held = count_session();
  options.spans = spans_;
  options.welcome_wait = std::chrono::milliseconds{0};
  options.answer_timeout_seconds = 0;  // the client has its own timeout
  return net::connect(url(), options);
}

std::shared_ptr<const void> Member::count_session() {
  ++sessions_;
  return {this, [self = shared_from_this()](const void*) { --self->sessions_; }};
}

Status Member::health() const {
  const std::lock_guard lock{mutex_};
  return lost_;
}

double Member::load() const {
  const std::lock_guard lock{mutex_};
  return (static_cast<double>(sessions_) + 0.99 * busy_) / weight();
}

proto::MemberStats Member::stats() const {
  const std::lock_guard lock{mutex_};
  return {name_, url(), weight(), lost_.ok() ? "" : lost_.message(), sessions_, usage_};
}

void Member::on_end(const Status& why) {
  {
    const std::lock_guard lock{mutex_};
    if (!lost_.ok()) return;
    lost_ = why.ok() ? unavailable(fmt::format("lost connection to {}", url())) : why;
  }
  daemon::log_warning(fmt::format("worker {} is lost: {}", name_, why.message()));
}

void Member::on_stats(const proto::SessionStats& stats) {
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock{mutex_};
  const auto seconds = std::chrono::duration<double>(now - usage_at_).count();
  busy_ = std::clamp((stats.device.busy_seconds - usage_.busy_seconds) / seconds, 0.0, 1.0);
  usage_ = stats.device;
  usage_at_ = now;
}

void Member::poll() {
  if (!health().ok()) return reconnect();
  if (is_asked_.exchange(true)) return;
  link_->stats([weak = weak_from_this()](const Result<proto::SessionStats>& stats) {
    const auto self = weak.lock();
    if (!self) return;
    if (stats.ok()) self->on_stats(*stats);
    self->is_asked_ = false;
  });
}

// The worker may have been restarted, possibly with other properties, so these are compared.
void Member::reconnect() {
  if (!next_link_) {
    auto options = this->options();
    options.device_name = "status:" + device_of(url());
    options.welcome_wait = std::chrono::milliseconds{0};
    options.timeout_seconds = 2;
    auto dialled = net::connect(url(), options);
    if (dialled.ok()) next_link_ = *std::move(dialled);
    return;
  }
  if (!next_link_->health().ok()) return next_link_.reset();
  if (!next_link_->known_info()) return;
  const auto facts = facts_of(url(), *next_link_);
  auto same =
      facts.info.role == "worker" && facts.op_set == facts_.op_set && facts.info.numerics == facts_.info.numerics;
  if (!same) {
    const std::lock_guard lock{mutex_};
    lost_ =
        failed_precondition(fmt::format("{} came back as {} \"{}\" with other ops or numerics: start the router again",
                                        url(), facts.info.role, facts.info.server));
    return next_link_.reset();
  }
  link_ = std::move(next_link_);
  {
    const std::lock_guard lock{mutex_};
    lost_ = {};
  }
  daemon::log_info(fmt::format("worker {} is back", name_));
  listen(*link_);
}

}  // namespace burn::router
