// The engine's checkpoints: their content, resuming from one, and finding the best epoch.
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "nn/module/visit.h"
#include "train/events/event_file.h"
#include "train/learner/checkpoint_data.h"
#include "train/learner/engine.h"

namespace burn::train {
namespace {

RandomState stream_of(std::int64_t seed, std::int64_t offset) {
  return {static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(offset)};
}

}  // namespace

void check_position(const std::string& position, bool has_begun, bool is_stream) {
  if (!position.empty() && !is_stream) {
    throw Error(StatusCode::invalid_argument,
                fmt::format("resume: the checkpoint was written at position \"{}\" of a stream, but the loader of this "
                            "training has a data set",
                            position));
  }
  if (position.empty() && is_stream && has_begun) {
    throw Error(StatusCode::invalid_argument,
                "resume: the checkpoint was written with a data set, but the loader of this training has a stream");
  }
}

void Engine::start_afresh() {
  if (options_.checkpoints) checkpoints_.store().clear();
  run_ = events::new_run_id();
  seed_ = options_.seed.value_or(device_.state()->sent_random_state().seed);
}

void Engine::resume(const Resume& from) {
  const auto checkpoint = checkpoints_.store().load(from.epoch, [&](const std::string& why) {
    tell("resume: " + why + "; going on from an older one", events::Level::warning);
  });
  const auto& state = checkpoint.state;
  check_metrics(state, metrics_);
  check_optimizers(state, optimizers_.names());
  for (const auto& replica : work_.replicas()) nn::load_record(replica, checkpoint.model, "the model");
  update_.load(checkpoint);
  history_ = history_from_record(checkpoint.metrics);
  seed_ = static_cast<std::uint64_t>(state.seed);
  epoch_ = state.epoch + 1;
  if (state.interrupted) {
    epoch_ = state.epoch;
    batches_ = state.batches;
  }
  work_.seek(state.stream_position, epoch_ > 1 || batches_ > 0);
  if (batches_ > 0) {  // otherwise the epoch had not begun
    resumed_streams_.push_back(stream_of(state.stream_seed, state.stream_offset));
    for (std::size_t i = 0; i + 1 < state.other_streams.size(); i += 2)
      resumed_streams_.push_back(stream_of(state.other_streams[i], state.other_streams[i + 1]));
    load_gathered(checkpoint.metrics, state.items, train_metrics_);
  }
  resumed_from_ = epoch_ - 1;
  run_ = events::run_to_resume(options_.artifact_dir / "events", state.run);
  is_saved_ = true;
}

Engine::DeviceRecords Engine::ask_records() {
  const auto model = work_.model();
  DeviceRecords records{.model = keeps_snapshots_ ? nn::snapshot_of(model) : nn::record_of(model),
                        .optimizer = update_.optimizer_record(keeps_snapshots_)};
  update_.save(records.more);
  return records;
}

void Engine::rehearse_snapshot() {
  rehearsed_.reset();
  if (!std::exchange(has_rehearsed_, true)) rehearsed_ = ask_records();
}

void Engine::save(CheckpointKind kind) {
  const bool is_inside = kind != CheckpointKind::epoch;
  Checkpoint checkpoint;
  auto& state = checkpoint.state;
  state.version = TrainingState::kVersion;
  state.epoch = epoch_;
  state.interrupted = is_inside;
  state.run = run_;
  state.steps = update_.steps();
  state.seed = static_cast<std::int64_t>(seed_);
  state.metrics = names(train_metrics_);
  if (metrics_.has(Split::valid)) state.valid_metrics = names(valid_metrics_);
  state.optimizers = optimizers_.names();
  state.stream_position = work_.position();
  auto records = asked_ ? *std::exchange(asked_, std::nullopt) : ask_records();
  checkpoint.model = std::move(records.model);
  checkpoint.optimizer = std::move(records.optimizer);
  checkpoint.more = std::move(records.more);
  for (const auto& [name, record] : checkpoint.more) state.more.push_back(name);
  checkpoint.scheduler = optimizers_.to_record();
  checkpoint.metrics = to_record(history_);
  if (is_inside && batches_ > 0) {
    state.batches = batches_;
    state.items = train_metrics_.items();
    save_gathered(train_metrics_, checkpoint.metrics);
    for (std::size_t k = 0; k < streams_.size(); ++k) {
      const auto seed = static_cast<std::int64_t>(streams_[k].seed);
      const auto offset = static_cast<std::int64_t>(streams_[k].position);
      if (k == 0) {
        state.stream_seed = seed;
        state.stream_offset = offset;
      } else {
        state.other_streams.insert(state.other_streams.end(), {seed, offset});
      }
    }
  }
  checkpoints_.write(kind, std::move(checkpoint), history_, keeps_snapshots_);
  is_saved_ = true;
}

bool Engine::take_outcomes(bool wait) {
  bool are_well = true;
  for (const auto& outcome : checkpoints_.take_outcomes(wait)) {
    if (!outcome.failure.empty()) {
      are_well = false;
      for (const auto& device : devices_) {
        if (const auto health = device.state()->health(); !health.ok()) throw Error(health);
      }
      if (const auto error = checkpoints_.failed(outcome)) throw Error{*error};
      tell(fmt::format("the checkpoint {} could not be written: {}; training goes on, and the next one is tried",
                       outcome.name, outcome.failure),
           events::Level::error);
      continue;
    }
    checkpoints_.succeeded();
    events_.publish(events::CheckpointWritten{outcome.epoch, outcome.step, outcome.seconds,
                                              outcome.kind == CheckpointKind::interrupted});
    const WrittenCheckpoint written{outcome.name, outcome.epoch, outcome.step, outcome.seconds};
    call("checkpoint", [&](Callback& callback) { callback.checkpoint(*this, written); });
  }
  return are_well;
}

// Early stopping occurs some epochs after the best one, whose model must be kept until then.
void Engine::keep_best() {
  if (const auto best = find_best(); !best || best->epoch != epoch_) return;
  best_model_ = std::make_shared<const Record>(averaged(nn::record_of(work_.model())));
  best_epoch_ = epoch_;
}

Record Engine::averaged(Record model) const {
  const auto* averages = update_.averages();
  return averages == nullptr ? model : with_averages(std::move(model), averages->front().to_record(work_.model()));
}

std::optional<BestEpoch> Engine::find_best() const {
  if (history_.empty()) return std::nullopt;
  const auto metric = find_metric("the best epoch", watched_.metric, watched_.split, metrics_);
  const auto best = train::find_best(history_, watched_.split, metric, metrics_);
  // Without checkpoints, the folder may contain those of another training.
  const bool is_on_disk = options_.checkpoints || best.epoch <= resumed_from_;
  BestEpoch found{.epoch = best.epoch, .value = best.value, .by = watched_};
  const bool is_last = best.epoch == history_.back().epoch && batches_ == 0;
  auto model = best_epoch_ == best.epoch ? best_model_ : nullptr;
  if (is_last && update_.averages() != nullptr)
    model = std::make_shared<const Record>(averaged(nn::record_of(work_.model())));
  else
    found.is_last = is_last;
  const bool has_averages = update_.averages() != nullptr;
  found.record = [store = checkpoints_.store(), is_on_disk, has_averages, epoch = best.epoch, model] {
    if (model) return *model;
    if (is_on_disk) {
      auto record = store.load_model(epoch);
      return has_averages ? with_averages(std::move(record), store.load_record(epoch, kAverageRecordName)) : record;
    }
    throw Error(StatusCode::not_found,
                fmt::format("the model of epoch {}, the best one, was not kept: this training has "
                            "neither checkpoints nor early stopping",
                            epoch));
  };
  return found;
}

}  // namespace burn::train
