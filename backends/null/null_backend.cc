#include "backends/null/null_backend.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>

#include "backends/failures.h"

namespace burn::backends {
namespace {

// Nominal bytes of the buffers that live.
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
  NullExecutable(std::shared_ptr<const ir::Program> program, AccountPtr account)
      : program_(std::move(program)), account_(std::move(account)) {}

  Result<RunResult> run(RunArgs args) override {
    if (args.inputs.size() != program_->inputs.size()) return invalid_argument("run: wrong number of inputs");
    if (args.scalars.size() != static_cast<std::size_t>(program_->scalar_count)) {
      return invalid_argument("run: wrong number of scalars");
    }
    RunResult result{{}, spread(*program_, args.failures)};
    result.outputs.reserve(program_->outputs.size());
    for (std::size_t k = 0; k < program_->outputs.size(); ++k) {
      const bool failed = !result.failures.empty() && result.failures[k];
      const auto bytes = program_->type_of(program_->outputs[k]).num_bytes();
      result.outputs.push_back(failed ? nullptr : std::make_shared<NullBuffer>(account_, bytes));
    }
    return result;
  }
  std::size_t memory_bytes() const override { return sizeof *this; }

 private:
  std::shared_ptr<const ir::Program> program_;
  AccountPtr account_;
};

class NullBackend final : public Backend {
 public:
  std::string_view name() const override { return "null"; }
  Limits limits() const override { return {.max_buffer_bytes = kMemory, .memory_bytes = kMemory}; }
  MemoryStats memory() const override { return {account_->in_use, account_->in_use, account_->peak}; }
  Status supports(const ir::Op& op, std::span<const ir::TensorType* const> operands) const override {
    return ir::infer(op, operands).status();
  }
  Result<BufferPtr> allocate(std::size_t bytes) override {
    if (bytes > kMemory) return resource_exhausted("out of memory");
    return BufferPtr(std::make_shared<NullBuffer>(account_, bytes));
  }
  Status upload(Buffer&, std::span<const std::byte>) override { return {}; }
  Result<SharedBytes> download(const BufferPtr& buffer, std::size_t bytes) override {
    if (bytes > buffer->size()) return invalid_argument("download: more bytes than the buffer has");
    const std::shared_ptr<void> zeros(std::calloc(std::max<std::size_t>(bytes, 1), 1),
                                      std::free);  // pages made on demand
    if (!zeros) return resource_exhausted("out of memory");
    return SharedBytes(zeros, {static_cast<const std::byte*>(zeros.get()), bytes});
  }
  Result<std::unique_ptr<Executable>> compile(std::shared_ptr<const ir::Program> program) override {
    return std::unique_ptr<Executable>(std::make_unique<NullExecutable>(std::move(program), account_));
  }
  Status synchronize() override { return {}; }

 private:
  static constexpr std::uint64_t kMemory = std::uint64_t{1} << 40;

  AccountPtr account_ = std::make_shared<Account>();
};

}  // namespace

Result<std::unique_ptr<Backend>> open_null_backend() {
  return std::unique_ptr<Backend>(std::make_unique<NullBackend>());
}

}  // namespace burn::backends
