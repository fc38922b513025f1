// A user's program, as far as it can be one file: tensors and gradients, a module with its record, a loop by hand, and
// the learner.
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include <burn/burn.h>

using namespace burn::prelude;

namespace {

void expect(bool condition, const char* what) {
  if (condition) return;
  std::cerr << "not so: " << what << '\n';
  std::exit(1);
}

namespace train = burn::train;

struct Batch {
  Tensor<2> images;
  Tensor<1, Int> targets;
};

struct Net {
  nn::Linear hidden, output;
  nn::Relu activation;
  BURN_MODULE(Net, hidden, output, activation)

  Tensor<2> forward(const Tensor<2>& x) const { return output(activation(hidden(x))); }
  train::ClassificationOutput step(const Batch& batch) const {
    const auto logits = forward(batch.images);
    return {nn::CrossEntropyLoss{}(logits, batch.targets), logits, batch.targets};
  }
};

struct NetConfig {
  std::int64_t inputs = 784, hidden = 32;
  BURN_CONFIG(NetConfig, inputs, hidden)

  Net init(const Device& device) const {
    return {.hidden = nn::LinearConfig{.d_input = inputs, .d_output = hidden}.init(device),
            .output = nn::LinearConfig{.d_input = hidden, .d_output = 10}.init(device),
            .activation = {}};
  }
};

void tensors(const Device& device) {
  auto a = Tensor<2>::from_data({{2.f, 3.f}, {4.f, 5.f}}, device);
  auto b = Tensor<2>::ones_like(a);
  std::cout << a + b << '\n';
  Device ad = device.autodiff();
  ad.seed(42);
  auto x = Tensor<2>::random({32, 32}, Distribution::normal(0, 1), ad);
  auto w = Tensor<2>::random({32, 32}, Distribution::uniform(-1, 1), ad).require_grad();
  auto loss = x.matmul(w).exp().mean();
  Gradients grads = loss.backward();
  Tensor<2> dw = *w.grad(grads);
  std::vector<float> host = dw.to_data().to_vec<float>();
  expect(host.size() == 1024, "a gradient has its parameter's size");
  auto index = Tensor<1, Int>::arange(0, 8, device);
  auto rows = a.select(0, index.slice({s(0, 2)}));
  auto mask = a.greater(3.f);
  auto clipped = a.mask_fill(mask, 0.f).reshape<1>({-1});
  expect(clipped.sum().into_scalar<float>() == 5.f, "2 + 3 are left");
  expect(rows.dims()[0] == 2, "two rows");
}

void training(const Device& device) {
  Device ad = device.autodiff();
  ad.seed(1);
  Net net = NetConfig{}.init(ad);
  std::cout << net;
  auto optim = optim::AdamConfig{}.init<Net>();
  data::DigitsDataset digits(640, 1);
  float first = 0, last = 0;
  for (int step = 0; step < 40; ++step) {
    std::vector<std::uint8_t> pixels;
    std::vector<std::int64_t> labels;
    for (std::size_t i = 0; i < 64; ++i) {
      const auto item = digits.get((64 * static_cast<std::size_t>(step) + i) % digits.len());
      pixels.insert(pixels.end(), item.image.begin(), item.image.end());
      labels.push_back(item.label);
    }
    auto images = Tensor<2, Int>::from_data(TensorData(pixels, {64, 784}), ad).to_float() / 255;
    auto targets = Tensor<1, Int>::from_data(TensorData(labels, {64}), ad);
    auto loss = nn::CrossEntropyLoss{}(net.forward(images), targets);
    net = optim.step(1e-3, std::move(net), optim::GradientsParams::from_grads(loss.backward(), net));
    last = loss.into_scalar<float>();
    if (step == 0) first = last;
  }
  expect(last < 0.8f * first, "the loss falls");

  const auto path = std::filesystem::temp_directory_path() / "burn-consumer.safetensors";
  net.into_record().save(path.string());
  Net again = NetConfig{}.init(device).load_record(Record::load(path.string()));
  std::filesystem::remove(path);
  auto x = Tensor<2>::ones({1, 784}, device);
  expect((again.forward(x) - net.valid().forward(x)).abs().max().into_scalar<float>() == 0.f,
         "a record keeps the module");
}

void learner(const Device& device) {
  device.seed(1);
  const auto batcher = [device](const std::vector<data::MnistItem>& items) {
    std::vector<std::uint8_t> pixels;
    std::vector<std::int64_t> labels;
    for (const auto& item : items) {
      pixels.insert(pixels.end(), item.image.begin(), item.image.end());
      labels.push_back(item.label);
    }
    const auto count = static_cast<std::int64_t>(items.size());
    return Batch{Tensor<2, Int>::from_data(TensorData(pixels, {count, 784}), device).to_float() / 255,
                 Tensor<1, Int>::from_data(TensorData(labels, {count}), device)};
  };
  auto builder = data::DataLoaderBuilder(batcher).batch_size(64);
  const auto folder = std::filesystem::temp_directory_path() / "burn-consumer-run";
  const auto result = train::SupervisedTraining(folder, builder.build(data::DigitsDataset(640, 1)),
                                                builder.build(data::DigitsDataset(128, 2)))
                          .metrics(metric::Loss{}, metric::Accuracy{})
                          .epochs(2)
                          .launch(train::Learner(NetConfig{}.init(device.autodiff()), optim::AdamConfig{}, 1e-3));
  expect(result.best().epoch == 2, "the second epoch is the better one");
  std::filesystem::remove_all(folder);
}

}  // namespace

int main() {
  const Device device{"cpu"};
  tensors(device);
  training(device);
  learner(device);
}
