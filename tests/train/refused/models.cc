// Models that the learner must refuse to compile with. tests/nn/refused/refused.cmake looks for each "refused:" in what
// the compiler says.
#include "tests/train/tiny.h"

namespace burn {

// refused: the model has no `step(const Batch&) const` for the loaders' batches
struct WithoutStep {
  nn::Linear layer;
  BURN_MODULE(WithoutStep, layer)
};

// refused: the model's step() returns no output with `step_output()`
struct WithoutOutput {
  nn::Linear layer;
  BURN_MODULE(WithoutOutput, layer)
  Tensor<1> step(const test::PointBatch& batch) const { return layer(batch.x).mean(); }
};

void launch(const train::SupervisedTraining<test::PointBatch>& training) {
  (void)training.launch(train::Learner(WithoutStep{}, optim::SgdConfig{}, 0.1));
  (void)training.launch(train::Learner(WithoutOutput{}, optim::SgdConfig{}, 0.1));
}

}  // namespace burn
