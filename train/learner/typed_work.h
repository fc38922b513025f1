// The implementation of Work for a type of model and batch: a model and its loaders.
#pragma once

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/autocast.h"
#include "data/loader.h"
#include "train/learner/options.h"
#include "train/learner/output.h"
#include "train/learner/work.h"

namespace burn::train {

template <Module M, typename Batch>
  requires TrainableOn<M, Batch>
class TypedWork : public Work {
 public:
  // Creates a replica for each device of the strategy, and moves the model to the first. Without devices there is only
  // the model, on its own device, and the loaders determine where batches are made. Errors (thrown): a batcher that can
  // make batches on one device only.
  TypedWork(M& model, const data::DataLoader<Batch>& train, const std::optional<data::DataLoader<Batch>>& valid,
            const TrainingOptions& options)
      : model_(model), autocast_(options.autocast) {
    const auto devices = options.strategy ? options.strategy->devices() : std::vector<Device>{};
    add(Split::train, train, devices, options.max_train_batches);
    if (valid && options.max_valid_batches != 0) add(Split::valid, *valid, devices, options.max_valid_batches);
    if (devices.empty()) return;
    model_ = model_.to_device(devices.front().autodiff());
    others_.reserve(devices.size() - 1);
    for (std::size_t k = 1; k < devices.size(); ++k) others_.push_back(model_.to_device(devices[k].autodiff()));
  }

  nn::ModuleWalk model() override { return model_.walk(); }
  std::vector<nn::ModuleWalk> replicas() override {
    std::vector<nn::ModuleWalk> walks{model_.walk()};
    for (auto& other : others_) walks.push_back(other.walk());
    return walks;
  }

  bool has(Split split) const override { return at(split) != nullptr; }
  std::int64_t batches(Split split) const override {
    return has(split) ? static_cast<std::int64_t>(at(split)->size) : 0;
  }
  std::int64_t items(Split split) const override {
    if (!has(split)) return 0;
    const auto& whole = at(split)->whole;
    return static_cast<std::int64_t>(std::min(whole.num_items(), at(split)->size * whole.options().batch_size));
  }
  std::int64_t workers(Split split) const override {
    return has(split) ? static_cast<std::int64_t>(at(split)->whole.options().num_workers) : 0;
  }

  void begin(Split split, std::int64_t epoch, std::int64_t first,
             const std::vector<optim::ModuleAverage>* averages) override {
    if (split == Split::valid) {
      inference_.clear();
      for (std::size_t k = 0; k <= others_.size(); ++k) {
        M copy = replica(k);
        if (averages != nullptr) (*averages)[k].put_into(copy.walk());
        inference_.push_back(copy.valid());
      }
    }
    auto& pass = *at(split);
    pass.iterators.clear();
    pass.next = static_cast<std::size_t>(first);
    pass.is_first = true;
    const auto count = pass.size - std::min(pass.size, pass.next);
    for (const auto& loader : pass.parts)
      pass.iterators.push_back(loader.start(static_cast<std::size_t>(epoch - 1), pass.next, count, pass.position));
  }

  bool next(Split split) override {
    auto& pass = *at(split);
    for (auto& batch : pass.iterators) {
      if (!pass.is_first) ++batch;
    }
    pass.is_first = false;
    return pass.iterators.front() != std::default_sentinel;
  }

  std::vector<Part> step(Split split) override {
    auto& pass = *at(split);
    std::vector<Part> parts;
    const auto items = pass.whole.items_in(pass.next++);
    const auto ranges = data::even_ranges(items, pass.iterators.size());
    if (split == Split::train) pass.position = pass.iterators.front().position();
    for (std::size_t k = 0; k < pass.iterators.size(); ++k) {
      const auto in_part = ranges[k].second - ranges[k].first;
      const Batch batch =
          std::move(*pass.iterators[k]);  // destroyed before the program is closed, unless the output holds it
      const Autocast scope{autocast_.value_or(Autocast::dtype().value_or(ir::DType::f32))};
      parts.push_back(split == Split::train ? trained(train_step_of(replica(k), batch))
                                            : Part{valid_step_of(inference_[k], batch).step_output()});
      parts.back().weight = static_cast<double>(in_part) / static_cast<double>(items);
    }
    return parts;
  }

  void end(Split split) override {
    at(split)->iterators.clear();
    if (split == Split::valid) inference_.clear();
  }

  const std::string& position() const override { return at(Split::train)->position; }
  void seek(const std::string& position, bool has_begun) override {
    check_position(position, has_begun, at(Split::train)->whole.is_stream());
    at(Split::train)->position = position;
  }

  bool has_optimize() const override { return kHasOptimize; }
  void optimize(std::size_t k, lr::ModuleLearningRate& rates, optim::GradientsParams& gradients,
                OptimizerChoice& choice) override {
    if constexpr (kHasOptimize) std::as_const(replica(k)).optimize(rates, gradients, choice);
  }

 private:
  static constexpr bool kHasOptimize =
      requires(const M& model, lr::ModuleLearningRate& rates, optim::GradientsParams& gradients,
               OptimizerChoice& choice) { model.optimize(rates, gradients, choice); };

  // A split, and the current pass over it.
  struct Pass {
    data::DataLoader<Batch> whole;
    std::vector<data::DataLoader<Batch>> parts;              // one for each replica
    std::size_t size;                                        // batches of a pass
    std::vector<data::BatchIterator<Batch>> iterators = {};  // one for each replica; none outside of a pass
    std::string position = {};                               // position in a stream at which the next pass begins
    std::size_t next = 0;                                    // the batch that step() is called for
    bool is_first = true;
  };

  template <typename Output>
  static Part trained(Output output) {
    if constexpr (HasGradients<Output>) {
      auto all = output.output.step_output();
      return {std::move(all), 1, std::move(output.gradients)};
    } else {
      return {output.step_output()};
    }
  }

  void add(Split split, const data::DataLoader<Batch>& loader, const std::vector<Device>& devices,
           std::optional<std::int64_t> limit) {
    const auto size = limit ? std::min(loader.size(), static_cast<std::size_t>(*limit)) : loader.size();
    at(split) =
        std::make_unique<Pass>(Pass{loader, devices.empty() ? std::vector{loader} : loader.parts_on(devices), size});
  }
  std::unique_ptr<Pass>& at(Split split) { return passes_[split == Split::train ? 0 : 1]; }
  const std::unique_ptr<Pass>& at(Split split) const { return passes_[split == Split::train ? 0 : 1]; }
  M& replica(std::size_t k) { return k == 0 ? model_ : others_[k - 1]; }

  M& model_;
  const std::optional<ir::DType> autocast_;
  std::vector<M> others_;                        // replicas
  std::array<std::unique_ptr<Pass>, 2> passes_;  // training, validation; null: no such split
  std::vector<M> inference_;                     // the replicas without a tape, while validating
};

}  // namespace burn::train
