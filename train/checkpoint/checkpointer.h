// The storage of a training's checkpoints: an interface to implement for object stores, databases or memory, and the
// default implementation, which uses files.
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

  std::int64_t version = 1;  // of the format; version 1 did not write this field
  std::string run;           // the run's identifier in the event file
  std::int64_t epoch = 0;    // the last complete epoch or, if interrupted, the current one
  bool interrupted = false;  // the checkpoint was taken within the epoch
  std::int64_t batches = 0;  // if interrupted: batches of that epoch that were trained on
  std::int64_t items = 0;    // in those batches
  std::int64_t steps = 0;    // optimizer steps since the run began
  // Unsigned numbers in signed fields, because configurations write whole numbers as signed.
  std::int64_t seed = 0;         // of the training; each epoch's random numbers follow from it
  std::int64_t stream_seed = 0;  // seed and offset of the first device's random stream
  std::int64_t stream_offset = 0;
  std::vector<std::int64_t> other_streams;  // those of the other devices of a strategy: seed, offset, seed, ...
  std::vector<std::string> metrics;         // names of the training metrics, as columns of the history
  std::vector<std::string> valid_metrics;   // of the validation metrics; version 1 has one list for both
  std::vector<std::string> optimizers;      // their names, if they have any
  std::vector<std::string> more;            // the names of Checkpoint::more
  // The position at which the training loader's stream continues (DataLoader::position); empty: no stream. Since
  // version 3.
  std::string stream_position;
  BURN_CONFIG(TrainingState, version, run, epoch, interrupted, batches, items, steps, seed, stream_seed, stream_offset,
              other_streams, metrics, valid_metrics, optimizers, more, stream_position)
};

// Everything that a training needs to continue as if it had not stopped.
struct Checkpoint {
  TrainingState state;
  Record model;
  Record optimizer;
  Record metrics;                      // their history, and their partial results of the current epoch
  std::string scheduler;               // JSON
  std::map<std::string, Record> more;  // optional parts of a training: "ema", "grad_scaler"
};

// Stores checkpoints by name. A name consists of small letters, digits and "-". save() and remove() are called by the
// thread that writes checkpoints, the other functions only while nothing is being written.
class Checkpointer {
 public:
  virtual ~Checkpointer() = default;

  // Stores a checkpoint and replaces an older one of that name, atomically: after an error the old one must still be
  // there. The records may hold tensors that are still on the device; Record::save() writes them without having all of
  // them in memory. Errors (thrown): one sentence that says what could not be written, and why.
  virtual void save(const std::string& name, const Checkpoint& checkpoint) = 0;
  // Errors (thrown): NOT_FOUND; DATA_LOSS for a checkpoint that differs from what was written; RESOURCE_EXHAUSTED if
  // memory does not suffice.
  virtual Checkpoint load(const std::string& name) const = 0;
  // Loads one record of a checkpoint: "model", or one of Checkpoint::more. Errors: as load().
  virtual Record load_record(const std::string& name, const std::string& record) const = 0;
  virtual void remove(const std::string& name) = 0;  // does nothing if there is none
  virtual std::vector<std::string> names() const = 0;
  virtual std::string place() const = 0;  // for messages: the folder
};

// Stores each checkpoint as a folder with files:
//
//   <folder>/epoch-3/{model,optimizer,metrics}.safetensors, {scheduler,state}.json
//
// A folder exists complete or not at all; the file "checksums" in it has the checksums of its files as written.
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
