// A recurrent language model over bytes, evaluated by its perplexity.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "burn/burn.h"

namespace recipes::language_model {

using namespace burn;

constexpr std::int64_t kBytes = 256;

struct Batch {
  Tensor<2, Int> tokens, next;  // [batch, time]: each token, and the next one
};

struct Batcher {
  Device device;

  Batch batch(const std::vector<std::string>& pieces) const {  // all of the same length
    const auto count = static_cast<std::int64_t>(pieces.size()), time = static_cast<std::int64_t>(pieces[0].size());
    std::vector<std::uint8_t> bytes;
    for (const auto& piece : pieces) bytes.insert(bytes.end(), piece.begin(), piece.end());
    const auto all = Tensor<2, Int>::from_data(TensorData(std::move(bytes), {count, time}), device).to_int();
    return {all.narrow(1, 0, time - 1), all.narrow(1, 1, time - 1)};
  }
};

struct Net {
  nn::Embedding embedding;
  nn::Lstm lstm;
  nn::Linear head;
  BURN_MODULE(Net, embedding, lstm, head)

  static Net init(const Device& device, std::int64_t width = 64) {
    return {.embedding = nn::EmbeddingConfig{.n_embedding = kBytes, .d_model = width}.init(device),
            .lstm = nn::LstmConfig{.d_input = width, .d_hidden = width}.init(device),
            .head = nn::LinearConfig{.d_input = width, .d_output = kBytes}.init(device)};
  }
  train::SequenceOutput step(const Batch& batch) const {
    const auto logits = head(lstm(embedding(batch.tokens)).first);  // [batch, time, 256]
    const auto loss = nn::CrossEntropyLoss{}(logits.flatten<2>(0, 1), batch.next.flatten<1>(0, 1));
    return {loss, logits, batch.next};
  }
};

// Cuts the text into pieces of `length` bytes plus the next byte, which is predicted.
inline std::vector<std::string> pieces(const std::string& text, std::size_t length) {
  std::vector<std::string> cut;
  for (std::size_t at = 0; at + length < text.size(); at += length) cut.push_back(text.substr(at, length + 1));
  return cut;
}

// Trains the model; returns the perplexity of the last tenth of the text after each epoch.
inline std::vector<double> train(const std::filesystem::path& folder, const Device& device, const std::string& text,
                                 std::int64_t epochs) {
  device.seed(1);
  constexpr std::size_t kTime = 32;
  const auto border = text.size() * 9 / 10;
  auto builder = data::DataLoaderBuilder(Batcher{device}).batch_size(16);
  const auto valid = builder.build(data::InMemDataset<std::string>(pieces(text.substr(border), kTime)));
  const auto loader = builder.shuffle(1).build(data::InMemDataset<std::string>(pieces(text.substr(0, border), kTime)));
  const auto steps = epochs * static_cast<std::int64_t>(loader.size());
  const auto result = train::SupervisedTraining(folder, loader, valid)
                          .metrics(metric::Perplexity{}, metric::Loss{})
                          .clip_norm(1)
                          .ema({.decay = 0.99, .warmup = 10})
                          .epochs(epochs)
                          .seed(1)
                          .launch(train::Learner(Net::init(device.autodiff()), optim::AdamWConfig{},
                                                 lr::warmup(steps / 10, lr::Cosine{.initial = 1e-2, .steps = steps})));
  std::vector<double> perplexities;
  for (const auto& epoch : result.report.history) perplexities.push_back(epoch.valid.at(0));
  return perplexities;
}

}  // namespace recipes::language_model
