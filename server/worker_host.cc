#include "server/worker_host.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "backends/detached_work.h"
#include "backends/free_memory.h"
#include "backends/graph_counts.h"
#include "daemon/log.h"
#include "daemon/operator/histogram_sample.h"
#include "daemon/spans.h"
#include "daemon/status_session.h"
#include "session/session_info.h"

namespace burn::server {

using backends::AbandonedWork;
using daemon::Metric;

namespace {

double number(std::uint64_t count) { return static_cast<double>(count); }
// Memory that is free and kept for reuse.
std::uint64_t idle_bytes(const session::Worker::Stats& stats) {
  return std::max(stats.memory_reserved, stats.memory_in_use) - stats.memory_in_use;
}
double seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

void collect_graphs(daemon::Samples& samples, session::Worker& worker, std::string_view device) {
  const auto* graphs = dynamic_cast<const backends::CountsGraphs*>(&worker.backend());
  if (!graphs) return;
  const auto counts = graphs->graph_counts();
  samples.add(Metric::graph_captures, number(counts.captures), {device});
  samples.add(Metric::graph_launches, number(counts.launches), {device});
}

void collect_collectives(daemon::Samples& samples, session::Worker& worker, std::string_view device) {
  using session::CollectiveCounters;
  for (std::size_t k = 0; k < CollectiveCounters::kOps.size(); ++k) {
    const auto counts = worker.collectives().counts(k);
    const auto op = CollectiveCounters::kOps[k];
    samples.add(Metric::collectives, number(counts.number), {device, op});
    samples.add(Metric::collective_bytes, number(counts.bytes), {device, op});
    samples.add(Metric::collective_seconds, seconds(counts.time), {device, op});
  }
}

}  // namespace

WorkerHost::WorkerHost(Workers workers, const session::Quotas& quotas, std::chrono::seconds lease,
                       std::shared_ptr<daemon::AdmissionControl> admission, std::string collective_address)
    : Host(lease, std::move(admission)),
      workers_(std::move(workers)),
      quotas_(quotas),
      collective_address_(std::move(collective_address)),
      free_memory_(workers_.size()) {
  for (const auto& worker : workers_) devices_.emplace_back(worker->backend().name());
  // Two devices may have one name ("cpu,cpu:0"), but a metric may have each label value only once.
  for (std::size_t k = 0; k < devices_.size(); ++k) {
    const bool is_first = std::ranges::find(devices_, devices_[k]) == devices_.begin() + static_cast<std::ptrdiff_t>(k);
    labels_.push_back(is_first ? devices_[k] : fmt::format("{}#{}", devices_[k], k));
  }
  ask_for_free_memory();
}

std::unique_ptr<proto::ServedSession> WorkerHost::open_session(const proto::Hello& hello) {
  return open_session(hello, quotas());
}

std::unique_ptr<proto::ServedSession> WorkerHost::open_session_of(const proto::Hello& hello,
                                                                  const net::Identity& identity) {
  return open_session(hello, quotas_of(identity));
}

session::Quotas WorkerHost::quotas() const {
  const std::lock_guard lock{quotas_mutex_};
  return quotas_;
}

void WorkerHost::change(const daemon::OptionValues& values) {
  const std::lock_guard lock{quotas_mutex_};
  quotas_.tensor_bytes = values.number(daemon::Option::session_memory);
  quotas_.programs = values.number(daemon::Option::programs);
  quotas_.run_timeout = values.duration(daemon::Option::run_timeout);
}

session::Quotas WorkerHost::quotas_of(const net::Identity& identity) const {
  auto quotas = this->quotas();
  const auto tenant = admission().tenants().by_name(identity.tenant);
  const auto rules = tenant ? tenant->rules() : nullptr;
  if (!rules) return quotas;
  quotas.tenant = tenant->account();
  quotas.tensor_bytes = rules->session_memory.value_or(quotas.tensor_bytes);
  quotas.programs = rules->programs.value_or(quotas.programs);
  quotas.run_timeout = rules->run_timeout.value_or(quotas.run_timeout);
  return quotas;
}

std::unique_ptr<proto::ServedSession> WorkerHost::open_session(const proto::Hello& hello,
                                                               const session::Quotas& quotas) {
  const auto subject = daemon::status_subject(hello);
  const auto device = net::find_device(devices_, subject.value_or(hello));
  if (!device.ok()) return daemon::make_refused_session(device.status());
  if (subject) {
    const auto& worker = workers_[*device];
    return daemon::make_status_session(session::describe_session(*worker, quotas), [worker] {
      return proto::SessionStats{.session = {}, .device = session::usage_of(*worker)};
    });
  }
  return session::make_local_session(workers_[*device], quotas, session::Execution::caller_if_quick,
                                     collective_address_);
}

void WorkerHost::tick() {
  Host::tick();
  log_left_behind();
  ask_for_free_memory();
}

// Called by tick(), not when metrics are collected, as a busy driver may make the caller wait.
void WorkerHost::ask_for_free_memory() {
  for (std::size_t k = 0; k < workers_.size(); ++k) {
    const auto* knows = dynamic_cast<const backends::KnowsFreeMemory*>(&workers_[k]->backend());
    free_memory_[k] = knows ? knows->free_memory().value_or(kUnknown) : kUnknown;
  }
}

std::uint64_t WorkerHost::runs_left_behind() const { return AbandonedWork::count_in_process(); }

Status WorkerHost::health() const {
  for (const auto& worker : workers_) {
    const auto& backend = worker->backend();
    const auto status = backend.health();
    if (!status.ok()) return status.with_context(fmt::format("the device {} is lost", backend.name()));
  }
  return {};
}

void WorkerHost::log_left_behind() {
  const auto now = AbandonedWork::count_in_process(), total = AbandonedWork::total_in_process();
  if (now == left_behind_ && total == total_left_behind_) return;
  left_behind_ = now;
  total_left_behind_ = total;
  daemon::log_warning(fmt::format(
      "{} runs that could not be stopped at their end still compute ({} so far); with {} of them no further long "
      "factorisation or convolution is begun",
      now, total, AbandonedWork::kMaxInProcess));
}

void WorkerHost::collect(daemon::Samples& samples) const {
  samples.add(Metric::runs_left_behind, number(runs_left_behind()));
  daemon::collect_spans(spans_.get(), samples);
  for (std::size_t k = 0; k < workers_.size(); ++k) {
    const std::string_view device = labels_[k];
    const auto stats = workers_[k]->stats();
    samples.add(Metric::device_up, workers_[k]->backend().health().ok() ? 1 : 0, {device});
    samples.add(Metric::device_sessions, number(stats.sessions), {device});
    samples.add(Metric::device_busy, seconds(stats.busy), {device});
    samples.add(Metric::runs, number(stats.runs), {device});
    samples.add(Metric::run_queue_seconds, daemon::histogram_sample(workers_[k]->run_times().queue), {device});
    samples.add(Metric::run_seconds, daemon::histogram_sample(workers_[k]->run_times().run), {device});
    samples.add(Metric::runs_interrupted, number(stats.runs_interrupted), {device});
    samples.add(Metric::programs_defined, number(stats.programs_new), {device, "new"});
    samples.add(Metric::programs_defined, number(stats.programs_known), {device, "known"});
    samples.add(Metric::programs_defined, number(stats.programs_refused), {device, "refused"});
    samples.add(Metric::allocation_failures, number(stats.allocation_failures), {device});
    samples.add(Metric::plan_cache_lookups, number(stats.plan_hits), {device, "hit"});
    samples.add(Metric::plan_cache_lookups, number(stats.plan_misses), {device, "miss"});
    samples.add(Metric::plan_cache_evictions, number(stats.plan_evictions), {device});
    samples.add(Metric::compile_seconds, daemon::histogram_sample(workers_[k]->run_times().compile), {device});
    samples.add(Metric::plan_cache_plans, number(stats.plans), {device});
    samples.add(Metric::plan_cache_bytes, number(stats.plan_bytes), {device});
    collect_graphs(samples, *workers_[k], device);
    collect_collectives(samples, *workers_[k], device);
    samples.add(Metric::device_memory, number(stats.memory_in_use), {device, "tensors"});
    samples.add(Metric::device_memory, number(idle_bytes(stats)), {device, "idle"});
    samples.add(Metric::device_memory, number(stats.host_bytes), {device, "host"});
    samples.add(Metric::device_memory_peak, number(stats.memory_peak), {device});
    samples.add(Metric::device_memory_limit, number(stats.memory_limit), {device});
    const std::uint64_t free = free_memory_[k];
    if (free != kUnknown) samples.add(Metric::device_memory_free, number(free), {device});
  }
}

void WorkerHost::report(daemon::Report& report) const {
  daemon::Report::Table table{
      .name = "devices",
      .columns = {"name", "why_lost", "sessions", "runs", "runs_interrupted", "busy_seconds", "plans", "plan_bytes",
                  "memory_in_use_bytes", "memory_idle_bytes", "memory_peak_bytes", "memory_limit_bytes"},
      .rows = {}};
  for (const auto& worker : workers_) {
    const auto stats = worker->stats();
    table.rows.push_back({std::string{worker->backend().name()}, worker->backend().health().message(), stats.sessions,
                          stats.runs, stats.runs_interrupted, seconds(stats.busy), stats.plans, stats.plan_bytes,
                          stats.memory_in_use, idle_bytes(stats), stats.memory_peak, stats.memory_limit});
  }
  report.tables.push_back(std::move(table));
  report_programs(report);
}

void WorkerHost::report_programs(daemon::Report& report) const {
  daemon::Report::Table table{.name = "programs",
                              .columns = {"device", "hash", "first_op", "nodes", "runs", "run_seconds", "plan_bytes"},
                              .rows = {}};
  for (std::size_t k = 0; k < workers_.size(); ++k) {
    for (const auto& plan : workers_[k]->costliest_plans(kCostliestPrograms)) {
      table.rows.push_back(
          {labels_[k], plan.hash, plan.first_op, plan.nodes, plan.runs, seconds(plan.time), plan.bytes});
    }
  }
  report.tables.push_back(std::move(table));
}

}  // namespace burn::server
