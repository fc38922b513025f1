// The typed half of a training: a model and its loaders, as the engine sees them.
#pragma once

#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "data/loader.h"
#include "train/learner/output.h"
#include "train/learner/work.h"

namespace burn::train {

template <Module M, typename Batch>
  requires TrainableOn<M, Batch>
class TypedWork : public Work {
 public:
  // `devices`: of the replicas; none: the model stays alone where it is, and the loaders say where batches are made.
  // The model goes to the first of them. Errors (thrown): a batcher that makes batches on one device alone.
  TypedWork(M& model, const data::DataLoader<Batch>& train, const data::DataLoader<Batch>& valid,
            const std::vector<Device>& devices = {})
      : model_(model), train_{train, parts_of(train, devices)}, valid_{valid, parts_of(valid, devices)} {
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
  std::int64_t items(Split split) const override { return static_cast<std::int64_t>(of(split).whole.num_items()); }

  void begin(Split split, std::int64_t epoch, std::int64_t skip, const std::function<void()>& before_first) override {
    if (split == Split::valid) {
      inference_.emplace();
      for (std::size_t k = 0; k <= others_.size(); ++k) inference_->push_back(replica(k).valid());
    }
    pass_ = &of(split);
    next_batch_ = 0;
    if (skip == 0) before_first();
    for (const auto& loader : pass_->parts) batches_.push_back(loader.start(static_cast<std::size_t>(epoch - 1)));
    for (; next_batch_ < skip && !is_over(); ++next_batch_) {
      for (auto& batch : batches_) {
        const Batch unwanted = std::move(*batch);
      }
      for (const auto& walk : replicas()) device_of(walk).flush();
      if (next_batch_ + 1 == skip) before_first();
      advance();
    }
    is_first_ = true;
  }

  std::vector<Part> step() override {
    if (!is_first_) advance();
    is_first_ = false;
    std::vector<Part> parts;
    if (is_over()) return parts;
    const auto items = pass_->whole.items_in(static_cast<std::size_t>(next_batch_++));
    const auto ranges = data::even_ranges(items, batches_.size());
    for (std::size_t k = 0; k < batches_.size(); ++k) {
      const auto in_part = ranges[k].second - ranges[k].first;
      const Batch batch = std::move(*batches_[k]);  // gone before the program is closed, unless the output holds it
      parts.push_back({(inference_ ? (*inference_)[k] : replica(k)).step(batch).step_output(),
                       static_cast<double>(in_part) / static_cast<double>(items)});
    }
    return parts;
  }

  void end() override {
    batches_.clear();
    inference_.reset();
  }

 private:
  struct Loaders {
    data::DataLoader<Batch> whole;
    std::vector<data::DataLoader<Batch>> parts;  // one for each replica
  };

  static std::vector<data::DataLoader<Batch>> parts_of(const data::DataLoader<Batch>& loader,
                                                       const std::vector<Device>& devices) {
    return devices.empty() ? std::vector{loader} : loader.parts_on(devices);
  }
  const Loaders& of(Split split) const { return split == Split::train ? train_ : valid_; }
  M& replica(std::size_t k) { return k == 0 ? model_ : others_[k - 1]; }
  bool is_over() const { return batches_.front() == std::default_sentinel; }
  void advance() {
    for (auto& batch : batches_) ++batch;
  }

  M& model_;
  std::vector<M> others_;  // replicas
  const Loaders train_, valid_;
  const Loaders* pass_ = nullptr;
  std::vector<data::BatchIterator<Batch>> batches_;  // one for each replica
  std::int64_t next_batch_ = 0;                      // of the pass
  bool is_first_ = true;
  std::optional<std::vector<M>> inference_;  // the replicas without a tape, while validating
};

}  // namespace burn::train
