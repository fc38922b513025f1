#include <future>
#include <iostream>

#include <fmt/format.h>

#include "examples/guide/dataset.h"
#include "examples/guide/model.h"

namespace guide {
namespace {

// The number of items that the model classifies correctly; it is not read back here.
Tensor<1> count_right(const Net& net, const data::DataLoader<MnistBatch>& loader) {
  const Net inference = net.valid();
  std::vector<Tensor<1>> right;
  for (auto it = loader.start(0); it != loader.end(); ++it) {
    const auto answers = inference.forward(it->images).argmax(1).squeeze_dim<1>(1);  // [batch]
    right.push_back(answers.equal(it->targets).to_float().sum());
  }
  return Tensor<1>::cat(right, 0).sum();
}

// True if the folder has a checkpoint of a training that was not replaced since.
bool has_checkpoint(const std::filesystem::path& artifacts) {
  std::error_code not_there;
  for (const auto& each : std::filesystem::directory_iterator(artifacts / "checkpoint", not_there)) {
    const auto name = each.path().filename().string();
    if (name == "interrupted" || name.starts_with("epoch-")) return true;
  }
  return false;
}

}  // namespace

Ended train(const Options& options) {
  const Device device{options.device};
  device.seed(options.seed);
  const auto images = training_images(options);
  const auto unseen = test_images(options);

  const auto loaders =
      data::DataLoaderBuilder(MnistBatcher{device}).batch_size(options.batch_size).num_workers(options.workers);
  auto train_loaders = loaders;
  const auto train_loader = train_loaders.shuffle(options.seed).build(images);
  const auto test_loader = loaders.build(unseen);

  const NetConfig config;
  auto training = burn::train::SupervisedTraining(options.artifacts, train_loader, test_loader)
                      .metrics(metric::Loss{}, metric::Accuracy{})
                      .checkpoints(burn::train::KeepLast{2})
                      .interrupter(burn::train::Interrupter::on_ctrl_c())
                      .epochs(options.epochs)
                      .seed(options.seed)
                      .summary();
  if (!options.dashboard.empty()) training.dashboard(options.dashboard);
  if (options.resume || (options.resume_if_any && has_checkpoint(options.artifacts)))
    training.resume(burn::train::latest);
  Record record;
  std::future<double> right;
  const auto test = [&](const Net& net) {  // while the last epoch's numbers are still being read
    record = net.into_record();
    right = count_right(net, test_loader).into_scalar_async<double>();
  };
  auto net = config.init(device.autodiff());
  const auto result = training.launch(burn::train::Learner(std::move(net), optim::AdamConfig{}, options.lr), test);
  if (result.drained()) return Ended::drained;
  if (result.interrupted()) return Ended::interrupted;

  config.save(options.artifacts / "net.json");
  record.save(options.artifacts / "model.safetensors");
  const double share = right.get() / static_cast<double>(test_loader.num_items());
  std::cout << fmt::format("test accuracy: {:.1f} %\n", 100 * share);
  return Ended::completed;
}

}  // namespace guide
