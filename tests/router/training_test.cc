// Trainings through a router beside the same training on one worker: the losses of each step, on any number of workers.
#include <future>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "burn/burn.h"
#include "tests/router/routed.h"
#include "tests/system/digits_training.h"

namespace burn::router {
namespace {

// Dropout draws random numbers, and a batch norm has statistics over the whole batch.
struct Net {
  nn::Conv2d conv;
  nn::BatchNorm norm;
  nn::Dropout dropout;
  nn::MaxPool2d pool;
  nn::Linear linear;
  BURN_MODULE(Net, conv, norm, dropout, pool, linear)

  static Net init(const Device& device) {
    return {.conv = nn::Conv2dConfig{.channels = {1, 4}, .kernel_size = {3, 3}}.init(device),
            .norm = nn::BatchNormConfig{.num_features = 4}.init(device),
            .dropout = nn::DropoutConfig{.prob = 0.25}.init(),
            .pool = nn::MaxPool2dConfig{.kernel_size = {3, 3}, .strides = std::array<std::int64_t, 2>{3, 3}}.init(),
            .linear = nn::LinearConfig{.d_input = 256, .d_output = 10}.init(device)};
  }
  Tensor<2> forward(const Tensor<3>& images) const {  // [batch, 28, 28] -> [batch, 10]
    const auto [batch, height, width] = images.dims();
    const auto x = norm(conv(images.reshape<4>({batch, 1, height, width}))).relu();
    return linear(pool(dropout(x)).flatten<2>(1, 3));
  }
};

struct Options {
  int steps = 12;
  std::int64_t batch = 50, last = 50;  // images in a step, in every fourth one
  int accumulate = 1;
  bool is_captured = false;
};

struct Batch {
  Tensor<3, Int> images;
  Tensor<1, Int> targets;
};

Batch batch_of(const Device& device, const data::DigitsDataset& digits, std::size_t first, std::int64_t size) {
  std::vector<std::uint8_t> pixels;
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < size; ++i) {
    const auto item = digits.get((first + static_cast<std::size_t>(i)) % digits.len());
    pixels.insert(pixels.end(), item.image.begin(), item.image.end());
    labels.push_back(item.label);
  }
  const BatchScope marked;
  return {Tensor<3, Int>::from_data(TensorData(std::move(pixels), {size, 28, 28}), device),
          Tensor<1, Int>::from_data(TensorData(std::move(labels), {size}), device)};
}

template <typename Config>
std::vector<float> losses(const Device& device, const Config& config, const Options& options) {
  const Device ad = device.autodiff();
  ad.seed(7);
  auto net = Net::init(ad);
  auto optim = config.template init<Net>();
  const auto body = [](Net& net, optim::Optimizer<Net>& optim, Scalar lr, const Tensor<3, Int>& images,
                       const Tensor<1, Int>& targets) {
    const auto loss = nn::CrossEntropyLoss{}(net.forward(images.to_float() / 255), targets);
    net = optim.step(lr, std::move(net), optim::GradientsParams::from_grads(loss.backward(), net));
    return loss;
  };
  auto captured = capture(ad, body);
  const data::DigitsDataset digits(512, 1);
  optim::GradientsAccumulator gradients;
  std::vector<std::future<TensorData>> reads;
  for (int step = 0; step < options.steps; ++step) {
    const auto size = step % 4 == 3 ? options.last : options.batch;
    const auto [images, targets] = batch_of(ad, digits, static_cast<std::size_t>(step * options.batch), size);
    if (options.accumulate > 1) {
      const auto loss = nn::CrossEntropyLoss{}(net.forward(images.to_float() / 255), targets);
      gradients.accumulate(optim::GradientsParams::from_grads(loss.backward(), net));
      if (step % options.accumulate == options.accumulate - 1)
        net = optim.step(1e-3, std::move(net), gradients.grads());
      reads.push_back(loss.to_data_async());
    } else {
      const auto loss =
          options.is_captured ? captured(net, optim, 1e-3, images, targets) : body(net, optim, 1e-3, images, targets);
      reads.push_back(loss.to_data_async());
    }
  }
  std::vector<float> numbers;
  for (auto& read : reads) numbers.push_back(read.get().to_vec<float>().at(0));
  ad.sync();
  return numbers;
}

// So many workers, which listen and are reached by one kind of transport, behind a router.
class Fleet {
 public:
  explicit Fleet(int workers, std::size_t transport = 0) {
    std::vector<std::string> urls;
    for (int i = 0; i < workers; ++i) {
      workers_.push_back(std::make_unique<server::Server>(test::on_every_transport()));
      urls.push_back(workers_.back()->urls().at(transport));
    }
    auto options = router_options(urls);
    const auto paths = test::on_every_transport();
    options.service.grpc = "127.0.0.1:0";
    options.service.unix_path = paths.unix_path;
    options.service.grpc_unix_path = paths.grpc_unix_path;
    router_ = std::make_unique<Router>(options);
    url_ = router_->urls().at(transport);
  }
  const std::string& url() const { return url_; }
  std::uint64_t runs(int worker) const { return workers_[static_cast<std::size_t>(worker)]->session_counts().runs; }

