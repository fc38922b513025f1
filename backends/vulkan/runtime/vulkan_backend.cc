#include "backends/vulkan/runtime/vulkan_backend.h"

#include <algorithm>

#include <fmt/format.h>

#include "backends/vulkan/driver/driver_files.h"
#include "backends/vulkan/runtime/vulkan_stream.h"
#include "compile/codegen/kernels/lower.h"

namespace burn::backends::vulkan {
namespace {

class VulkanBackend final : public Backend {
 public:
  explicit VulkanBackend(std::shared_ptr<Device> device)
      : device_(std::move(device)),
        host_(std::make_shared<HostMemory>(device_)),
        written_(device_->written_pages() ? std::make_shared<HostMemory>(device_, *device_->written_pages()) : nullptr),
        name_(device_->index() == 0 ? "vulkan" : fmt::format("vulkan:{}", device_->index())) {}

  std::string_view name() const override { return name_; }
  bool computes_on_host() const override { return device_->adapter().is_cpu(); }
  Limits limits() const override {
    return {.max_buffer_bytes = device_->facts().max_allocation, .memory_bytes = device_->adapter().memory_bytes};
  }

  MemoryStats memory() const override {
    return {device_->buffers().account().in_use, device_->memory().page_bytes(), device_->buffers().account().peak};
  }

  Status supports(const ir::Op& op, std::span<const ir::TensorType* const> operands) const override {
    if (!compile::kernels::has_kernels(op, operands, device_->facts()) && !ir::is_collective(op))
      return unimplemented(fmt::format("Vulkan: {} has no kernel", ir::name(op)));
    const auto is_f64 = [](const ir::TensorType* type) { return type->dtype == ir::DType::f64; };
    if (!device_->facts().has_f64 && std::ranges::any_of(operands, is_f64))
      return unimplemented(fmt::format("Vulkan: {}: {} has no f64", ir::name(op), device_->adapter().name));
    return {};
  }

  Result<HostBlockPtr> host_block(std::size_t bytes) override {
    BURN_TRY(auto block, host_->allocate(bytes));
    return HostBlockPtr(std::move(block));
  }

  Result<std::unique_ptr<Executable>> compile(std::shared_ptr<const ir::Program> program) override {
    if (device_->is_lost()) return device_->lost();
    BURN_TRY(auto executable, VulkanExecutable::make(*program, device_));
    return std::unique_ptr<Executable>(std::move(executable));
  }

  Result<std::unique_ptr<Stream>> open_stream(FailureSink sink) override {
    BURN_TRY(auto stream, VulkanStream::open(device_, host_, written_, std::move(sink)));
    return std::unique_ptr<Stream>(std::move(stream));
  }

  Status health() const override { return device_->is_lost() ? device_->lost() : Status{}; }

  std::uint64_t trim(std::uint64_t keep, std::chrono::milliseconds unused_for) override {
    return device_->buffers().trim(device_->memory(), keep, unused_for);
  }

 private:
  const std::shared_ptr<Device> device_;
  const std::shared_ptr<HostMemory> host_, written_;
  const std::string name_;
};

std::string version_text(std::uint32_t version) {
  return fmt::format("{}.{}.{}", VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version),
                     VK_API_VERSION_PATCH(version));
}

std::string describe(const Adapter& adapter) {
  constexpr double kMiB = 1 << 20;
  const auto& facts = adapter.facts;
  auto line =
      fmt::format("{}, {}, Vulkan {}, {:.0f} MiB, uuid={}", adapter.name, adapter.driver, version_text(adapter.api),
                  static_cast<double>(adapter.memory_bytes) / kMiB, adapter.uuid_text());
  line += fmt::format(
      ", tensors up to {:.0f} MiB, {} threads and {} bytes of shared memory a block, subgroups of {}, f64: {}, 64-bit "
      "integers: {}, 8- and 16-bit integers: {}",
      static_cast<double>(adapter.max_allocation) / kMiB, facts.max_threads, adapter.max_shared_bytes,
      facts.subgroup_size, facts.has_f64 ? "yes" : "no", facts.has_int64 ? "yes" : "as pairs of 32 bits",
      facts.has_narrow ? "yes" : "within words of 32 bits");
  line += fmt::format(", matrix units: {}", adapter.matrices.empty() ? "none" : adapter.matrices);
  line += fmt::format(", a queue for copies: {}", adapter.copy_family ? "yes" : "no");
  return line;
}

}  // namespace

Result<std::unique_ptr<Backend>> open_vulkan_backend(int index) {
  return open_vulkan_backend(index, DeviceLimits::from_environment());
}

Result<std::unique_ptr<Backend>> open_vulkan_backend(int index, const DeviceLimits& limits) {
  BURN_TRY(auto device, Device::open(index, limits));
  return std::unique_ptr<Backend>(std::make_unique<VulkanBackend>(std::move(device)));
}

std::vector<std::string> report() {
  const auto all = all_adapters();
  if (!all.ok()) return {all.status().message()};
  std::vector<std::string> lines{fmt::format("loader {}", version_text(loader_version()))};
  const auto usable = usable_adapters();
  if (!usable.ok()) lines.push_back(usable.status().message());
  for (std::size_t k = 0; usable.ok() && k < usable->size(); ++k)
    lines.push_back(fmt::format("device {}: {}", k, describe((*usable)[k])));
  for (const auto& adapter : *all) {
    const bool is_listed = usable.ok() && std::ranges::find(*usable, adapter.handle, &Adapter::handle) != usable->end();
    if (!is_listed && adapter.missing.empty())
      lines.push_back(fmt::format("not used: {}: it computes on the CPU (BURN_VULKAN_CPU=on)", adapter.name));
    else if (!is_listed && usable.ok())
      lines.push_back(fmt::format("not used: {}: {}", adapter.name, adapter.missing));
  }
  for (const auto& line : broken_drivers()) lines.push_back("not used: " + line);
  return lines;
}

}  // namespace burn::backends::vulkan
