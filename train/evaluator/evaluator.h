// Measuring a model on sets of items that it was not trained on, and predicting:
//
//   train::Evaluator evaluator(artifact_dir);
//   evaluator.metrics(metric::Accuracy{}, metric::ConfusionMatrix{});
//   const auto test = evaluator.eval("test", model, test_loader);
//   test.value("Accuracy");                                              // 97.1
//   evaluator.eval_all(model, {{"clean", clean_loader}, {"noisy", noisy_loader}});
//   evaluator.predict(model, loader, [&](const TensorData& output) { ... });   // batch by batch, in order
//
// Calls the model's valid_step(batch), or step(batch) if it has none, on model.valid(): without dropout and without a
// tape.
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "client/site_scope.h"
#include "data/loader.h"
#include "nn/module/module.h"
#include "train/evaluator/evaluation.h"
#include "train/evaluator/prediction_reads.h"
#include "train/learner/batch_recording.h"

namespace burn::train {

namespace detail {

template <typename M, typename Batch>
StepOutput evaluated_step(const M& model, const Batch& batch) {
  if constexpr (requires { model.valid_step(batch).step_output(); }) {
    return model.valid_step(batch).step_output();
  } else {
    static_assert(
        requires { model.step(batch).step_output(); },
        "Evaluator: the model has neither valid_step() nor step() for the loader's batches that returns an "
        "output with `step_output()`");
    return model.step(batch).step_output();
  }
}

// The tensors that a model predicts for a batch: those of predict(batch), or else the output of its step.
template <typename M, typename Batch>
std::vector<client::Value> predicted(const M& model, const Batch& batch) {
  if constexpr (requires { metric::Measured{model.predict(batch)}; }) {
    return metric::Measured{model.predict(batch)}.tensors();
  } else {
    return {evaluated_step(model, batch).output};
  }
}

// The type of batch that a model's step takes.
template <typename M>
struct StepBatch;
template <typename M, typename Output, typename Batch>
struct StepBatch<Output (M::*)(const Batch&) const> {
  using type = Batch;
};

}  // namespace detail

// The type of batch that a model's step() takes. Works only if step() is neither overloaded nor a template.
template <typename M>
using BatchOf = typename detail::StepBatch<decltype(&M::step)>::type;

// A description of evaluations. A value; one thread at a time.
class Evaluator {
 public:
  // Results are written to evaluation.jsonl in that folder, one line for each data set. The folder may be that of a
  // training.
  explicit Evaluator(std::filesystem::path artifact_dir) { options_.artifact_dir = std::move(artifact_dir); }

  // The metrics. Default: the loss.
  template <std::derived_from<metric::Metric>... Ms>
  Evaluator& metrics(Ms... metrics) {
    options_.metrics.clear();
    (options_.metrics.push_back([metric = std::move(metrics)] { return std::make_unique<Ms>(metric); }), ...);
    return *this;
  }
  Evaluator& renderer(std::shared_ptr<Renderer> renderer) {
    options_.renderer = std::move(renderer);
    return *this;
  }
  // Another receiver of the events of each evaluation, in addition to the renderer.
  Evaluator& logger(std::shared_ptr<events::EventSink> logger) {
    options_.loggers.push_back(std::move(logger));
    return *this;
  }
  // Whether to print a line with the metrics at the end of each evaluation.
  Evaluator& summary(bool wanted) {
    options_.summary = wanted;
    return *this;
  }

  // Errors: a metric that needs a tensor that the step does not return; two metrics with one name; errors of the device
  // and of writing the result.
  template <Module M, typename Batch>
  Evaluation eval(const std::string& name, const M& model, const data::DataLoader<Batch>& loader,
                  Loc where = Loc::current()) const {
    const client::SiteScope scope{at(where)};
    EvaluationPass pass{options_, name, static_cast<std::int64_t>(loader.num_items())};
    each_output(model, loader,
                [&](const M& inference, const Batch& batch) { pass.batch(detail::evaluated_step(inference, batch)); });
    return pass.finish();
  }

  // Evaluates the data sets one after the other.
  template <Module M, typename Batch = BatchOf<M>>
  std::vector<Evaluation> eval_all(
      const M& model, const std::vector<std::pair<std::string, data::DataLoader<std::type_identity_t<Batch>>>>& sets,
      Loc where = Loc::current()) const {
    std::vector<Evaluation> results;
    for (const auto& [name, loader] : sets) results.push_back(eval(name, model, loader, where));
    return results;
  }

  // Calls `each` with the predictions for each batch, in the loader's order: the tensors of the model's predict(batch),
  // which returns a tensor or a metric::Measured of several, or else the output of its step. `each` takes the first
  // tensor (TensorData), or all of them (std::span<const TensorData>). Only a few batches are in flight at a time, so
  // memory does not grow with the loader.
  template <Module M, typename Batch, typename Each>
    requires std::invocable<Each&, const TensorData&> || std::invocable<Each&, std::span<const TensorData>>
  void predict(const M& model, const data::DataLoader<Batch>& loader, Each each, Loc where = Loc::current()) const {
    const client::SiteScope scope{at(where)};
    PredictionReads reads{[&](std::span<const TensorData> tensors) {
      if constexpr (std::invocable<Each&, const TensorData&>) {
        each(tensors.front());
      } else {
        each(tensors);
      }
    }};
    each_output(model, loader,
                [&](const M& inference, const Batch& batch) { reads.push(detail::predicted(inference, batch)); });
    reads.finish();
  }

  const EvaluatorOptions& options() const { return options_; }

 private:
  template <typename M, typename Batch, typename Call>
  static void each_output(const M& model, const data::DataLoader<Batch>& loader, Call call) {
    const M inference = model.valid();
    for (auto it = loader.start(0); it != std::default_sentinel; ++it) {
      const Batch batch = std::move(*it);
      call(inference, batch);
    }
  }

  EvaluatorOptions options_;
};

}  // namespace burn::train
