// A training on disk: everything it needs to go on as if it had never stopped.
//
//   <artifact_dir>/checkpoint/epoch-3/{model,optimizer,metrics}.safetensors, {scheduler,state}.json
//   <artifact_dir>/checkpoint/interrupted/...    the moment at which a training was told to stop
//
// A folder is there complete or not at all; "checksums" in it says what its files were when they were written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "nn/module/config.h"
#include "store/record.h"

namespace burn::train {

struct TrainingState {
  std::int64_t epoch = 0;  // that is over, or, if interrupted, under way
  bool interrupted = false;
  std::int64_t batches = 0;  // of that epoch that have been trained on, if interrupted
  std::int64_t items = 0;    // in them
  std::int64_t steps = 0;    // of the optimizer, since the beginning of the run
  // Unsigned numbers in signed fields, because JSON's whole numbers are those.
  std::int64_t seed = 0;         // of the training; each epoch's random numbers follow from it
  std::int64_t stream_seed = 0;  // where the device's random numbers are
  std::int64_t stream_offset = 0;
  std::vector<std::string> metrics;  // their names, as columns of the history
  BURN_CONFIG(TrainingState, epoch, interrupted, batches, items, steps, seed, stream_seed, stream_offset, metrics)
};

struct Checkpoint {
  TrainingState state;
  Record model;
  Record optimizer;
  Record metrics;         // their history, and what they have gathered of an epoch under way
  std::string scheduler;  // JSON
};

// The folder of checkpoints of a training. One process at a time.
class CheckpointStore {
 public:
  explicit CheckpointStore(const std::filesystem::path& artifact_dir) : folder_(artifact_dir / "checkpoint") {}

  void clear() const;
  // Errors of these: one sentence naming the file and the system's reason. An epoch that is over ends what was
  // interrupted before it.
  void save(const Checkpoint& checkpoint) const;
  // Removes the checkpoints of all other epochs.
  void keep_only(std::span<const std::int64_t> epochs) const;
  // Without an epoch: the latest that is whole, be it of an epoch or of an interruption; `warn` is called with a
  // sentence for each newer one that is damaged, which names the file. Errors: NOT_FOUND, saying which there are;
  // DATA_LOSS for an epoch that was asked for, or where none is whole.
  Checkpoint load(std::optional<std::int64_t> epoch, const std::function<void(const std::string&)>& warn = {}) const;
  Record load_model(std::int64_t epoch) const;  // the same, of the model alone
  std::vector<std::int64_t> epochs() const;     // that have a checkpoint, ascending

 private:
  std::filesystem::path find(std::int64_t epoch) const;
  Checkpoint read_epoch(std::int64_t epoch) const;
  std::filesystem::path folder_of(std::int64_t epoch) const { return folder_ / ("epoch-" + std::to_string(epoch)); }
  std::filesystem::path interrupted() const { return folder_ / "interrupted"; }

  std::filesystem::path folder_;
};

}  // namespace burn::train
