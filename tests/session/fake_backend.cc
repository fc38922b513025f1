#include "tests/session/fake_backend.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "backends/failures.h"
#include "base/plain_host_block.h"

namespace burn::session {
namespace {

using backends::BufferPtr;

class FakeBuffer final : public backends::Buffer {
 public:
  FakeBuffer(std::shared_ptr<FakeDevice> device, std::size_t size) : device_(std::move(device)), bytes_(size) {
    device_->in_use += size;
  }
  ~FakeBuffer() override { device_->in_use -= bytes_.size(); }
  std::size_t size() const override { return bytes_.size(); }
  std::byte* data() { return bytes_.data(); }
  float& operator[](std::size_t i) { return reinterpret_cast<float*>(bytes_.data())[i]; }

 private:
  const std::shared_ptr<FakeDevice> device_;
  std::vector<std::byte> bytes_;
};

FakeBuffer& fake(const BufferPtr& buffer) { return static_cast<FakeBuffer&>(*buffer); }

class FakePlan final : public backends::Executable {
 public:
  FakePlan(std::shared_ptr<const ir::Program> program, std::shared_ptr<FakeDevice> device)
      : program_(std::move(program)), device_(std::move(device)) {}
  const ir::Program& program() const { return *program_; }
  std::size_t memory_bytes() const override { return 1000; }
  backends::RunBytes run_bytes() const override { return device_->run_bytes; }

 private:
  const std::shared_ptr<const ir::Program> program_;
  const std::shared_ptr<FakeDevice> device_;
};

// Executes everything synchronously.
class FakeStream final : public backends::Stream {
 public:
  explicit FakeStream(std::shared_ptr<FakeDevice> device) : device_(std::move(device)) {}

  Result<BufferPtr> upload(SharedBytes bytes) override { return copy_of(bytes.span()); }
  Result<BufferPtr> upload(backends::HostBlockPtr block) override { return copy_of(block->bytes()); }
  Result<BufferPtr> clone(const BufferPtr& buffer) override { return copy_of({fake(buffer).data(), buffer->size()}); }
  void download(BufferPtr buffer, std::size_t size, Downloaded done) override {
    const std::span bytes{fake(buffer).data(), size};
    done(SharedBytes{std::move(buffer), bytes}, nullptr);
  }
  void synchronize(Done done) override { done({}); }

  Result<backends::RunResult> run(const std::shared_ptr<backends::Executable>& executable,
                                  backends::RunArgs args) override {
    const auto& program = static_cast<FakePlan&>(*executable).program();
    ++device_->runs;
    for (std::size_t i = 0; i < args.inputs.size(); ++i) {
      if (program.inputs[i].donated && args.inputs[i] && args.inputs[i].use_count() != 1) ++device_->shared_donations;
    }
    if (device_->on_run) BURN_RETURN_IF_ERROR(device_->on_run(program));
    backends::RunResult result{{}, backends::propagate_failures(program, args.failures)};
    std::vector<BufferPtr> results;
    for (const auto& node : program.nodes) {
      std::vector<BufferPtr> operands;
      for (const auto ref : program.operands_of(node)) {
        const auto k = static_cast<std::size_t>(ref.index());
        operands.push_back(ref.is_input() ? args.inputs[k] : results[k]);
      }
      const bool failed = std::ranges::find(operands, nullptr) != operands.end();
      results.push_back(failed ? nullptr : result_of(node, program.type_of(node), operands, args.scalars));
      for (const auto& made : program.results_of(node).subspan(1))
        results.push_back(failed ? nullptr : std::make_shared<FakeBuffer>(device_, made.type.num_bytes()));
    }
    for (const auto ref : program.outputs) result.outputs.push_back(results[static_cast<std::size_t>(ref.index())]);
    return result;
  }

 private:
  Result<BufferPtr> copy_of(std::span<const std::byte> bytes) {
    device_->largest_request = std::max<std::uint64_t>(device_->largest_request, bytes.size());
    auto buffer = std::make_shared<FakeBuffer>(device_, bytes.size());
    if (!bytes.empty()) std::memcpy(buffer->data(), bytes.data(), bytes.size());
    return BufferPtr{std::move(buffer)};
  }
  BufferPtr result_of(const ir::Node& node, const ir::TensorType& type, const std::vector<BufferPtr>& operands,
                      std::span<const std::uint64_t> scalars) {
    if (std::holds_alternative<ir::Reshape>(node.op)) return operands[0];
    auto result = std::make_shared<FakeBuffer>(device_, type.num_bytes());
    if (type.dtype != ir::DType::f32) return result;
    if (const auto* scalar = std::get_if<ir::Scalar>(&node.op)) {
      (*result)[0] = static_cast<float>(std::bit_cast<double>(scalars[static_cast<std::size_t>(scalar->slot)]));
    } else if (const auto* pointwise = std::get_if<ir::Pointwise>(&node.op)) {
      const auto at = [&](std::size_t k, std::size_t i) { return fake(operands[k])[operands[k]->size() == 4 ? 0 : i]; };
      for (std::size_t i = 0; i < static_cast<std::size_t>(type.num_elements()); ++i) {
        if (pointwise->fn == ir::PointwiseFn::add) (*result)[i] = at(0, i) + at(1, i);
        if (pointwise->fn == ir::PointwiseFn::mul) (*result)[i] = at(0, i) * at(1, i);
      }
    }
    return result;
  }

  const std::shared_ptr<FakeDevice> device_;
};

class FakeBackend final : public backends::Backend {
 public:
  explicit FakeBackend(std::shared_ptr<FakeDevice> device) : device_(std::move(device)) {}

  std::string_view name() const override { return "fake"; }
  backends::Limits limits() const override { return device_->limits; }
  backends::MemoryStats memory() const override { return {device_->in_use, device_->in_use, device_->in_use}; }
  Status supports(const ir::Op& op, std::span<const ir::TensorType* const>) const override {
    return device_->on_supports ? device_->on_supports(op) : Status{};
  }
  Result<backends::HostBlockPtr> host_block(std::size_t bytes) override {
    device_->largest_request = std::max<std::uint64_t>(device_->largest_request, bytes);
    return plain_host_block(bytes);
  }
  Result<std::unique_ptr<backends::Executable>> compile(std::shared_ptr<const ir::Program> program) override {
    ++device_->compiled;
    if (device_->on_compile) BURN_RETURN_IF_ERROR(device_->on_compile(*program));
    return std::unique_ptr<backends::Executable>{std::make_unique<FakePlan>(std::move(program), device_)};
  }
  Result<std::unique_ptr<backends::Stream>> open_stream(backends::FailureSink) override {
    return std::unique_ptr<backends::Stream>{std::make_unique<FakeStream>(device_)};
  }
  Status health() const override { return device_->is_lost ? internal_error("it fell off the bus") : Status{}; }
  std::uint64_t trim(std::uint64_t keep, std::chrono::milliseconds unused_for) override {
    return device_->on_trim ? device_->on_trim(keep, unused_for) : 0;
  }

 private:
  const std::shared_ptr<FakeDevice> device_;
};

}  // namespace

std::unique_ptr<backends::Backend> make_fake_backend(std::shared_ptr<FakeDevice> device) {
  return std::make_unique<FakeBackend>(std::move(device));
}

}  // namespace burn::session
