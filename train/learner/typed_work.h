// The typed half of a training: a model and its loaders, as the engine sees them.
#pragma once

#include <iterator>
#include <optional>

#include "data/loader.h"
#include "train/learner/output.h"
#include "train/learner/work.h"

namespace burn::train {

template <Module M, typename Batch>
  requires TrainableOn<M, Batch>
class TypedWork : public Work {
 public:
  TypedWork(M& model, data::DataLoader<Batch> train, data::DataLoader<Batch> valid)
      : model_(model), train_(std::move(train)), valid_(std::move(valid)) {}

  nn::ModuleWalk model() override { return model_.walk(); }
  std::int64_t items(Split split) const override { return static_cast<std::int64_t>(loader(split).num_items()); }

  void begin(Split split, std::int64_t epoch, std::int64_t skip, const std::function<void()>& before_first) override {
    if (split == Split::valid) inference_.emplace(model_.valid());
    if (skip == 0) before_first();
    batches_.emplace(loader(split).start(static_cast<std::size_t>(epoch - 1)));
    for (std::int64_t i = 0; i < skip && *batches_ != std::default_sentinel; ++i) {
      {
        const Batch unwanted = std::move(**batches_);
      }
      device_of(model()).flush();
      if (i + 1 == skip) before_first();
      ++*batches_;
    }
    is_first_ = true;
  }

  std::optional<StepOutput> step() override {
    if (!is_first_) ++*batches_;
    is_first_ = false;
    if (*batches_ == std::default_sentinel) return std::nullopt;
    const Batch batch = std::move(**batches_);  // gone before the program is closed, unless the output holds it
    return (inference_ ? *inference_ : model_).step(batch).step_output();
  }

  void end() override {
    batches_.reset();
    inference_.reset();
  }

 private:
  const data::DataLoader<Batch>& loader(Split split) const { return split == Split::train ? train_ : valid_; }

  M& model_;
  data::DataLoader<Batch> train_, valid_;
  std::optional<data::BatchIterator<Batch>> batches_;
  bool is_first_ = true;
  std::optional<M> inference_;  // the model without a tape, while validating
};

}  // namespace burn::train
