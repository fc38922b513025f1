// Training steps of an embedding of 1,000,000 x 32 of which a batch uses a few rows, with sparse and with dense
// gradients; for comparison a step of a table that has only as many rows as the batch; and the time to look rows up and
// write them back. A sample is the mean over ten steps.
#include "bench/bench.h"
#include "burn/burn.h"

namespace burn::bench {
namespace {

constexpr std::int64_t kCount = 1'000'000, kWidth = 32;

struct Words {
  nn::Embedding table;
  BURN_MODULE(Words, table)
};

// Row numbers spread over a table of `count` rows, some of them twice.
TensorData indices(std::int64_t batch, std::int64_t count) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(batch));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i / 8 * 8 + i % 7) * 7919 % count;
  return TensorData(std::move(rows), {batch});
}

struct Table {
  std::int64_t count;  // rows
  bool sparse;
};

std::vector<double> step(const Context& c, const optim::ModuleOptimizer& engine, std::int64_t batch, Table table) {
  const Device ad = c.device.autodiff();
  ad.seed(1);
  Words net{nn::EmbeddingConfig{.n_embedding = table.count, .d_model = kWidth, .sparse = table.sparse}.init(ad)};
  optim::Optimizer<Words> optim{engine};
  const auto rows = indices(batch, table.count);
  return microseconds(repeat_batched(
      c, 10,
      [&] {
        const auto found = net.table(Tensor<1, Int>::from_data(rows, ad));
        const auto loss = (found * found).mean();
        net = optim.step(1e-3, std::move(net), GradientsParams::from_grads(loss.backward(), net));
      },
      [&] { ad.sync(); }));
}

std::vector<double> write(const Context& c, std::int64_t batch) {
  auto table = Tensor<2>::zeros({kCount, kWidth}, c.device);
  c.device.sync();
  const auto rows = indices(batch, kCount);
  return microseconds(repeat_batched(
      c, 10,
      [&] {
        const auto index = Tensor<1, Int>::from_data(rows, c.device);
        table = table.select_assign(0, index, table.select(0, index) + 1, IndexingUpdateOp::assign);
        c.device.flush();
      },
      [&] { c.device.sync(); }));
}

}  // namespace

void add_embedding(std::vector<Benchmark>& list) {
  const std::pair<const char*, optim::ModuleOptimizer> optimizers[] = {
      {"sgd", optim::SgdConfig{}}, {"adam", optim::AdamConfig{}}, {"adagrad", optim::AdaGradConfig{}}};
  for (const std::int64_t batch : {64, 1024}) {
    const auto rows = std::to_string(batch);
    list.push_back({"embedding_write_" + rows, "us", "lower", [=](const Context& c) { return write(c, batch); }});
    for (const auto& [name, engine] : optimizers) {
      const std::pair<const char*, Table> tables[] = {
          {"sparse", {kCount, true}}, {"dense", {kCount, false}}, {"rows", {batch, false}}};
      for (const auto& [kind, table] : tables) {
        list.push_back(
            {std::string{"embedding_"} + kind + "_step_" + name + "_" + rows, "us", "lower",
             [=, engine = engine, table = table](const Context& c) { return step(c, engine, batch, table); }});
      }
    }
  }
}

}  // namespace burn::bench