 private:
  std::vector<std::unique_ptr<server::Server>> workers_;
  std::unique_ptr<Router> router_;
  std::string url_;
};

void expect_close(const std::vector<float>& routed, const std::vector<float>& alone) {
  ASSERT_EQ(routed.size(), alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(routed[i], alone[i], 1e-4 * alone[i]) << "step " << i;
}

template <typename Config>
void expect_the_losses_of_one_worker(const Config& config, const Options& options) {
  const auto alone = losses(Device::new_session("cpu"), config, options);
  for (const int workers : {1, 2, 4}) {
    SCOPED_TRACE(std::to_string(workers) + " workers");
    const Fleet fleet(workers);
    expect_close(losses(Device::new_session(fleet.url()), config, options), alone);
  }
}

TEST(RoutedTraining, WithAdamHasTheLossesOfOneWorker) { expect_the_losses_of_one_worker(optim::AdamConfig{}, {}); }

TEST(RoutedTraining, WithSgdHasTheLossesOfOneWorker) {
  expect_the_losses_of_one_worker(optim::SgdConfig{.momentum = optim::MomentumConfig{}}, {});
}

TEST(RoutedTraining, WithAShortLastBatchHasTheLossesOfOneWorker) {
  expect_the_losses_of_one_worker(optim::AdamConfig{}, {.last = 3});
}

TEST(RoutedTraining, OfAccumulatedGradientsHasTheLossesOfOneWorker) {
  expect_the_losses_of_one_worker(optim::AdamConfig{}, {.accumulate = 3});
}

TEST(RoutedTraining, OfCapturedStepsHasTheLossesOfOneWorker) {
  expect_the_losses_of_one_worker(optim::AdamConfig{}, {.is_captured = true});
}

TEST(RoutedTraining, OverEveryTransportHasTheLossesOfOneWorker) {
  const auto alone = losses(Device::new_session("cpu"), optim::AdamConfig{}, {.steps = 4});
  for (std::size_t transport = 0; transport < 4; ++transport) {
    const Fleet fleet(2, transport);
    SCOPED_TRACE(fleet.url());
    expect_close(losses(Device::new_session(fleet.url()), optim::AdamConfig{}, {.steps = 4}), alone);
  }
}

TEST(RoutedTraining, TellsEachWorkerOfAStepOnce) {
  const Fleet fleet(2);
  const auto device = Device::new_session(fleet.url());
  losses(device, optim::AdamConfig{}, {.steps = 4});
  const auto before = std::array{fleet.runs(0), fleet.runs(1)};
  losses(device, optim::AdamConfig{}, {.steps = 8});
  const auto first = fleet.runs(0) - before[0], second = fleet.runs(1) - before[1];
  EXPECT_EQ(first, second);
  EXPECT_LE(first, 8u + 3u) << "a run for each step, and some for what is made at the beginning";
}

}  // namespace
}  // namespace burn::router
