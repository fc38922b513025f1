#include "train/metric/host.h"

#include <fstream>
#include <sstream>

#include "train/metric/device_use_sampler.h"

namespace burn::metric {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kSampleInterval{1};
constexpr double kGigabyte = 1e9;

double seconds_between(Clock::time_point a, Clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

}  // namespace

void LearningRate::load_state(std::span<const double> state) {
  if (!state.empty()) check_state(*this, state, 1);
  rate_ = state.empty() ? std::nullopt : std::optional{state[0]};
}

void IterationSpeed::take(const MeasuredBatch& /*batch*/) {
  const auto now = Clock::now();
  batches_ += 1;
  seconds_ += seconds_between(last_, now);
  last_ = now;
}

double IterationSpeed::value() const { return batches_ < 2 ? ratio(0, 0) : ratio(batches_, seconds_); }

void IterationSpeed::reset() {
  last_ = Clock::now();
  batches_ = seconds_ = 0;
}

void IterationSpeed::load_state(std::span<const double> state) {
  check_state(*this, state, 2);
  last_ = Clock::now();
  batches_ = state[0];
  seconds_ = state[1];
}

void SampledMetric::take(const MeasuredBatch& batch) {
  const auto now = Clock::now();
  if (last_ && now - *last_ < kSampleInterval) return;
  last_ = now;
  if (const auto number = sample(batch)) {
    known_ = number;
    sum_ += *number;
    count_ += 1;
  }
}

void SampledMetric::load_state(std::span<const double> state) {
  check_state(*this, state, 2);
  sum_ = state[0];
  count_ = state[1];
}

CpuUse::CpuUse(std::filesystem::path proc) : proc_(std::move(proc)), before_(times()) {}

// Times since the host was started: user nice system idle iowait irq softirq steal; idle and iowait are not busy
// (proc(5)).
std::optional<CpuUse::Times> CpuUse::times() const {
  std::ifstream file(proc_ / "stat");
  std::string cpu;
  if (!(file >> cpu) || cpu != "cpu") return std::nullopt;
  Times times;
  double number = 0;
  for (int i = 0; i < 8 && file >> number; ++i) {
    times.all += number;
    if (i != 3 && i != 4) times.busy += number;
  }
  return times;
}

std::optional<double> CpuUse::sample(const MeasuredBatch& /*batch*/) {
  const auto now = times();
  const auto before = std::exchange(before_, now);
  if (!now || !before || now->all <= before->all) return std::nullopt;
  return 100 * (now->busy - before->busy) / (now->all - before->all);
}

std::optional<double> CpuMemory::sample(const MeasuredBatch& /*batch*/) {
  std::ifstream file(proc_ / "meminfo");
  std::optional<double> total, available;  // in units of 1024 bytes
  std::string line;
  while (std::getline(file, line) && !(total && available)) {
    std::istringstream words(line);
    std::string name;
    double number = 0;
    if (!(words >> name >> number)) continue;
    if (name == "MemTotal:") total = number;
    if (name == "MemAvailable:") available = number;
  }
  if (!total || !available) return std::nullopt;
  return (*total - *available) * 1024 / kGigabyte;
}

std::optional<double> CpuTemperature::sample(const MeasuredBatch& /*batch*/) {
  std::error_code error;
  double sum = 0, count = 0;
  for (const auto& zone : std::filesystem::directory_iterator(zones_, error)) {
    if (!zone.path().filename().string().starts_with("thermal_zone")) continue;
    double thousandths = 0;
    if (!(std::ifstream(zone.path() / "temp") >> thousandths)) continue;
    sum += thousandths / 1000;
    count += 1;
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

struct Cuda::Answers : DeviceUseSampler {};

Cuda::Cuda() : answers_(std::make_shared<Answers>()) {}

void Cuda::take(const MeasuredBatch& batch) {
  if (batch.device) answers_->ask(*batch.device);
}

std::string Cuda::text() const {
  const auto use = answers_->last();
  return use ? to_string(*use) : "unavailable";
}

}  // namespace burn::metric
