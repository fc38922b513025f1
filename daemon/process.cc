#include "daemon/process.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/heap.h"
#include "base/settings.h"
#include "daemon/log.h"
#include "daemon/reload.h"
#include "daemon/resource_limits.h"
#include "daemon/service_manager.h"
#include "net/listen/process_limits.h"

namespace burn::daemon {
namespace {

// A session's work may be impossible to stop. The process then exits anyway, this long after the drain timeout.
constexpr auto kStopGrace = std::chrono::seconds{5};

}  // namespace

Process::Process(const ServiceOptions& options, ReadOptions read_options)
    : options_(options), read_options_(std::move(read_options)), view_(options.title, [this] { drain(); }) {
  throw_if_error(check_settings());
  view_.show_options(read_options_.daemon, read_options_.values);
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  net::raise_process_limits();
  keep_freed_blocks();
  throw_if_error(net::check_threads(ResourceLimits::threads_at_start(options)));
  if (options_.operator_address.empty()) return;
  port_ = std::make_unique<OperatorPort>(options_.operator_address, view_);
  std::printf("operator %s\n", port_->url().c_str());
}

void Process::drain() {
  if (!is_ending_.exchange(true)) ::kill(::getpid(), SIGTERM);
}

int Process::next_signal() const {
  int signal = 0;
  while (sigwait(&signals_, &signal) != 0) {
  }
  return signal;
}

int Process::run(Service& service, Host& host, std::string_view ready) {
  view_.attach(service, host);
  struct Detached {
    ~Detached() { view.detach(); }
    ProcessView& view;
  } const detached{view_};
  return serve(service, host, ready);
}

bool Process::can_reload(const Service& service, const Host& host) const {
  return read_options_ || !options_.token_file.empty() || !options_.tenant_file.empty() || service.tls() ||
         host.audit_log();
}

int Process::serve(Service& service, Host& host, std::string_view ready) {
  for (const auto& url : service.urls()) std::printf("listening %s\n", url.c_str());
  std::fflush(stdout);
  log_info(ready);
  notify_service_manager("READY=1");
  auto signal = next_signal();
  while (signal == SIGHUP && can_reload(service, host)) {
    (void)Reload{service, host, read_options_}.run();  // it logs the result
    view_.show_options(read_options_.daemon, read_options_.values);
    signal = next_signal();
  }
  is_ending_ = true;
  if (auto* log = host.audit_log()) log->write("drain", fmt::format("signal {}", signal));
  notify_service_manager("STOPPING=1");
  log_info(fmt::format("signal {}: shutting down; another one ends it at once", signal));
  pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);  // another signal now ends the process, by default action
  return stop(service, host);
}

int Process::stop(Service& service, const Host& host) const {
  std::promise<void> stopped;
  auto done = stopped.get_future();
  std::thread stopping{[&] {
    service.stop();
    stopped.set_value();
  }};
  if (done.wait_for(service.drain_timeout() + kStopGrace) != std::future_status::ready) {
    log_warning(fmt::format("{} sessions do not end; the process does", service.sessions()));
    std::_Exit(EXIT_FAILURE);
  }
  stopping.join();
  // All clients have been told. Runs that are left behind still use objects of libraries, so no destructors may run.
  if (const auto left = host.runs_left_behind(); left > 0) {
    log_warning(fmt::format("done; {} runs that could not be stopped end with the process", left));
    std::fflush(nullptr);
    std::_Exit(EXIT_SUCCESS);
  }
  log_info("done");
  return EXIT_SUCCESS;
}

}  // namespace burn::daemon
