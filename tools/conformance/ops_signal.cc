#include "client/tensor/signal.h"
#include "tools/conformance/ranks.h"

namespace burn::conformance {
namespace {

int dim(const Call& c) { return static_cast<int>(c.integer("dim")); }

std::optional<std::int64_t> optional_integer(const Call& c, const char* name) {
  return c.has(name) ? std::optional{c.integer(name)} : std::nullopt;
}

std::optional<Tensor<1>> window(const Call& c) {
  const auto* given = c.optional(1);
  return given ? std::optional{Tensor<1>{*given}} : std::nullopt;
}

signal::StftOptions stft_options(const Call& c) {
  return {.n_fft = c.integer("n_fft"),
          .hop_length = c.integer("hop_length"),
          .win_length = optional_integer(c, "win_length"),
          .center = c.flag("center"),
          .onesided = c.flag("onesided")};
}

template <int kMinRank, typename F>
OpFunction of_rank(F f) {
  return [f](const Call& c) {
    return with_rank<kMinRank, 7>(c.x(), [&]<int D>() { return results(f.template operator()<D>(c)); });
  };
}

using Window = Tensor<1> (*)(std::int64_t size, bool periodic, const TensorOptions& options, Loc where);
OpFunction window_of(Window make) {
  return
      [make](const Call& c) { return results(make(c.integer("size"), c.flag("periodic"), c.device, Loc::current())); };
}

}  // namespace

void add_signal(OpTable& t) {
  t["hann_window"] = window_of(signal::hann_window);
  t["hamming_window"] = window_of(signal::hamming_window);
  t["blackman_window"] = window_of(signal::blackman_window);
  t["rfft"] =
      of_rank<1>([]<int D>(const Call& c) { return signal::rfft(Tensor<D>{c.x()}, dim(c), optional_integer(c, "n")); });
  t["irfft"] = of_rank<1>([]<int D>(const Call& c) {
    return signal::irfft(Tensor<D>{c.x(0)}, Tensor<D>{c.x(1)}, dim(c), optional_integer(c, "n"));
  });
  t["cfft"] = of_rank<1>([]<int D>(const Call& c) {
    return signal::cfft(Tensor<D>{c.x(0)}, Tensor<D>{c.x(1)}, dim(c), optional_integer(c, "n"));
  });
  t["stft"] = [](const Call& c) { return results(signal::stft(Tensor<2>{c.x()}, window(c), stft_options(c))); };
  t["istft"] = [](const Call& c) {
    return results(signal::istft(Tensor<4>{c.x()}, window(c), optional_integer(c, "length"), stft_options(c)));
  };
}

}  // namespace burn::conformance
