// Trains the guide's network without the learner: each part of a training step is one line.
#pragma once

#include <iostream>
#include <string>

#include "burn/burn.h"
#include "client/tensor/pending_reads.h"
#include "examples/guide/model.h"

namespace custom_loop {

using namespace burn;
using guide::MnistBatcher, guide::Net, guide::NetConfig;

struct Options {
  std::string device = "cpu";
  std::int64_t epochs = 3;
  std::size_t train_images = 8000, test_images = 2000, batch_size = 64, workers = 2;
};

// The fraction of a loader's images that the model classifies correctly.
inline double accuracy(const Net& net, const data::DataLoader<guide::MnistBatch>& loader) {
  const Net inference = net.valid();  // no tape, no dropout
  std::vector<Tensor<1>> right;
  for (auto it = loader.start(0); it != loader.end(); ++it) {
    const auto answers = inference.forward(it->images).argmax(1).squeeze_dim<1>(1);
    right.push_back(answers.equal(it->targets).to_float().sum());
  }
  return Tensor<1>::cat(right, 0).sum().into_scalar<double>() / static_cast<double>(loader.num_items());
}

// Trains the network and returns its accuracy on the test images after the last epoch.
inline double train(const Options& options) {
  const Device device{options.device};
  device.seed(1);
  auto builder =
      data::DataLoaderBuilder(MnistBatcher{device}).batch_size(options.batch_size).num_workers(options.workers);
  const auto test_loader = builder.build(data::DigitsDataset(options.test_images, 2));
  auto loader = builder.shuffle(1).build(data::DigitsDataset(options.train_images, 1));

  Net net = NetConfig{}.init(device.autodiff());
  auto optimizer = optim::AdamConfig{}.init<Net>();
  auto average = optim::Ema{.decay = 0.99}.init(net);
  lr::Cosine schedule{.initial = 2e-3, .steps = options.epochs * static_cast<std::int64_t>(loader.size())};

  PendingReads reads;  // losses that are read asynchronously: the loop does not wait for the device
  std::int64_t step = 0;
  for (std::int64_t epoch = 1; epoch <= options.epochs; ++epoch) {
    for (const auto& batch : loader) {
      const auto loss = nn::CrossEntropyLoss{}(net.forward(batch.images), batch.targets);
      auto gradients = GradientsParams::from_grads(loss.backward(), net);
      (void)gradients.clip_norm(1);
      net = optimizer.step(schedule.step(), std::move(net), std::move(gradients), average);
      if (step++ % 50 == 0) {
        reads.add(loss, [epoch, step](const TensorData& numbers) {
          std::cout << "epoch " << epoch << " step " << step << " loss " << numbers.to_vec<float>()[0] << '\n';
        });
      }
      reads.poll();
    }
    reads.finish();
    std::cout << "epoch " << epoch << " right " << 100 * accuracy(average.model(), test_loader) << " %\n";
  }
  return accuracy(average.model(), test_loader);
}

}  // namespace custom_loop
