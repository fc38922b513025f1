// A program with `using namespace burn::prelude;` that has its own functions and namespaces with names that are common
// in programs. The check is that it compiles.
#include <gtest/gtest.h>

#include "burn/burn.h"

using namespace burn::prelude;

namespace {

struct Net {
  nn::Linear layer;
  nn::Dropout dropout;
  BURN_MODULE(Net, layer, dropout)

  Tensor<2> forward(const Tensor<2>& x) const { return layer(dropout(x)); }
};

struct NetConfig {
  std::int64_t width = 3;
  double rate = 0.5;
  BURN_CONFIG(NetConfig, width, rate)

  Net init(const Device& device) const {
    return {.layer = nn::LinearConfig{.d_input = width, .d_output = 1}.init(device),
            .dropout = nn::DropoutConfig{.prob = rate}.init()};
  }
};

// --- names that are the program's own
// ----------------------------------------------------------------------------------

Tensor<1> step(Net& net, optim::Optimizer<Net>& optim, const Tensor<2>& x) {
  const auto loss = net.forward(x).square().mean();
  net = optim.step(0.1, std::move(net), GradientsParams::from_grads(loss.backward(), net));
  return loss;
}
double train(Net& net, const Device& device) {
  auto optim = optim::SgdConfig{}.init<Net>();
  double last = 0;
  for (int i = 0; i < 3; ++i) last = step(net, optim, Tensor<2>::ones({2, 3}, device)).item();
  return last;
}
double test(const Net& net, const Device& device) { return net.forward(Tensor<2>::ones({1, 3}, device)).mean().item(); }
Record save(const Net& net) { return net.into_record(); }
Net load(const Net& net, const Record& record) { return net.load_record(record); }
Tensor<1> sum(const Tensor<1>& a, const Tensor<1>& b) { return a + b; }
Tensor<1> max(const Tensor<1>& a, const Tensor<1>& b) { return a.max_pair(b); }
Tensor<1> min(const Tensor<1>& a, const Tensor<1>& b) { return a.min_pair(b); }
Tensor<1> where(const Tensor<1, Bool>& mask, const Tensor<1>& a, const Tensor<1>& b) { return b.mask_where(mask, a); }
Tensor<1> slice(const Tensor<1>& x) { return x.slice({s(0, 2)}); }
Tensor<1> apply(const Tensor<1>& x) { return x * 2; }
Tensor<1> pointwise(const Tensor<1>& x) { return x.exp(); }
double loss(const Tensor<1>& x) { return x.item(); }
double evaluate(const Tensor<1>& x) { return loss(x.mean()); }
bool check(const Tensor<1>& x) { return x.all_close(x); }
int run(const Device& device) { return device.is_autodiff() ? 1 : 0; }
int main_loop(const Device& device) { return run(device); }
int fit(const Device& device) { return run(device); }
int infer(const Device& device) { return run(device); }
int print(const Device& device) { return run(device); }
int capture(const Device& device) { return run(device); }
int fork(const Device& device, int) { return run(device); }
namespace client {
int connect(const Device& device) { return run(device); }
}  // namespace client
namespace server {
int serve(const Device& device) { return run(device); }
}  // namespace server
namespace store {
int put(const Device& device) { return run(device); }
}  // namespace store
namespace ir {
int compile(const Device& device) { return run(device); }
}  // namespace ir

TEST(Prelude, LeavesAProgramItsNames) {
  const Device device = Device{"cpu"}.autodiff();
  device.seed(1);
  Net net = NetConfig{.rate = 0}.init(device);
  auto optim = optim::SgdConfig{}.init<Net>();
  const double first = step(net, optim, Tensor<2>::ones({2, 3}, device)).item();
  EXPECT_LE(train(net, device), first);
  EXPECT_EQ(test(load(net, save(net)), device), test(net, device));
  const auto a = Tensor<1>::from_data({1, 4}, device), b = Tensor<1>::from_data({3, 2}, device);
  EXPECT_EQ(evaluate(sum(a, b)), 5);
  EXPECT_EQ(evaluate(max(a, b)), 3.5);
  EXPECT_EQ(evaluate(min(a, b)), 1.5);
  EXPECT_EQ(evaluate(where(a > b, a, b)), 3.5);
  EXPECT_EQ(evaluate(slice(apply(a))), 5);
  EXPECT_TRUE(check(pointwise(a)));
  for (const int is_autodiff :
       {run(device), main_loop(device), fit(device), infer(device), print(device), capture(device),
        client::connect(device), server::serve(device), store::put(device), ir::compile(device), fork(device, 0)})
    EXPECT_EQ(is_autodiff, 1);
}

TEST(Prelude, HasLayersOptimizersDataSchedulesAndMetrics) {
  EXPECT_EQ(data::DigitsDataset(10, 1).len(), 10u);
  EXPECT_EQ((lr::Cosine{.initial = 1, .steps = 10}).at(0), 1);
  (void)metric::Loss{};
  const Tensor<1, Int> whole = Tensor<1, Int>::from_data({1, 2}, {"cpu", DType::i32});
  EXPECT_EQ(whole.sum().item(), 3);
  const RandomState state = Device{"cpu"}.random_state();
  EXPECT_EQ(Device{"cpu"}.random_state(), state);
}

}  // namespace
