// The checkpoints of a training, of three kinds: after an epoch, within an epoch, and at an interruption, when the
// training was told to stop. By default they are files in <artifact_dir>/checkpoint (train/checkpoint/checkpointer.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "train/checkpoint/checkpointer.h"

namespace burn::train {

enum class CheckpointKind : std::uint8_t { epoch, within_epoch, interrupted };

// "epoch-3", "epoch-3-batch-1200", "interrupted".
std::string name_of(CheckpointKind kind, const TrainingState& state);

// The checkpoints of a training. One process at a time.
class CheckpointStore {
 public:
  explicit CheckpointStore(const std::filesystem::path& artifact_dir)
      : CheckpointStore(std::make_shared<FileCheckpointer>(artifact_dir / "checkpoint")) {}
  explicit CheckpointStore(std::shared_ptr<Checkpointer> keeper) : keeper_(std::move(keeper)) {}

  void clear() const;
  // Errors of these: one sentence naming the file and the system's reason. The first save() writes the kind `epoch` or,
  // if the state says so, `interrupted`. Saving any other kind removes the checkpoint of an earlier interruption.
  void save(const Checkpoint& checkpoint) const;
  void save(CheckpointKind kind, const Checkpoint& checkpoint) const;
  // Removes the checkpoints of all other epochs.
  void keep_only(std::span<const std::int64_t> epochs) const;
  // Removes checkpoints later than this state: they are of a former training, of which this one resumed an earlier
  // epoch.
  void drop_later_than(const TrainingState& state) const;
  // Keeps the newest `count` of the checkpoints within epochs, and removes the others.
  void keep_within_epochs(std::int64_t count) const;
  // Without an epoch: loads the latest undamaged checkpoint of any kind; `warn` is called for each newer one that is
  // damaged, with a sentence that names the file. Errors: NOT_FOUND, listing the existing ones; DATA_LOSS if the
  // requested epoch's is damaged, or all are; FAILED_PRECONDITION if the latest was written by a newer version.
  Checkpoint load(std::optional<std::int64_t> epoch, const std::function<void(const std::string&)>& warn = {}) const;
  // Loads only the model, or another record.
  Record load_model(std::int64_t epoch) const { return load_record(epoch, "model"); }
  Record load_record(std::int64_t epoch, const std::string& record) const;
  std::vector<std::int64_t> epochs() const;  // epochs that have a checkpoint, ascending
  bool is_empty() const { return newest_first().empty(); }

 private:
  std::string find(std::int64_t epoch) const;
  Checkpoint read_epoch(std::int64_t epoch) const;
  std::vector<std::string> newest_first() const;

  std::shared_ptr<Checkpointer> keeper_;
};

}  // namespace burn::train
