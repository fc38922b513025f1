// A training with sparse gradients gives the same numbers in process and over every transport, recorded and captured.
#include <gtest/gtest.h>

#include "tests/system/digits_training.h"

namespace burn {
namespace {

struct Words {
  nn::Embedding table;
  nn::Linear linear;
  BURN_MODULE(Words, table, linear)

  Tensor<1> loss(const Tensor<2, Int>& words) const { return linear(table(words).flatten<2>(1, 2)).tanh().sum(); }
};

std::vector<double> train(const Device& device, const optim::ModuleOptimizer& engine, bool is_captured) {
  const Device ad = device.autodiff();
  ad.seed(7);
  Words net{.table = nn::EmbeddingConfig{.n_embedding = 1000, .d_model = 4, .sparse = true}.init(ad),
            .linear = nn::LinearConfig{.d_input = 12, .d_output = 2}.init(ad)};
  optim::Optimizer<Words> optim{engine};
  const auto body = [](Words& net, optim::Optimizer<Words>& optim, const Tensor<2, Int>& words) {
    const auto loss = net.loss(words);
    net = optim.step(1e-2, std::move(net), GradientsParams::from_grads(loss.backward(), net));
    return loss;
  };
  auto step = capture(ad, body);
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < 20; ++i) {
    const auto words = Tensor<2, Int>::from_data({{i, 999, 2 * i}, {7, 7, 500 - i}}, ad);
    const auto loss = is_captured ? step(net, optim, words) : body(net, optim, words);
    numbers.push_back(loss.item());
  }
  for (const double number : net.table.weight.val().to_data().to_vec_as<double>()) numbers.push_back(number);
  return numbers;
}

TEST(SparseTraining, IsBitEqualOnEveryTransport) {
  const server::Server worker(test::on_every_transport());
  for (const optim::ModuleOptimizer& engine :
       {optim::ModuleOptimizer{optim::SgdConfig{}}, optim::ModuleOptimizer{optim::AdamConfig{}},
        optim::ModuleOptimizer{optim::AdaGradConfig{}}}) {
    const auto plain = train(Device::new_session("cpu"), engine, false);
    EXPECT_EQ(train(Device::new_session("cpu"), engine, true), plain);
    for (const auto& url : worker.urls()) {
      SCOPED_TRACE(url);
      EXPECT_EQ(train(Device::new_session(url), engine, false), plain);
      EXPECT_EQ(train(Device::new_session(url), engine, true), plain);
    }
  }
}

}  // namespace
}  // namespace burn
