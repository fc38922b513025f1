#include "train/learner/launch.h"

#include <system_error>

#include "train/learner/engine.h"
#include "train/learner/run_checkpoints.h"

namespace burn::train {
namespace {

using MakeWork = std::function<std::unique_ptr<Work>(const TrainingOptions&)>;

TrainingReport run(const TrainingOptions& options, const MakeWork& make_work, Optimizers& optimizers,
                   const std::function<void()>& at_end) {
  const auto work = make_work(options);
  if (!options.resume || !options.resume->may_start || !store_of(options).is_empty())
    return Engine{options, *work, optimizers}.run(at_end);
  auto from_the_start = options;
  from_the_start.resume.reset();
  return Engine{from_the_start, *work, optimizers}.run(at_end);
}

// Removes a folder when destroyed.
class OwnFolder {
 public:
  explicit OwnFolder(std::filesystem::path path) : path_(std::move(path)) {}
  ~OwnFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  const std::filesystem::path path_;
};

// Trains an epoch of one step, then one more that resumes from the checkpoint of the first.
TrainingReport run_dry(TrainingOptions options, const MakeWork& make_work, Optimizers& optimizers,
                       const std::function<void()>& at_end) {
  const OwnFolder folder{options.artifact_dir / "dry-run"};
  options.artifact_dir = folder.path();
  options.checkpointer.reset();  // it may hold checkpoints of a real training
  if (!options.checkpoints) options.checkpoints.emplace();
  options.resume.reset();
  options.max_steps.reset();
  options.max_time.reset();
  options.max_train_batches = 1;
  if (options.max_valid_batches != 0) options.max_valid_batches = 1;
  options.max_failures_in_a_row = 0;
  options.early_stopping.reset();
  options.stop_rules.clear();
  options.epochs = 1;
  auto report = run(options, make_work, optimizers, {});
  if (report.reason == StopReason::interrupted) return report;
  options.epochs = 2;
  options.resume = Resume{};
  return run(options, make_work, optimizers, at_end);
}

}  // namespace

TrainingReport launch(const TrainingOptions& options, const MakeWork& make_work, Optimizers& optimizers,
                      const std::function<void()>& at_end) {
  return options.dry_run ? run_dry(options, make_work, optimizers, at_end)
                         : run(options, make_work, optimizers, at_end);
}

}  // namespace burn::train
