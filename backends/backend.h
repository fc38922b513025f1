// What executes programs on one device. Backends take whole programs, not calls: about nine methods to implement.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "ir/program.h"
#include "proto/session.h"

namespace burn::backends {

// Device memory, freed with its last owner. Contents are immutable while more than one owner holds it.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  virtual ~Buffer() = default;
  virtual std::size_t size() const = 0;  // bytes, at least what was asked for
};
using BufferPtr = std::shared_ptr<Buffer>;

// Why a value was not computed, shared by all values that lack for the same reason.
using Failure = std::shared_ptr<const Status>;

struct RunArgs {
  std::vector<BufferPtr> inputs;           // one per program input, row-major; a donated one is held by nobody else
  std::vector<Failure> failures;           // one per input, or empty: where it is not null, there is no buffer
  std::span<const std::uint64_t> scalars;  // one per slot
  std::uint64_t seed = 0;
  std::uint64_t random_offset = 0;
};

// What a run made.
struct RunResult {
  std::vector<BufferPtr> outputs;  // in order, row-major; one may share an input's buffer
  std::vector<Failure> failures;   // one per output, or empty: where it is not null, there is no buffer
};

// A compiled program. Thread-safe: sessions share it and may run it at the same time.
class Executable {
 public:
  virtual ~Executable() = default;
  // A step that fails (RESOURCE_EXHAUSTED when memory is short, OUT_OF_RANGE for an index outside its dim; both name
  // the op and its call site) fails the outputs that are computed from it, as a failed input does, and no others.
  // Errors: arguments that do not fit the program, or exceptions.
  virtual Result<RunResult> run(RunArgs args) = 0;
  // Bytes that it holds for as long as it exists, roughly: what a cache of plans is bounded by.
  virtual std::size_t memory_bytes() const = 0;
};

struct Limits {
  std::uint64_t max_buffer_bytes = 0;
  std::uint64_t memory_bytes = 0;  // of the device
};

struct MemoryStats {
  std::uint64_t in_use = 0;    // bytes held by live buffers
  std::uint64_t reserved = 0;  // taken from the system, in_use included
  std::uint64_t peak = 0;      // highest in_use so far
};

// Thread-safe.
class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  virtual std::string_view name() const = 0;  // "cpu"
  virtual Limits limits() const = 0;
  virtual MemoryStats memory() const = 0;
  // Whether a program may contain this op on these operand types; otherwise UNIMPLEMENTED, naming it.
  virtual Status supports(const ir::Op& op, std::span<const ir::TensorType* const> operands) const = 0;
  virtual Result<BufferPtr> allocate(std::size_t bytes) = 0;
  // Requires: bytes.size() <= buffer.size(). The buffer belongs to the caller alone.
  virtual Status upload(Buffer& buffer, std::span<const std::byte> bytes) = 0;
  // A host copy or view of the first `bytes` bytes that stays valid as long as the result lives.
  virtual Result<SharedBytes> download(const BufferPtr& buffer, std::size_t bytes) = 0;
  virtual Result<std::unique_ptr<Executable>> compile(std::shared_ptr<const ir::Program> program) = 0;
  virtual Status synchronize() = 0;
  // Gives memory that no buffer uses, and that none has used for so long, back to the system, until at most `keep`
  // bytes of it are left. How many bytes that was. Takes its time; runs may go on beside it.
  virtual std::uint64_t trim(std::uint64_t /*keep*/, std::chrono::milliseconds /*unused_for*/) { return 0; }
};

// The backend of that name ("cpu", "null"). Errors: NOT_FOUND with the names there are; what its start says otherwise.
Result<std::unique_ptr<Backend>> open_backend(std::string_view name);

}  // namespace burn::backends
