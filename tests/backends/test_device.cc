#include "tests/backends/test_device.h"

#include <algorithm>
#include <future>

#include "backends/collective/direct_collective.h"
#include "base/error.h"
#include "compile/rewrite/decompose.h"

namespace burn::testing {

TestDevice::TestDevice(std::shared_ptr<backends::Backend> backend)
    : backend_(std::move(backend)),
      stream_(value_or_throw(backend_->open_stream([sink = sink_](std::uint64_t serial, const backends::Failure& why) {
        const std::lock_guard lock(sink->mutex);
        sink->found.push_back({serial, why});
      }))) {}

TestDevice::TestDevice(std::string_view name)
    : TestDevice(std::shared_ptr<backends::Backend>(value_or_throw(backends::open_backend(name)))) {}

Result<backends::BufferPtr> TestDevice::buffer(std::size_t bytes) {
  BURN_TRY(auto block, backend_->host_block(bytes));
  return stream_->upload(std::move(block));
}

Result<backends::BufferPtr> TestDevice::upload(const reference::Tensor& x) {
  const auto bytes = reference::to_bytes(x);
  BURN_TRY(auto block, backend_->host_block(bytes.size()));
  std::ranges::copy(bytes, block->bytes().begin());
  return stream_->upload(std::move(block));
}

Result<SharedBytes> TestDevice::download(const backends::BufferPtr& buffer, std::size_t bytes,
                                         backends::Failure* failure) {
  std::promise<Result<SharedBytes>> answer;
  auto future = answer.get_future();
  stream_->download(buffer, bytes, [&](SharedBytes content, const backends::Failure& why) {
    if (failure) *failure = why;
    answer.set_value(why ? Result<SharedBytes>(*why) : std::move(content));
  });
  return future.get();
}

Result<reference::Tensor> TestDevice::download(const backends::BufferPtr& buffer, const ir::TensorType& type) {
  BURN_TRY(const auto bytes, download(buffer, type.num_bytes()));
  return reference::from_bytes(type, bytes.span());
}

Result<std::shared_ptr<backends::Executable>> TestDevice::compile(const ir::Program& program) {
  BURN_TRY(auto supported,
           compile::decompose(std::make_shared<const ir::Program>(program), backends::supports_of(*backend_)));
  BURN_TRY(auto executable, backend_->compile(std::move(supported)));
  return std::shared_ptr<backends::Executable>(std::move(executable));
}

const backends::Groups& TestDevice::alone() {
  class Alone final : public backends::Groups {
   public:
    explicit Alone(backends::Backend& backend) : backend_(backend) {}
    std::shared_ptr<backends::Collective> find(std::int64_t /*group*/) const override {
      if (!group_ || !group_->health().ok())
        group_ =
            value_or_throw(backend_.join_group(backends::make_collective_of_one(), std::chrono::milliseconds{60000}));
      return group_;
    }

   private:
    backends::Backend& backend_;
    mutable std::shared_ptr<backends::Collective> group_;
  };
  if (!alone_) alone_ = std::make_unique<Alone>(*backend_);
  return *alone_;
}

void TestDevice::synchronize() {
  std::promise<void> done;
  auto future = done.get_future();
  stream_->synchronize([&](const Status&) { done.set_value(); });
  future.get();
}

std::vector<TestDevice::Found> TestDevice::found() {
  synchronize();
  const std::lock_guard lock(sink_->mutex);
  return std::exchange(sink_->found, {});
}

Result<std::vector<reference::Tensor>> run_program(TestDevice& device, const ir::Program& program,
                                                   std::span<const reference::Tensor> inputs,
                                                   const reference::Bindings& bindings) {
  BURN_TRY(const auto executable, device.compile(program));
  backends::RunArgs args{.scalars = bindings.scalars, .seed = bindings.seed, .random_offset = bindings.random_offset};
  for (const auto& input : inputs) {
    BURN_TRY(auto buffer, device.upload(input));
    args.inputs.push_back(std::move(buffer));
  }
  BURN_TRY(const auto result, device.run(executable, std::move(args)));
  for (const auto& failure : result.failures) {
    if (failure) return *failure;
  }
  std::vector<reference::Tensor> outputs;
  for (std::size_t i = 0; i < result.outputs.size(); ++i) {
    BURN_TRY(auto output, device.download(result.outputs[i], program.type_of(program.outputs[i])));
    outputs.push_back(std::move(output));
  }
  return outputs;
}

std::vector<backends::BackendKind> computing_kinds() {
  auto kinds = backends::backend_kinds();
  std::erase_if(kinds, [](const auto& kind) { return !kind.computes; });
  return kinds;
}

}  // namespace burn::testing
