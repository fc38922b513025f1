#include "train/learner/update.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "client/autocast.h"
#include "client/ops/formula.h"
#include "client/site_scope.h"
#include "nn/module/visit.h"

namespace burn::train {
namespace {

using client::current_site;
using client::Value;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr const char* kScalerRecord = "grad_scaler";

Value times(const Value& x, double factor) {
  return client::pointwise(ir::PointwiseFn::mul, x,
                           client::scalar(client::place_of(x), factor, x.dtype(), current_site()), current_site());
}

void multiply(optim::GradientsParams& gradients, double factor) {
  gradients.for_each([&](Value& gradient) { gradient = times(gradient, factor); });
}

// Whether a number is neither infinite nor NaN, for which all comparisons are false: [1].
Tensor<1, Bool> is_finite(const Value& x) {
  const Value wide = client::reshape(client::to_compute_dtype(x, current_site()), {1}, current_site());
  return Tensor<1, Bool>{client::cast(abs(wide) < kInfinity, DType::bool_, current_site())};
}

}  // namespace

std::vector<Device> devices_of(const std::vector<nn::ModuleWalk>& replicas) {
  std::vector<Device> devices;
  devices.reserve(replicas.size());
  for (const auto& replica : replicas) devices.push_back(device_of(replica));
  return devices;
}

Update::Update(const TrainingOptions& options, Work& work, Optimizers& optimizers)
    : options_(options),
      work_(work),
      optimizers_(optimizers),
      replicas_(work.replicas()),
      learning_((options.strategy ? options.strategy : single())->start(replicas_, optimizers.optimizer())),
      gradients_(replicas_.size()) {
  optimizers_.assign(replicas_.front());
  if (options.clip_norm && optimizers.optimizer().has_grad_clipping()) {
    throw Error(StatusCode::invalid_argument,
                "clip_norm: the optimizer clips gradients itself (grad_clipping); say one of the two");
  }
  if (options.grad_scaler && replicas_.size() > 1 && !learning_->steps_each_replica()) {
    throw Error(StatusCode::unimplemented,
                "grad_scaler: this strategy steps the first replica alone, so the others would not know the scale; "
                "train with ddp(), or in bf16, which needs no scaler");
  }
  for (std::size_t k = 0; k < replicas_.size(); ++k) {
    if (options.grad_scaler) scalers_.push_back(options.grad_scaler->init(device_of(replicas_[k])));
    if (options.average) averages_.push_back(*options.average);
  }
}

bool Update::add(std::vector<Work::Part> parts) {
  std::vector<optim::GradientsParams> gradients;
  for (std::size_t k = 0; k < parts.size(); ++k) gradients.push_back(gradients_of(parts[k], k, parts.size() == 1));
  if (parts.size() == 1) watch(parts.front().output.loss);
  parts.clear();  // values that are held when the program is closed become its results
  for (std::size_t k = 0; k < gradients.size(); ++k) gradients_[k].accumulate(std::move(gradients[k]));
  accumulated_ += 1;
  if (accumulated_ == options_.grads_accumulation) return finish();
  for (const auto& replica : replicas_) device_of(replica).flush();
  return false;
}

optim::GradientsParams Update::gradients_of(Work::Part& part, std::size_t replica, bool is_alone) {
  const double weight = is_alone ? 1 : part.weight;
  if (part.gradients) {
    if (!scalers_.empty()) {
      throw Error(StatusCode::invalid_argument,
                  "grad_scaler: the model's step computes its gradients itself, so the loss cannot be scaled before");
    }
    if (weight != 1) multiply(*part.gradients, weight);
    return *std::move(part.gradients);
  }
  auto loss = weight == 1 ? part.output.loss : times(part.output.loss, weight);
  if (!scalers_.empty()) loss = scalers_[replica].scale(Tensor<1>{loss}).value();
  const GradientCheckpointing checkpointing{options_.checkpointing};
  return optim::GradientsParams::from_grads(client::backward(loss, {}, options_.site), replicas_[replica],
                                            options_.site);
}

void Update::watch(const Value& loss) {
  if (options_.on_nan != OnNan::skip) return;
  const auto finite = is_finite(loss.inner());
  finite_losses_ = finite_losses_ ? finite_losses_->bool_and(finite) : finite;
}

bool Update::finish() {
  if (accumulated_ == 0) return false;
  step();
  accumulated_ = 0;
  steps_ += 1;
  return true;
}

void Update::step() {
  OptimizerChoice choice{optimizers_.names(), steps_};
  std::vector<optim::GradientsParams> gradients;
  gradients.reserve(gradients_.size());
  for (auto& of_replica : gradients_) gradients.push_back(of_replica.grads());
  const StepParts parts{[&](std::size_t replica, lr::ModuleLearningRate& rates, optim::GradientsParams& sums) {
                          prepare(replica, rates, sums, choice);
                        },
                        &averages_};
  learning_->step(optimizers_.rates(), std::move(gradients), parts);
  finite_losses_.reset();
  optimizers_.stepped(choice);
}

void Update::prepare(std::size_t replica, lr::ModuleLearningRate& rates, optim::GradientsParams& sums,
                     OptimizerChoice& choice) {
  const Autocast pause{DType::f32};
  if (!scalers_.empty()) sums = scalers_[replica].unscale(std::move(sums));
  if (options_.accumulation == Reduction::mean && accumulated_ > 1)
    multiply(sums, 1.0 / static_cast<double>(accumulated_));
  const bool is_skipped_if_nan = options_.on_nan == OnNan::skip;
  if (options_.clip_norm || is_skipped_if_nan) {
    const auto norm = options_.clip_norm ? sums.clip_norm(*options_.clip_norm) : sums.norm();
    if (is_skipped_if_nan && !sums.empty()) {
      sums.take_step_only_if(is_finite(norm.value()));
      if (finite_losses_) sums.take_step_only_if(*finite_losses_);
    }
  }
  if (work_.has_optimize()) {
    choice = {optimizers_.names(), steps_};
    work_.optimize(replica, rates, sums, choice);
  }
  optimizers_.drop_skipped(choice, sums);
}

Record Update::optimizer_record(bool as_snapshot) const {
  const auto& optimizer = optimizers_.optimizer();
  return as_snapshot ? optimizer.snapshot(replicas_.front()) : optimizer.to_record(replicas_.front());
}

void Update::save(std::map<std::string, Record>& more) const {
  if (!averages_.empty()) more.emplace(kAverageRecordName, averages_.front().to_record(replicas_.front()));
  if (scalers_.empty()) return;
  std::vector<Record::Read> reads;
  reads.emplace_back("factor", scalers_.front().factor().into_data_async());
  reads.emplace_back("taken", scalers_.front().taken().into_data_async());
  more[kScalerRecord].insert_reads(std::move(reads));
}

void Update::load(const Checkpoint& checkpoint) {
  learning_->load_record(checkpoint.optimizer);
  optimizers_.load_record(checkpoint.scheduler);
  steps_ = checkpoint.state.steps;
  const auto of_checkpoint = [&](const char* name, const char* setting) -> const Record& {
    const auto found = checkpoint.more.find(name);
    if (found != checkpoint.more.end()) return found->second;
    throw Error(StatusCode::invalid_argument,
                std::string{"resume: the checkpoint was written without "} + setting + ", which this training has");
  };
  for (std::size_t k = 0; k < replicas_.size(); ++k) {
    if (!averages_.empty()) averages_[k].load_record(replicas_[k], of_checkpoint(kAverageRecordName, "ema"));
    if (!scalers_.empty()) {
      const auto& record = of_checkpoint(kScalerRecord, "grad_scaler");
      const auto device = device_of(replicas_[k]).inner();
      scalers_[k].load(Tensor<1>::from_data(record.get("factor"), device),
                       Tensor<1>::from_data(record.get("taken"), device));
    }
  }
}

}  // namespace burn::train
