// Evaluation of models on data that they were not trained on.
#include "train/evaluator/evaluator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_of.h"
#include "tests/support/temp_folder.h"
#include "tests/train/tiny.h"

namespace burn {
namespace {

using ::testing::HasSubstr;

class Evaluator : public ::testing::Test {
 protected:
  test::TempFolder folder;
  Device device = Device::new_session("cpu");
  std::shared_ptr<test::RecordingRenderer> renderer = std::make_shared<test::RecordingRenderer>();
  test::TinyNet net = make_net();

  test::TinyNet make_net() {
    device.seed(3);
    return test::TinyNet::init(device.autodiff());
  }
  train::Evaluator evaluator() {
    return train::Evaluator(folder / "run").metrics(metric::Accuracy{}, metric::Loss{}).renderer(renderer);
  }
  data::DataLoader<test::PointBatch> loader(std::size_t items, std::uint64_t seed) {
    return data::DataLoaderBuilder(test::PointBatcher{device})
        .batch_size(8)
        .build(data::InMemDataset<test::Point>(test::points(items, seed)));
  }
  std::vector<std::string> lines() {
    std::vector<std::string> lines;
    std::istringstream text(test::TempFolder::read(folder / "run/evaluation.jsonl"));
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }
};

TEST_F(Evaluator, MeasuresAllItemsOnceWithoutDropout) {
  const auto found = evaluator().eval("test", net, loader(30, 9));  // the last batch is shorter
  const auto inference = net.valid();
  double right = 0, loss = 0;
  const auto batches = loader(30, 9);
  for (auto it = batches.start(0); it != batches.end(); ++it) {
    const auto output = inference.step(*it);
    right += output.output.argmax(1).squeeze_dim<1>(1).equal(output.targets).to_float().sum().into_scalar<double>();
    loss += output.loss.into_scalar<double>() * static_cast<double>(output.targets.dim(0));
  }
  EXPECT_EQ(found.items, 30);
  EXPECT_NEAR(found.value("Accuracy"), 100 * right / 30, 1e-9);
  EXPECT_NEAR(found.value("Loss"), loss / 30, 1e-6);
  EXPECT_EQ(found.metric("Accuracy").text, metric::Accuracy{}.format(found.value("Accuracy")));
  EXPECT_THAT(test::error_of([&] { (void)found.value("Recall"); }), HasSubstr("there are: Accuracy, Loss"));
  ASSERT_FALSE(renderer->steps.empty());
  EXPECT_EQ(renderer->steps.back().split, Split::test);
  EXPECT_EQ(renderer->steps.back().items, 30);
  ASSERT_EQ(renderer->messages.size(), 1u);
  EXPECT_THAT(renderer->messages[0], ::testing::StartsWith("test: acc "));
}

TEST_F(Evaluator, WritesALineForEachSetAndReplacesIt) {
  const auto sets = evaluator().eval_all(net, {{"clean", loader(20, 1)}, {"noisy", loader(12, 2)}});
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_EQ(sets[1].name, "noisy");
  EXPECT_EQ(sets[1].items, 12);
  (void)evaluator().eval("clean", net, loader(5, 1));
  ASSERT_EQ(lines().size(), 2u);
  EXPECT_THAT(lines()[0], HasSubstr("{\"set\":\"noisy\",\"items\":12,"));
  EXPECT_THAT(lines()[1], HasSubstr("{\"set\":\"clean\",\"items\":5,"));
}

TEST_F(Evaluator, TellsTexts) {
  const auto found = train::Evaluator(folder / "run")
                         .metrics(metric::ConfusionMatrix{})
                         .renderer(renderer)
                         .eval("test", net, loader(9, 4));
  EXPECT_THAT(found.metric("Confusion Matrix").text, HasSubstr("recall"));
  EXPECT_THAT(renderer->messages.at(0), HasSubstr("test Confusion Matrix:\nactual"));
  EXPECT_THAT(lines()[0], HasSubstr("\"Confusion Matrix\":\"actual"));
}

TEST_F(Evaluator, SaysWhatAStepDoesNotGive) {
  EXPECT_THAT(test::error_of([&] {
                (void)train::Evaluator(folder / "run")
                    .metrics(metric::BleuScore{})
                    .renderer(renderer)
                    .eval("test", net, loader(9, 4));
              }),
              HasSubstr("metric BLEU-4: needs \"targets\""));
}

TEST_F(Evaluator, PredictsInOrderWithFewBatchesOnTheirWay) {
  std::vector<TensorData> outputs;
  evaluator().predict(net, loader(400, 6), [&](const TensorData& output) { outputs.push_back(output); });
  ASSERT_EQ(outputs.size(), 50u);
  const auto inference = net.valid();
  const auto batches = loader(400, 6);
  std::size_t i = 0;
  for (auto it = batches.start(0); it != batches.end(); ++it, ++i)
    EXPECT_EQ(outputs[i], inference.step(*it).output.to_data()) << i;
}

// A model whose predict() returns something other than the output of its step.
struct Predictor {
  test::TinyNet net;
  BURN_MODULE(Predictor, net)
  train::ClassificationOutput step(const test::PointBatch& batch) const { return net.step(batch); }
  metric::Measured predict(const test::PointBatch& batch) const {
    const auto output = net.step(batch).output;
    return metric::Measured{output.argmax(1)}.add(output.max_dim(1));
  }
};

TEST_F(Evaluator, PredictsWhatTheModelSays) {
  std::size_t items = 0;
  evaluator().predict(Predictor{net}, loader(20, 6), [&](std::span<const TensorData> tensors) {
    ASSERT_EQ(tensors.size(), 2u);
    EXPECT_EQ(tensors[0].dtype(), DType::i64);
    EXPECT_EQ(tensors[1].dtype(), DType::f32);
    items += tensors[0].num_elements();
  });
  EXPECT_EQ(items, 20u);
}

TEST_F(Evaluator, PassesOnWhatTheReceiverThrows) {
  EXPECT_THROW(evaluator().predict(net, loader(20, 6), [](const TensorData&) { throw std::runtime_error("enough"); }),
               std::runtime_error);
}

}  // namespace
}  // namespace burn
