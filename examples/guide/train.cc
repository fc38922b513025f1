#include <iostream>

#include <fmt/format.h>

#include "examples/guide/dataset.h"
#include "examples/guide/model.h"

namespace guide {
namespace {

// In percent, over the whole of a data set.
double accuracy(const Net& net, const data::DataLoader<MnistBatch>& loader) {
  const Net inference = net.valid();
  std::vector<Tensor<1>> right;
  for (auto it = loader.start(0); it != loader.end(); ++it) {
    const auto answers = inference.forward(it->images).argmax(1).squeeze_dim<1>(1);  // [batch]
    right.push_back(answers.equal(it->targets).to_float().sum());
  }
  const auto count = static_cast<double>(loader.num_items());
  return 100 * Tensor<1>::cat(right, 0).sum().into_scalar<double>() / count;
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
  auto training = train::SupervisedTraining(options.artifacts, train_loader, test_loader)
                      .metrics(metric::Loss{}, metric::Accuracy{})
                      .checkpoints(train::KeepLast{2})
                      .interrupter(train::Interrupter::on_ctrl_c())
                      .epochs(options.epochs)
                      .seed(options.seed)
                      .summary();
  if (options.resume) training.resume(train::latest);
  const auto result = training.launch(train::Learner(config.init(device.autodiff()), optim::AdamConfig{}, options.lr));
  if (result.interrupted()) return Ended::interrupted;

  config.save(options.artifacts / "net.json");
  const auto record = result.model.into_record();  // on its way while the model is tested
  const double right = accuracy(result.model, test_loader);
  record.save(options.artifacts / "model.safetensors");
  std::cout << fmt::format("test accuracy: {:.1f} %\n", right);
  return Ended::completed;
}

}  // namespace guide
