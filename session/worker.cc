#include <atomic>

#include "backends/plan/decompose.h"
#include "session/local_session.h"
#include "session/plan_cache.h"

namespace burn::session {
namespace {

class DeviceWorker final : public Worker {
 public:
  DeviceWorker(std::unique_ptr<backends::Backend> backend, const IdleMemory& idle, const PlanCapacity& plans)
      : backend_(std::move(backend)), plans_(plans), housekeeper_(*backend_, idle) {}

  backends::Backend& backend() override { return *backend_; }

  Result<PlanPtr> compile(const std::shared_ptr<const ir::Program>& program) override {
    return plans_.get(program, [&]() -> Result<std::unique_ptr<backends::Executable>> {
      BURN_TRY(auto supported, backends::decompose(program, *backend_));
      return backend_->compile(std::move(supported));
    });
  }

  Stats stats() const override {
    const auto plans = plans_.stats();
    return {plans.plans, plans.bytes, plans.hits, plans.misses, runs_, housekeeper_.sessions()};
  }
  void count_session(int change) override { housekeeper_.count_session(change); }
  void count_run() override { runs_.fetch_add(1, std::memory_order_relaxed); }

 private:
  const std::unique_ptr<backends::Backend> backend_;  // outlives the plans
  PlanCache plans_;
  std::atomic<std::uint64_t> runs_ = 0;
  Housekeeper housekeeper_;
};

}  // namespace

std::shared_ptr<Worker> Worker::create(std::unique_ptr<backends::Backend> backend, const IdleMemory& idle,
                                       const PlanCapacity& plans) {
  return std::make_shared<DeviceWorker>(std::move(backend), idle, plans);
}

}  // namespace burn::session
