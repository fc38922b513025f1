// The cost of a step with sparse gradients: it computes nothing of the table's size, but writes into the table in
// place.
#include <gtest/gtest.h>

#include "client/record/device_state.h"
#include "nn/layer/embedding.h"
#include "tests/train/fake_session.h"
#include "train/optim/optim.h"

namespace burn {
namespace {

constexpr std::int64_t kCount = 100'000, kWidth = 8;

struct Words {
  nn::Embedding table;
  BURN_MODULE(Words, table)
};

class SparseSteps : public ::testing::Test {
 protected:
  std::shared_ptr<test::FakeServer> server = std::make_shared<test::FakeServer>();
  Device device = test::fake_device(server).autodiff();

  Words words(DType dtype) {
    Words net{nn::EmbeddingConfig{.n_embedding = kCount, .d_model = kWidth, .sparse = true}.init(device)};
    return net.to_dtype(dtype);
  }
  Tensor<1> loss_of(const Words& net) {
    const auto index = Tensor<2, Int>::from_data({{3, 5}, {5, 99'999}}, device);
    return net.table(index).powi(2).cast(DType::f32).sum();
  }
  GradientsParams gradients_of(const Words& net) { return GradientsParams::from_grads(loss_of(net).backward(), net); }
  // The programs of the last of three steps.
  template <typename Step>
  std::vector<std::shared_ptr<const ir::Program>> programs_of(const Step& step) {
    for (int i = 0; i < 2; ++i) step();
    device.sync();
    const auto before = server->runs.size();
    step();
    device.sync();
    std::vector<std::shared_ptr<const ir::Program>> programs;
    for (std::size_t i = before; i < server->runs.size(); ++i)
      programs.push_back(server->programs.at(server->runs[i].program));
    return programs;
  }
  // Checks that every result of the table's size is written by a scatter into a donated input that no later node reads.
  // Returns the number of such results.
  static int tables_written(const ir::Program& program) {
    int written = 0;
    for (std::size_t n = 0; n < program.nodes.size(); ++n) {
      const auto& node = program.nodes[n];
      if (ir::num_elements(program.type_of(ir::Ref::value(static_cast<std::int32_t>(node.first_value))).shape) <
          kCount * kWidth)
        continue;
      written += 1;
      const auto into = program.operands_of(node)[0];
      EXPECT_TRUE(std::holds_alternative<ir::Scatter>(node.op)) << ir::to_string(node.op);
      EXPECT_TRUE(into.is_input() && program.inputs[static_cast<std::size_t>(into.index())].donated);
      for (auto later = n + 1; later < program.nodes.size(); ++later) {
        for (const auto operand : program.operands_of(program.nodes[later])) EXPECT_NE(operand, into);
      }
    }
    return written;
  }
  int tables_written(const std::vector<std::shared_ptr<const ir::Program>>& programs) {
    int written = 0;
    for (const auto& program : programs) written += tables_written(*program);
    return written;
  }
};

TEST_F(SparseSteps, OfEveryOptimizerWriteRowsIntoTheirTablesOnly) {
  const std::pair<optim::ModuleOptimizer, int> optimizers[] = {
      {optim::SgdConfig{}, 1}, {optim::AdamConfig{}, 3}, {optim::AdaGradConfig{}, 2}};
  for (const auto& [engine, tables] : optimizers) {
    for (const auto dtype : {DType::f32, DType::bf16}) {
      optim::Optimizer<Words> optim{engine};
      Words net = words(dtype);
      const auto programs = programs_of([&] { net = optim.step(0.1, std::move(net), gradients_of(net)); });
      EXPECT_EQ(programs.size(), 1u);
      EXPECT_EQ(tables_written(programs), tables);
    }
  }
}

TEST_F(SparseSteps, WithLimitsAndConditionsWriteRowsIntoTheirTablesOnly) {
  auto optim = optim::AdamConfig{.grad_clipping = {{.norm = 1}}}.init<Words>();
  auto scaler = optim::GradScalerConfig{}.init(device);
  Words net = words(DType::f16);
  const auto programs = programs_of([&] {
    auto gradients = scaler.unscale(GradientsParams::from_grads(scaler.scale(loss_of(net)).backward(), net));
    gradients.clip_norm(1);
    net = optim.step(0.1, std::move(net), std::move(gradients));
  });
  EXPECT_EQ(tables_written(programs), 3);
}

TEST_F(SparseSteps, OfAccumulatedGradientsWriteRowsIntoTheirTablesOnly) {
  auto optim = optim::AdamConfig{}.init<Words>();
  Words net = words(DType::f32);
  const auto programs = programs_of([&] {
    GradientsAccumulator accumulator;
    for (int i = 0; i < 2; ++i) {
      accumulator.accumulate(gradients_of(net));
      device.flush();
    }
    net = optim.step(0.1, std::move(net), accumulator.grads());
  });
  EXPECT_EQ(tables_written(programs), 3);
}

}  // namespace
}  // namespace burn
