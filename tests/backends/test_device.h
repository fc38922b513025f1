// A backend and one stream on it, with blocking calls.
#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "backends/collective/collective.h"
#include "backends/registry/registry.h"
#include "tests/ops/samples.h"

namespace burn::testing {

// For use by one thread; the backend may be shared.
class TestDevice {
 public:
  explicit TestDevice(std::shared_ptr<backends::Backend> backend);
  explicit TestDevice(std::string_view name);  // throws Error as open_backend() does
  TestDevice(TestDevice&&) = default;
  TestDevice& operator=(TestDevice&& other) noexcept {
    stream_ = std::move(other.stream_);  // first: the members below must outlive it
    alone_ = std::move(other.alone_);
    backend_ = std::move(other.backend_);
    sink_ = std::move(other.sink_);
    return *this;
  }

  backends::Backend& backend() const { return *backend_; }
  backends::Stream& stream() { return *stream_; }
  void close() { stream_.reset(); }

  Result<backends::BufferPtr> buffer(std::size_t bytes);  // with unspecified contents
  Result<backends::BufferPtr> upload(const reference::Tensor& x);
  // The failure keeps its identity, of which the Result's Status is a copy.
  Result<SharedBytes> download(const backends::BufferPtr& buffer, std::size_t bytes,
                               backends::Failure* failure = nullptr);
  Result<reference::Tensor> download(const backends::BufferPtr& buffer, const ir::TensorType& type);
  // Compiles as a worker does: ops that the backend lacks are first decomposed into others.
  Result<std::shared_ptr<backends::Executable>> compile(const ir::Program& program);
  Result<backends::RunResult> run(const std::shared_ptr<backends::Executable>& executable, backends::RunArgs args) {
    if (!args.groups) args.groups = &alone();
    return stream_->run(executable, std::move(args));
  }
  void synchronize();
  // A group of one member, by any number: what runs perform collectives in where nothing else is said.
  const backends::Groups& alone();

  // Those that the device found since the last call, after everything before is done.
  struct Found {
    std::uint64_t serial;
    backends::Failure why;
  };
  std::vector<Found> found();

 private:
  struct Sink {
    std::mutex mutex;
    std::vector<Found> found;
  };
  std::shared_ptr<Sink> sink_ = std::make_shared<Sink>();
  std::shared_ptr<backends::Backend> backend_;
  std::unique_ptr<backends::Groups> alone_;  // null: not asked for yet
  std::unique_ptr<backends::Stream> stream_;
};

// Compiles, uploads, runs once and downloads.
Result<std::vector<reference::Tensor>> run_program(TestDevice& device, const ir::Program& program,
                                                   std::span<const reference::Tensor> inputs,
                                                   const reference::Bindings& bindings = {});

// The backends of this machine that compute what they are given.
std::vector<backends::BackendKind> computing_kinds();

}  // namespace burn::testing
