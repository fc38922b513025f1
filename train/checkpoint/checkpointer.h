// Where the checkpoints of a training are kept: an interface to extend, for object stores, databases or memory, and the
// files that are used unless another is given.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "nn/module/config.h"
#include "store/record.h"

namespace burn::train {

struct TrainingState {
  static constexpr std::int64_t kVersion = 3;

  std::int64_t version = 1;  // of the format; what has none is of the first
  std::string run;           // its identifier in the file of events
  std::int64_t epoch = 0;    // that is over, or, if interrupted, under way
  bool interrupted = false;  // the checkpoint is of a moment within the epoch
  std::int64_t batches = 0;  // of that epoch that have been trained on, if interrupted
  std::int64_t items = 0;    // in them
  std::int64_t steps = 0;    // of the optimizer, since the run began
  // Unsigned numbers in signed fields, because JSON's whole numbers are those.
  std::int64_t seed = 0;         // of the training; each epoch's random numbers follow from it
  std::int64_t stream_seed = 0;  // where the first device's random numbers are
  std::int64_t stream_offset = 0;
  std::vector<std::int64_t> other_streams;  // those of the other devices of a strategy: seed, offset, seed, ...
  std::vector<std::string> metrics;         // of training, as columns of the history
  std::vector<std::string> valid_metrics;   // of validation; version 1 has one list for both
  std::vector<std::string> optimizers;      // their names, where they have any
  std::vector<std::string> more;            // the names of Checkpoint::more
  // Where the training loader's stream goes on (DataLoader::position); empty: there is none. Since version 3.
  std::string stream_position;
  BURN_CONFIG(TrainingState, version, run, epoch, interrupted, batches, items, steps, seed, stream_seed, stream_offset,
              other_streams, metrics, valid_metrics, optimizers, more, stream_position)
};

// Everything that a training needs to go on as if it had never stopped.
struct Checkpoint {
  TrainingState state;
  Record model;
  Record optimizer;
  Record metrics;                      // their history, and what they have gathered of an epoch under way
  std::string scheduler;               // JSON
  std::map<std::string, Record> more;  // what only some trainings have: "ema", "grad_scaler"
};

// Checkpoints by name. A name is made of small letters, digits and "-". save() and remove() are called by the thread
// that writes checkpoints, the others while nothing is written.
class Checkpointer {
 public:
  virtual ~Checkpointer() = default;

  // Keeps a checkpoint, in the place of one of that name: afterwards there is the new one, or, after an error, the old
  // one. The records may hold tensors that are still on the device; Record::save() writes them without having all of
  // them in memory. Errors (thrown): one sentence that says what could not be written, and why.
  virtual void save(const std::string& name, const Checkpoint& checkpoint) = 0;
  // Errors (thrown): NOT_FOUND; DATA_LOSS for one that is not as it was written; RESOURCE_EXHAUSTED where there is no
  // memory for it.
  virtual Checkpoint load(const std::string& name) const = 0;
  // Of a checkpoint the record of that name: "model", or one of Checkpoint::more. Errors: as load().
  virtual Record load_record(const std::string& name, const std::string& record) const = 0;
  virtual void remove(const std::string& name) = 0;  // does nothing where there is none
  virtual std::vector<std::string> names() const = 0;
  virtual std::string place() const = 0;  // in messages: the folder
};

// Folders with files, in a folder:
//
//   <folder>/epoch-3/{model,optimizer,metrics}.safetensors, {scheduler,state}.json
//
// A folder is there complete or not at all; "checksums" in it says what its files were when they were written.
class FileCheckpointer : public Checkpointer {
 public:
  explicit FileCheckpointer(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void save(const std::string& name, const Checkpoint& checkpoint) override;
  Checkpoint load(const std::string& name) const override;
  Record load_record(const std::string& name, const std::string& record) const override;
  void remove(const std::string& name) override;
  std::vector<std::string> names() const override;
  std::string place() const override { return folder_.string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace burn::train
