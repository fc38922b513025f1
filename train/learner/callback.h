// User code that runs at certain moments of a training: an interface to implement.
//
//   struct StopAtTarget : train::Callback {
//     std::string name() const override { return "StopAtTarget"; }
//     void validation(train::Run& run) override {
//       if (run.value(train::Split::valid, "Accuracy") > 99) run.stop("99 % are right");
//     }
//   };
//   training.callbacks(std::make_shared<StopAtTarget>());
//
// Callbacks run on the training thread, so they may stop the run and read its metrics. Code that only observes is
// better an EventSink (train/events/event_sink.h), which does not delay steps. An exception of a callback ends the
// training with a checkpoint and an error that names the callback.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/learner/history.h"

namespace burn::train {

// A running training, as seen by a callback.
class Run {
 public:
  virtual ~Run() = default;

  virtual std::int64_t epoch() const = 0;  // the current epoch, or the last one just after its end; counted from 1
  virtual std::int64_t step() const = 0;   // optimizer steps since the run began, including those before a resume
  virtual std::int64_t batch() const = 0;  // batches trained on in this epoch
  virtual double rate() const = 0;         // the learning rate of the last step
  // The value of a metric in the current or last pass over the split. During training it covers the steps whose results
  // have arrived, which are some steps behind. Errors: a metric or split that is not measured.
  virtual double value(Split split, const std::string& metric) const = 0;
  virtual const std::vector<EpochResult>& history() const = 0;  // complete epochs

  // Ends the training after this step as if it were the last: with a validation, a checkpoint and a report with
  // StopReason::stopped_early.
  virtual void stop(const std::string& why) = 0;
  virtual void save_checkpoint() = 0;  // after this step
  virtual void message(const std::string& text) = 0;
};

// A checkpoint that was written.
struct WrittenCheckpoint {
  std::string name;  // "epoch-3", "epoch-3-batch-1200", "interrupted"
  std::int64_t epoch = 0, step = 0;
  double seconds = 0;  // duration of the write, on a background thread
};

// All functions are called by the training thread. Used by one training at a time.
class Callback {
 public:
  virtual ~Callback() = default;
  virtual std::string name() const = 0;  // for messages

  virtual void start(Run&) {}       // before the first step, after the checkpoint of a resumed run is loaded
  virtual void step(Run&) {}        // an optimizer step was sent; its results have not arrived yet
  virtual void validation(Run&) {}  // a validation has ended, at the end of an epoch or within it
  virtual void epoch(Run&) {}       // an epoch has ended; it is the last entry of history()
  virtual void checkpoint(Run&, const WrittenCheckpoint&) {}
  virtual void end(Run&) {}  // the training ends for any reason except an error
};

}  // namespace burn::train
