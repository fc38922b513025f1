#include "examples/gpt2/train.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <ostream>
#include <random>

#include <fmt/format.h>

#include "examples/gpt2/generate.h"

namespace gpt2 {
namespace {

// [batch, context + 1] bytes: the inputs and, shifted by one, the targets.
Tensor<2, Int> batch_of(const std::string& text, const Options& options, std::mt19937_64& rng, const Device& device) {
  const auto length = static_cast<std::size_t>(options.context) + 1;
  std::vector<std::uint8_t> bytes;
  bytes.reserve(static_cast<std::size_t>(options.batch) * length);
  std::uniform_int_distribution<std::ptrdiff_t> place{0, static_cast<std::ptrdiff_t>(text.size() - length)};
  for (std::int64_t i = 0; i < options.batch; ++i) {
    const auto begin = text.begin() + place(rng);
    bytes.insert(bytes.end(), begin, begin + static_cast<std::ptrdiff_t>(length));
  }
  return Tensor<2, Int>::from_data(TensorData(std::move(bytes), {options.batch, options.context + 1}), device);
}

DType product_dtype(const Options& options) {
  const auto dtype = burn::ir::parse_dtype(options.dtype);
  if (dtype != DType::f32 && dtype != DType::bf16) {
    throw burn::Error(burn::StatusCode::invalid_argument, "gpt2: the dtype is f32 or bf16, not " + options.dtype);
  }
  return *dtype;
}

// Reports the progress of the training from time to time, when the losses have been read.
class Progress {
 public:
  Progress(const Options& options, std::vector<float>& losses, std::ostream& out)
      : options_(options), losses_(losses), out_(out) {}

  void add(std::int64_t step, const Tensor<1>& loss) {
    reads_.add(loss, [this, step](const TensorData& x) { arrived(step, x.as_slice<float>()[0]); });
    reads_.poll();
  }
  void finish() { reads_.finish(); }

 private:
  using Clock = std::chrono::steady_clock;

  void arrived(std::int64_t step, float loss) {
    losses_.push_back(loss);
    const auto every = std::max<std::int64_t>(options_.steps / 20, 1);
    if (step % every != 0 && step + 1 != options_.steps) return;
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - since_).count();
    const auto tokens = static_cast<double>((step - said_) * options_.batch * options_.context);
    out_ << fmt::format("step {:5}  loss {:.4f}", step, loss);
    if (step > said_) out_ << fmt::format("  {:.0f} tokens/s", tokens / seconds);
    out_ << std::endl;
    since_ = now;
    said_ = step;
  }

  const Options& options_;
  std::vector<float>& losses_;
  std::ostream& out_;
  burn::PendingReads reads_;
  Clock::time_point since_ = Clock::now();
  std::int64_t said_ = 0;
};

}  // namespace

std::string read_text(const std::filesystem::path& path) {
  const auto file = std::filesystem::is_directory(path) ? path / "input.txt" : path;
  std::ifstream in(file, std::ios::binary);
  if (!in) throw burn::Error(burn::StatusCode::not_found, "gpt2: cannot read " + file.string());
  return {std::istreambuf_iterator<char>{in}, {}};
}

double learning_rate(const Options& options, std::int64_t step) {
  if (step < options.warmup) return options.lr * static_cast<double>(step + 1) / static_cast<double>(options.warmup);
  const auto falling = std::max<std::int64_t>(options.steps - options.warmup, 1);
  return lr::Cosine{.initial = options.lr, .min_lr = options.lr / 10, .steps = falling}.at(step - options.warmup);
}

Trained train(const Options& options, const std::string& text, std::ostream& out) {
  if (options.vocabulary < 256)
    throw burn::Error(burn::StatusCode::invalid_argument, "gpt2: bytes need a vocabulary of 256");
  if (text.size() <= static_cast<std::size_t>(options.context)) {
    throw burn::Error(
        burn::StatusCode::invalid_argument,
        fmt::format("gpt2: a text of {} bytes is too short for a context of {}", text.size(), options.context));
  }
  const DType dtype = product_dtype(options);
  const Device device = Device{options.device}.autodiff();
  device.seed(options.seed);
  std::mt19937_64 rng{options.seed};
  const Gpt2Config config{options.vocabulary, options.context, options.model, options.heads, options.layers};
  Trained result{.net = config.init(device), .losses = {}};
  if (!options.start.empty()) result.net = result.net.load_record(Record::load(options.start));
  out << fmt::format("{} parameters, products in {}\n", result.net.num_params(), options.dtype);

  auto optim = optim::AdamWConfig{.beta_2 = 0.95, .epsilon = 1e-8, .weight_decay = 0.1}.init<Gpt2>();
  auto step = burn::capture(device, [dtype, context = options.context](Gpt2& net, optim::Optimizer<Gpt2>& optim,
                                                                       Scalar lr, const Tensor<2, Int>& bytes) {
    const burn::Autocast scope{dtype};
    const auto tokens = bytes.to_int();
    auto loss = net.loss(tokens.narrow(1, 0, context), tokens.narrow(1, 1, context));
    auto gradients = optim::GradientsParams::from_grads(loss.backward(), net);
    (void)gradients.clip_norm(1);  // the norm is not reported
    net = optim.step(lr, std::move(net), std::move(gradients));
    return loss;
  });
  Progress progress{options, result.losses, out};
  for (std::int64_t i = 0; i < options.steps; ++i) {
    const auto loss = step(result.net, optim, learning_rate(options, i), batch_of(text, options, rng, device));
    progress.add(i, loss);
  }
  progress.finish();
  if (!options.save.empty()) result.net.into_record().save(options.save);
  if (!options.losses.empty()) {
    std::ofstream file{options.losses};
    for (const float loss : result.losses) file << fmt::format("{:.6f}\n", loss);
    if (!file.flush())
      throw burn::Error(burn::StatusCode::unavailable, "gpt2: cannot write " + options.losses.string());
  }
  return result;
}

void write(const Options& options, const Gpt2& net, std::ostream& out) {
  const Device device{options.device};
  const std::vector<std::uint8_t> bytes(options.prompt.begin(), options.prompt.end());
  if (bytes.empty() || bytes.size() > static_cast<std::size_t>(options.context)) {
    throw burn::Error(burn::StatusCode::invalid_argument,
                      fmt::format("gpt2: a prompt has 1 to {} bytes, this one {}", options.context, bytes.size()));
  }
  const auto size = static_cast<std::int64_t>(bytes.size());
  const auto prompt = Tensor<2, Int>::from_data(TensorData(bytes, {1, size}), device).to_int();
  // The weights are not trained here, so they are cast once.
  Generator generator{net.valid().to_dtype(product_dtype(options)), prompt, options.temperature};
  out << options.prompt;
  burn::PendingReads reads;
  for (std::int64_t i = 0; i < options.generate; ++i) {
    reads.add(generator.next(), [&](const TensorData& token) {
      const auto byte = token.as_slice<std::int64_t>()[0];
      out << static_cast<char>(byte < 256 ? byte : '?') << std::flush;
    });
    reads.poll();
  }
  reads.finish();
  out << '\n';
}

}  // namespace gpt2
