// The checkpoints of a training by what they are of: an epoch that is over, a moment within an epoch, the moment at
// which the training was told to stop. In files they lie in <artifact_dir>/checkpoint
// (train/checkpoint/checkpointer.h).
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
  // Errors of these: one sentence naming the file and the system's reason. An epoch that is over ends what was
  // interrupted before it. save(): of an epoch or, if the state says so, of an interruption.
  void save(const Checkpoint& checkpoint) const;
  void save(CheckpointKind kind, const Checkpoint& checkpoint) const;
  // Removes the checkpoints of all other epochs.
  void keep_only(std::span<const std::int64_t> epochs) const;
  // Removes those of a former training that went further than this state, from an epoch before which this one went on.
  void drop_later_than(const TrainingState& state) const;
  // Of those within epochs the newest so many stay.
  void keep_within_epochs(std::int64_t count) const;
  // Without an epoch: the latest that is whole, be it of an epoch or of a moment within one; `warn` is called with a
  // sentence for each newer one that is damaged, which names the file. Errors: NOT_FOUND, saying which there are;
  // DATA_LOSS for an epoch that was asked for, or where none is whole; FAILED_PRECONDITION where the latest was written
  // by a newer version.
  Checkpoint load(std::optional<std::int64_t> epoch, const std::function<void(const std::string&)>& warn = {}) const;
  // The model alone, or another record.
  Record load_model(std::int64_t epoch) const { return load_record(epoch, "model"); }
  Record load_record(std::int64_t epoch, const std::string& record) const;
  std::vector<std::int64_t> epochs() const;  // that have a checkpoint, ascending
  bool is_empty() const { return newest_first().empty(); }

 private:
  std::string find(std::int64_t epoch) const;
  Checkpoint read_epoch(std::int64_t epoch) const;
  std::vector<std::string> newest_first() const;

  std::shared_ptr<Checkpointer> keeper_;
};

}  // namespace burn::train
