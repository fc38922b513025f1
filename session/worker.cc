#include "session/worker.h"

#include <algorithm>
#include <atomic>

#include "backends/detached_work.h"
#include "base/machine.h"
#include "compile/rewrite/decompose.h"
#include "session/plan_cache.h"

namespace burn::session {
namespace {

// Leaves enough memory for tensors: plans may use an eighth of the usable memory up to 128 MiB, or a sixty-fourth of it
// up to 1 GiB if that is more. Plans for a text of a thousand tokens, each with its own program, take a gigabyte.
PlanCapacity within_memory(PlanCapacity plans) {
  if (plans.bytes != PlanCapacity::kByMemory) return plans;
  constexpr std::uint64_t kSure = std::uint64_t{128} << 20, kMaxBytes = std::uint64_t{1} << 30;
  const auto usable = usable_memory();
  plans.bytes = std::min<std::size_t>(kMaxBytes, std::max(usable / 64, std::min(usable / 8, kSure)));
  return plans;
}

class DeviceWorker final : public Worker {
 public:
  DeviceWorker(std::unique_ptr<backends::Backend> backend, const IdleMemory& idle, const PlanCapacity& plans)
      : backend_(std::move(backend)), plans_(within_memory(plans)), housekeeper_(*backend_, idle, &plans_) {}

  backends::Backend& backend() override { return *backend_; }

  Result<PlanPtr> compile(const std::shared_ptr<const ir::Program>& program) override {
    return plans_.get(program, [&]() -> Result<std::unique_ptr<backends::Executable>> {
      const auto start = std::chrono::steady_clock::now();
      BURN_TRY(auto supported, compile::decompose(program, backends::supports_of(*backend_)));
      auto compiled = backend_->compile(std::move(supported));
      run_times_.compile.add(std::chrono::steady_clock::now() - start);
      return compiled;
    });
  }

  Stats stats() const override {
    const auto plans = plans_.stats();
    const auto memory = backend_->memory();
    return {.plans = plans.plans,
            .plan_bytes = plans.bytes,
            .plan_hits = plans.hits,
            .plan_misses = plans.misses,
            .plan_evictions = plans.evictions,
            .runs = runs_,
            .sessions = housekeeper_.sessions(),
            .memory_limit = backend_->limits().memory_bytes,
            .memory_in_use = memory.in_use,
            .memory_reserved = memory.reserved,
            .memory_peak = memory.peak,
            .busy = std::chrono::nanoseconds{busy_.load(std::memory_order_relaxed)},
            .host_bytes = backend_->host_bytes(),
            .runs_interrupted = interrupted_,
            .runs_left_behind = backends::AbandonedWork::count_in_process(),
            .runs_left_behind_so_far = backends::AbandonedWork::total_in_process(),
            .programs_new = new_,
            .programs_known = known_,
            .programs_refused = refused_,
            .allocation_failures = allocation_failures_};
  }
  const RunTimes& run_times() const override { return run_times_; }
  std::vector<PlanUse> costliest_plans(std::size_t most) const override { return plans_.costliest(most); }
  CollectiveCounters& collectives() override { return collectives_; }
  void set_spans(std::shared_ptr<SpanSink> spans) override { spans_ = std::move(spans); }
  SpanSink* spans() const override { return spans_.get(); }
  serving::FairGate& gate() override { return gate_; }
  void count_session(int change) override { housekeeper_.count_session(change); }
  void count_run() override { runs_.fetch_add(1, std::memory_order_relaxed); }
  void count_run_times(std::chrono::nanoseconds queue, std::chrono::nanoseconds run) override {
    run_times_.queue.add(queue);
    run_times_.run.add(run);
  }
  void count_busy(std::chrono::nanoseconds time) override { busy_.fetch_add(time.count(), std::memory_order_relaxed); }
  void count_interrupted_run() override { interrupted_.fetch_add(1, std::memory_order_relaxed); }
  void count_refused_program() override { refused_.fetch_add(1, std::memory_order_relaxed); }
  void count_program(bool is_new) override { (is_new ? new_ : known_).fetch_add(1, std::memory_order_relaxed); }
  void count_allocation_failure() override { allocation_failures_.fetch_add(1, std::memory_order_relaxed); }

 private:
  const std::unique_ptr<backends::Backend> backend_;  // must outlive the plans
  PlanCache plans_;
  serving::FairGate gate_;
  RunTimes run_times_;
  CollectiveCounters collectives_;
  std::shared_ptr<SpanSink> spans_;
  std::atomic<std::uint64_t> runs_ = 0, interrupted_ = 0, new_ = 0, known_ = 0, refused_ = 0, allocation_failures_ = 0;
  std::atomic<std::chrono::nanoseconds::rep> busy_ = 0;
  Housekeeper housekeeper_;
};

}  // namespace

std::shared_ptr<Worker> Worker::create(std::unique_ptr<backends::Backend> backend, const IdleMemory& idle,
                                       const PlanCapacity& plans) {
  return std::make_shared<DeviceWorker>(std::move(backend), idle, plans);
}

}  // namespace burn::session
