#include "backends/null/null_backend.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include <fmt/format.h>

#include "backends/failures.h"
#include "base/plain_host_block.h"

namespace burn::backends {
namespace {

constexpr std::uint64_t kMemory = std::uint64_t{1} << 40;

// Nominal bytes of the live buffers.
struct Account {
  std::atomic<std::uint64_t> in_use = 0, peak = 0;

  void add(std::uint64_t bytes) {
    const auto now = in_use += bytes;
    auto seen = peak.load();
    while (seen < now && !peak.compare_exchange_weak(seen, now)) {
    }
  }
};
using AccountPtr = std::shared_ptr<Account>;

class NullBuffer final : public Buffer {
 public:
  NullBuffer(AccountPtr account, std::size_t size) : account_(std::move(account)), size_(size) { account_->add(size); }
  ~NullBuffer() override { account_->in_use -= size_; }
  std::size_t size() const override { return size_; }

 private:
  AccountPtr account_;
  std::size_t size_;
};

class NullExecutable final : public Executable {
 public:
  explicit NullExecutable(std::shared_ptr<const ir::Program> program) : program_(std::move(program)) {}
  const ir::Program& program() const { return *program_; }
  std::size_t memory_bytes() const override { return sizeof *this; }

 private:
  std::shared_ptr<const ir::Program> program_;
};

class NullStream final : public Stream {
 public:
  explicit NullStream(AccountPtr account) : account_(std::move(account)) {}

  Result<BufferPtr> upload(SharedBytes bytes) override { return buffer_of(bytes.size()); }
  Result<BufferPtr> upload(HostBlockPtr block) override { return buffer_of(block->bytes().size()); }
  Result<BufferPtr> clone(const BufferPtr& buffer) override { return buffer_of(buffer->size()); }
  void synchronize(Done done) override { done({}); }

  void download(BufferPtr buffer, std::size_t size, Downloaded done) override {
    auto bytes = zeros(*buffer, size);
    if (bytes.ok()) return done(*std::move(bytes), nullptr);
    done({}, std::make_shared<const Status>(bytes.status()));
  }

  Result<RunResult> run(const std::shared_ptr<Executable>& executable, RunArgs args) override {
    const auto& program = static_cast<NullExecutable&>(*executable).program();
    if (args.inputs.size() != program.inputs.size()) return invalid_argument("run: wrong number of inputs");
    if (args.scalars.size() != static_cast<std::size_t>(program.scalar_count)) {
      return invalid_argument("run: wrong number of scalars");
    }
    RunResult result{{}, propagate_failures(program, args.failures)};
    result.outputs.reserve(program.outputs.size());
    for (std::size_t k = 0; k < program.outputs.size(); ++k) {
      const bool failed = !result.failures.empty() && result.failures[k];
      result.outputs.push_back(failed ? nullptr : make(program.type_of(program.outputs[k]).num_bytes()));
    }
    return result;
  }

 private:
  BufferPtr make(std::size_t bytes) const { return std::make_shared<NullBuffer>(account_, bytes); }
  Result<BufferPtr> buffer_of(std::size_t bytes) const {
    if (bytes > kMemory) return resource_exhausted("out of memory");
    return make(bytes);
  }
  static Result<SharedBytes> zeros(const Buffer& buffer, std::size_t size) {
    if (size > buffer.size()) return invalid_argument("download: more bytes than the buffer has");
    const std::shared_ptr<void> zeros(std::calloc(std::max<std::size_t>(size, 1), 1),
                                      std::free);  // pages made on demand
    if (!zeros) return resource_exhausted("out of memory");
    return SharedBytes(zeros, {static_cast<const std::byte*>(zeros.get()), size});
  }

  const AccountPtr account_;
};

class NullBackend final : public Backend {
 public:
  explicit NullBackend(int index) : name_(index == 0 ? "null" : fmt::format("null:{}", index)) {}

  std::string_view name() const override { return name_; }
  Limits limits() const override { return {.max_buffer_bytes = kMemory, .memory_bytes = kMemory}; }
  MemoryStats memory() const override { return {account_->in_use, account_->in_use, account_->peak}; }
  Status supports(const ir::Op&, std::span<const ir::TensorType* const>) const override { return {}; }
  Result<HostBlockPtr> host_block(std::size_t bytes) override { return plain_host_block(bytes); }
  Result<std::unique_ptr<Executable>> compile(std::shared_ptr<const ir::Program> program) override {
    return std::unique_ptr<Executable>(std::make_unique<NullExecutable>(std::move(program)));
  }
  Result<std::unique_ptr<Stream>> open_stream(FailureSink) override {
    return std::unique_ptr<Stream>(std::make_unique<NullStream>(account_));
  }

 private:
  const std::string name_;
  const AccountPtr account_ = std::make_shared<Account>();
};

}  // namespace

Result<std::unique_ptr<Backend>> open_null_backend(int index) {
  return std::unique_ptr<Backend>(std::make_unique<NullBackend>(index));
}

}  // namespace burn::backends
