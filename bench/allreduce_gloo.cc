#include "bench/allreduce_gloo.h"

#ifdef BURN_HAS_GLOO
#include <algorithm>

#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#endif

namespace burn::bench {

#ifdef BURN_HAS_GLOO
namespace {

using Floats = std::vector<float>;

class TcpGroup final : public GlooGroup {
 public:
  TcpGroup(int rank, int size, const std::string& folder)
      : context_(std::make_shared<gloo::rendezvous::Context>(rank, size)) {
    gloo::transport::tcp::attr attributes;
    attributes.hostname = "127.0.0.1";
    auto device = gloo::transport::tcp::CreateDevice(attributes);
    gloo::rendezvous::FileStore store(folder);
    context_->connectFullMesh(store, device);
  }

  std::vector<Method> methods() override {
    using Algorithm = gloo::AllreduceOptions::Algorithm;
    return {{"ring", [this](const Floats& x, Floats& y) { reduce(Algorithm::RING, x, y); }},
            {"bcube", [this](const Floats& x, Floats& y) { reduce(Algorithm::BCUBE, x, y); }},
            {"halving_doubling", [this](const Floats& x, Floats& y) { halve_and_double(x, y); }}};
  }

 private:
  void reduce(gloo::AllreduceOptions::Algorithm algorithm, const Floats& x, Floats& y) {
    gloo::AllreduceOptions options(context_);
    options.setAlgorithm(algorithm);
    options.setInput(const_cast<float*>(x.data()), x.size());  // NOLINT(cppcoreguidelines-pro-type-const-cast): is read
    options.setOutput(y.data(), y.size());
    options.setReduceFunction([](void* sum, const void* a, const void* b, std::size_t count) {
      gloo::sum<float>(static_cast<float*>(sum), static_cast<const float*>(a), static_cast<const float*>(b), count);
    });
    gloo::allreduce(options);
  }

  // Works in place. The algorithm object is made once for each buffer, so that its setup is not measured.
  void halve_and_double(const Floats& x, Floats& y) {
    if (!halving_ || place_ != y.data() || count_ != y.size()) {
      halving_ = std::make_unique<gloo::AllreduceHalvingDoubling<float>>(context_, std::vector<float*>{y.data()},
                                                                         static_cast<int>(y.size()));
      place_ = y.data();
      count_ = y.size();
    }
    std::ranges::copy(x, y.begin());
    halving_->run();
  }

  std::shared_ptr<gloo::rendezvous::Context> context_;
  std::unique_ptr<gloo::AllreduceHalvingDoubling<float>> halving_;
  const float* place_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace
#endif

std::unique_ptr<GlooGroup> make_gloo_group(int rank, int size, const std::string& folder) {
#ifdef BURN_HAS_GLOO
  if (size > 1) return std::make_unique<TcpGroup>(rank, size, folder);
#endif
  (void)rank, (void)size, (void)folder;
  return nullptr;
}

}  // namespace burn::bench
