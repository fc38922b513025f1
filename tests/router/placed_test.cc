// What a program says to be split, in a session on a fleet beside a session on one worker: numbers, and the memory that
// each worker keeps between steps. Workers are of this process.
#include <future>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/batch_scope.h"
#include "nn/nn.h"
#include "tests/router/local_fleet.h"
#include "tests/support/error_of.h"
#include "train/train.h"

namespace burn::router {
namespace {

using compile::partition::Mesh;
using testing::HasSubstr;

struct Mlp {
  nn::Linear up, down;
  BURN_MODULE(Mlp, up, down)

  static Mlp init(const Device& device) {
    return {.up = nn::LinearConfig{.d_input = 64, .d_output = 256}.init(device),
            .down = nn::LinearConfig{.d_input = 256, .d_output = 64}.init(device)};
  }
  Tensor<2> forward(const Tensor<2>& x) const { return down(up(x).relu()); }
};

Tensor<2> numbers(const Device& device, std::int64_t rows, int salt) {
  std::vector<float> all(static_cast<std::size_t>(rows * 64));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<float>(static_cast<int>((i * 131 + static_cast<std::size_t>(salt) * 17) % 23) - 11) / 11;
  return Tensor<2>::from_data(TensorData(std::move(all), {rows, 64}), device);
}

struct Trained {
  std::vector<float> losses;
  std::vector<std::uint64_t> bytes;  // that each worker keeps
};

Trained train(const Mesh& mesh, std::optional<optim::StateSplit> split, std::optional<double> max_norm = {}) {
  const LocalFleet fleet(mesh);
  const Device device = fleet.device().autodiff();
  device.seed(5);
  auto net = Mlp::init(device);
  auto optim = optim::AdamConfig{}.init<Mlp>();
  if (split) optim.split_state(*split);
  std::vector<std::future<TensorData>> reads;
  for (int step = 0; step < 10; ++step) {
    const auto [x, y] = [&] {
      const BatchScope batch;
      return std::pair{numbers(device, step == 7 ? 3 : 128, step), numbers(device, step == 7 ? 3 : 128, step + 40)};
    }();
    const auto loss = nn::MseLoss{}(net.forward(x), y);
    auto gradients = GradientsParams::from_grads(loss.backward(), net);
    if (max_norm) gradients.clip_norm(*max_norm);
    net = optim.step(1e-3, std::move(net), std::move(gradients));
    reads.push_back(loss.to_data_async());
  }
  Trained trained;
  for (auto& read : reads) trained.losses.push_back(read.get().to_vec<float>().at(0));
  trained.bytes = fleet.bytes_in_use();
  // Records are of the whole, wherever it lies.
  const auto record = optim.to_record(net);
  EXPECT_EQ(record.get("up.weight/moment_1").shape(), net.up.weight.val().value().shape());
  return trained;
}

void expect_close(const std::vector<float>& routed, const std::vector<float>& alone) {
  ASSERT_EQ(routed.size(), alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(routed[i], alone[i], 1e-4 * alone[i]) << "step " << i;
}

TEST(PlacedState, HasTheLossesOfOneWorkerAndLessMemory) {
  const auto alone = train(Mesh{}, std::nullopt);
  const auto bytes = static_cast<double>(alone.bytes[0]);
  for (const bool parameters : {false, true}) {
    for (const int workers : {2, 4}) {
      SCOPED_TRACE(std::to_string(workers) + " workers" + (parameters ? ", parameters too" : ""));
      const auto split = train({.data = workers}, optim::StateSplit{.parameters = parameters});
      expect_close(split.losses, alone.losses);
      // A third of the state is parameters; biases and what is small beside it stay on all.
      const double expected = parameters ? 1.0 / workers : (1 + 2.0 / workers) / 3;
      for (const auto of_worker : split.bytes) EXPECT_NEAR(static_cast<double>(of_worker) / bytes, expected, 0.05);
    }
  }
}

TEST(PlacedState, HasTheLossesOfOneWorkerWithGradientsThatAreClipped) {
  expect_close(train({.data = 3}, optim::StateSplit{}, 0.1).losses, train(Mesh{}, std::nullopt, 0.1).losses);
}

TEST(PlacedState, OnAMeshOfTwoAxesHasTheLossesOfOneWorker) {
  const Mesh mesh{.data = 2, .model = 2};
  const auto alone = train(Mesh{}, std::nullopt);
  for (const auto& split : {std::optional<optim::StateSplit>{}, std::optional{optim::StateSplit{}}})
    expect_close(train(mesh, split).losses, alone.losses);
}

TEST(PlacedState, IsNothingOnOneWorker) {
  const auto alone = train(Mesh{}, std::nullopt), split = train(Mesh{}, optim::StateSplit{.parameters = true});
  EXPECT_EQ(split.losses, alone.losses);
  EXPECT_EQ(split.bytes, alone.bytes);
}

// --- parts of a model ------------------------------------------------------------------------------------------------

struct Computed {
  std::vector<TensorData> all;  // the output, and gradients by parameter
  std::vector<std::uint64_t> bytes;
};

void expect_close(const Computed& placed, const Computed& alone) {
  ASSERT_EQ(placed.all.size(), alone.all.size());
  for (std::size_t i = 0; i < alone.all.size(); ++i) {
    const auto actual = placed.all[i].to_vec<float>(), expected = alone.all[i].to_vec<float>();
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) EXPECT_NEAR(actual[k], expected[k], 1e-5) << i;
  }
}

// The first weight by columns, the second by rows: each worker has a part of the rows between the two.
Computed compute(const Mesh& mesh, bool is_placed, bool is_marked) {
  const LocalFleet fleet(mesh);
  const Device device = fleet.device().autodiff();
  device.seed(5);
  auto net = Mlp::init(device);
  if (is_placed) {
    net.up.weight = device.place(net.up.weight, {1, "model"});
    net.down.weight = device.place(net.down.weight, {0, "model"});
  }
  const auto x = [&] {
    const BatchScope batch{is_marked ? std::optional<int>{0} : std::nullopt};
    return numbers(device, 16, 1);
  }();
  const auto y = net.forward(x);
  auto gradients = GradientsParams::from_grads((y * y).mean().backward(), net);
  Computed computed;
  computed.all.push_back(y.to_data());
  net.for_each_slot(
      [&](const std::string&, Slot& slot) { computed.all.push_back(client::to_data(*gradients.get(slot.id))); });
  gradients.clear();
  computed.bytes = fleet.bytes_in_use();
  return computed;
}

TEST(PlacedParameters, OfABlockGiveItsOutputsAndGradients) {
  const auto alone = compute(Mesh{}, true, false);
  for (const bool is_marked : {false, true}) {
    for (const int workers : {2, 3}) {
      SCOPED_TRACE(std::to_string(workers) + " workers" + (is_marked ? ", with a batch" : ""));
      expect_close(compute({.data = workers}, true, is_marked), alone);
    }
  }
}

TEST(PlacedParameters, OnAMeshOfTwoAxesGiveTheirOutputsAndGradients) {
  const auto alone = compute(Mesh{}, true, false);
  for (const auto& mesh : {Mesh{.data = 2, .model = 2}, Mesh{.data = 2, .model = 3}, Mesh{.data = 1, .model = 2}}) {
    SCOPED_TRACE(std::to_string(mesh.data) + " by " + std::to_string(mesh.model));
    expect_close(compute(mesh, true, true), alone);
  }
}

TEST(PlacedParameters, AreInPartsOnTheWorkers) {
  const Mesh two{.data = 2}, four{.data = 2, .model = 2};
  const auto placed = compute(two, true, false).bytes, whole = compute(two, false, true).bytes;
  EXPECT_LT(static_cast<double>(placed[1]), 0.75 * static_cast<double>(whole[1]));
  for (const auto of_worker : compute(four, true, true).bytes)
    EXPECT_LT(static_cast<double>(of_worker), 0.75 * static_cast<double>(whole[1]));
}

// Each worker along "model" has some of the heads, and along "data" some of the sequences.
Computed attend(const Mesh& mesh) {
  const LocalFleet fleet(mesh);
  const Device device = fleet.device().autodiff();
  device.seed(5);
  auto net = nn::MultiHeadAttentionConfig{.d_model = 64, .n_heads = 4}.init(device);
  for (auto* weight : {&net.query.weight, &net.key.weight, &net.value.weight})
    *weight = device.place(*weight, {1, "model"});
  net.output.weight = device.place(net.output.weight, {0, "model"});
  const auto x = [&] {
    const BatchScope batch;
    return numbers(device, 30, 1).reshape<3>({6, 5, 64}).batched(0);
  }();
  const auto y = net.forward(nn::MhaInput::self_attn(x)).context;
  auto gradients = GradientsParams::from_grads((y * y).mean().backward(), net);
  Computed computed;
  computed.all.push_back(y.to_data());
  net.for_each_slot(
      [&](const std::string&, Slot& slot) { computed.all.push_back(client::to_data(*gradients.get(slot.id))); });
  return computed;
}

TEST(PlacedParameters, OfAnAttentionBlockOnAMeshGiveItsOutputsAndGradients) {
  const auto alone = attend(Mesh{});
  for (const auto& mesh : {Mesh{.data = 2, .model = 2}, Mesh{.data = 3, .model = 2}, Mesh{.data = 2}}) {
    SCOPED_TRACE(std::to_string(mesh.data) + " by " + std::to_string(mesh.model));
    expect_close(attend(mesh), alone);
  }
}

TEST(PlacedParameters, NeedADimAndAnAxisThatAreThere) {
  const auto device = Device::new_session("cpu");
  const auto net = Mlp::init(device.autodiff());
  EXPECT_THAT(test::error_of([&] {
                device.place(net.up.weight, {2, "model"});
              }),
              HasSubstr("place: dim 2 is outside a tensor of rank 2"));
  EXPECT_THAT(test::error_of([&] {
                device.place(net.up.weight, {0, "pipe"});
              }),
              HasSubstr("place: a mesh has the axes \"data\" and \"model\", not \"pipe\""));
  EXPECT_THAT(test::error_of([&] {
                Device::new_session("cpu").place(net.up.weight, {0, "model"});
              }),
              HasSubstr("place: the tensor is on cpu, not on this session of it"));
  const auto placed = device.place(net.up.weight, {-1, "data"});
  EXPECT_EQ(placed.id(), net.up.weight.id());
  EXPECT_TRUE(placed.slot().is_trainable());
}

}  // namespace
}  // namespace burn::router
