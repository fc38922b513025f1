// What a program of the user's own does at the moments of a training: an interface to extend.
//
//   struct StopAtTarget : train::Callback {
//     std::string name() const override { return "StopAtTarget"; }
//     void validation(train::Run& run) override {
//       if (run.value(train::Split::valid, "Accuracy") > 99) run.stop("99 % are right");
//     }
//   };
//   training.callbacks(std::make_shared<StopAtTarget>());
//
// Callbacks run on the thread that trains, so they may stop the run and look at its numbers; what only watches is an
// EventSink (train/events/event_sink.h), which takes no time of the step. What a callback throws ends the training with
// a checkpoint and an error that has the callback's name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/learner/history.h"

namespace burn::train {

// A training under way, as a callback sees it.
class Run {
 public:
  virtual ~Run() = default;

  virtual std::int64_t epoch() const = 0;  // under way, or just over; counted from 1
  virtual std::int64_t step() const = 0;   // steps of the optimizer since the run began, those before a resume included
  virtual std::int64_t batch() const = 0;  // batches of this epoch that have been trained on
  virtual double rate() const = 0;         // the learning rate of the last step
  // Of a metric in the pass over the split that is under way, or was last. Of training these are the numbers that have
  // come so far, of some steps before this one. Errors: a metric or split that is not measured.
  virtual double value(Split split, const std::string& metric) const = 0;
  virtual const std::vector<EpochResult>& history() const = 0;  // of the epochs that are over

  // Ends the training after this step as if it had been the last: with a validation, a checkpoint and a report, whose
  // reason is StopReason::stopped_early.
  virtual void stop(const std::string& why) = 0;
  virtual void save_checkpoint() = 0;  // after this step
  virtual void message(const std::string& text) = 0;
};

// A checkpoint that has been written.
struct WrittenCheckpoint {
  std::string name;  // "epoch-3", "epoch-3-batch-1200", "interrupted"
  std::int64_t epoch = 0, step = 0;
  double seconds = 0;  // that it took, on a thread of its own
};

// All of its functions are called by the thread that trains. May be used by one training at a time.
class Callback {
 public:
  virtual ~Callback() = default;
  virtual std::string name() const = 0;  // in messages

  virtual void start(Run&) {}       // before the first step; after what a resumed run goes on from is loaded
  virtual void step(Run&) {}        // a step of the optimizer has been sent, its numbers are not there yet
  virtual void validation(Run&) {}  // one is over, at the end of an epoch or within it
  virtual void epoch(Run&) {}       // one is over, its numbers are the last of history()
  virtual void checkpoint(Run&, const WrittenCheckpoint&) {}
  virtual void end(Run&) {}  // however the training ends, but by an error
};

}  // namespace burn::train
