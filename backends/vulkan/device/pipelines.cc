#include "backends/vulkan/device/pipelines.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include <fmt/format.h>
#include <xxhash.h>

#include "base/cache_folder.h"
#include "base/machine.h"
#include "base/settings.h"
#include "base/thread.h"
#include "compile/codegen/dialects/spirv.h"
#include "compile/codegen/kernel/check.h"
#include "compile/codegen/kernel/legalise.h"
#include "compile/codegen/kernel/unroll.h"

namespace burn::backends::vulkan {
namespace {

constexpr std::size_t kMaxCacheBytes = std::size_t{256} << 20;  // of the cache file
constexpr std::size_t kHashBytes = 16;                          // stored before the driver's data

std::string hash_of(std::string_view bytes) {
  const auto hash = XXH3_128bits(bytes.data(), bytes.size());
  std::string text(kHashBytes, '\0');
  std::memcpy(text.data(), &hash, kHashBytes);
  return text;
}

// Whether a pipeline cache begins with the header of this device's driver (VkPipelineCacheHeaderVersionOne).
bool is_of_driver(std::string_view data, const Adapter& adapter) {
  VkPipelineCacheHeaderVersionOne header{};
  if (data.size() < sizeof header) return false;
  std::memcpy(&header, data.data(), sizeof header);
  return header.headerSize >= sizeof header && header.headerSize <= data.size() &&
         header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE && header.vendorID == adapter.vendor &&
         header.deviceID == adapter.device && std::ranges::equal(header.pipelineCacheUUID, adapter.cache_uuid);
}

std::uint64_t shared_bytes_of(const compile::kernel::Kernel& kernel) {
  std::uint64_t bytes = 0;
  for (const auto& array : kernel.shared)
    bytes +=
        static_cast<std::uint64_t>(array.count) * static_cast<std::uint64_t>(compile::kernel::bits_of(array.type)) / 8;
  return bytes;
}

}  // namespace

Result<std::unique_ptr<Pipelines>> Pipelines::open(Device& device) {
  std::unique_ptr<Pipelines> pipelines(new Pipelines(device));
  BURN_RETURN_IF_ERROR(pipelines->start());
  return pipelines;
}

Status Pipelines::start() {
  const VkPushConstantRange range{.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT, .size = sizeof(VkDeviceAddress)};
  const VkPipelineLayoutCreateInfo layout{.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                          .pushConstantRangeCount = 1,
                                          .pPushConstantRanges = &range};
  BURN_RETURN_IF_ERROR(device_.check_result(
      device_.vk().CreatePipelineLayout(device_.handle(), &layout, nullptr, &layout_), "making a pipeline's layout"));
  const auto known = load();
  const VkPipelineCacheCreateInfo cache{.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO,
                                        .initialDataSize = known.size(),
                                        .pInitialData = known.data()};
  return device_.check_result(device_.vk().CreatePipelineCache(device_.handle(), &cache, nullptr, &cache_),
                              "making a cache of pipelines");
}

Pipelines::~Pipelines() {
  save();
  for (const auto& [text, pipeline] : made_) device_.vk().DestroyPipeline(device_.handle(), pipeline, nullptr);
  device_.vk().DestroyPipelineCache(device_.handle(), cache_, nullptr);
  device_.vk().DestroyPipelineLayout(device_.handle(), layout_, nullptr);
}

// Missing pipelines are compiled on a few threads: drivers take tens of milliseconds for one.
Result<std::vector<VkPipeline>> Pipelines::of(std::span<const compile::KernelSource> sources) {
  const std::lock_guard lock(mutex_);
  std::vector<const compile::KernelSource*> missing;
  for (const auto& source : sources) {
    const auto is_it = [&](const auto* other) { return other->text == source.text; };
    if (!made_.contains(source.text) && std::ranges::none_of(missing, is_it)) missing.push_back(&source);
  }
  std::vector<Result<VkPipeline>> made(missing.size(), Result<VkPipeline>(VkPipeline{}));
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (auto k = next++; k < missing.size(); k = next++)
      made[k] = missing[k]->kernel ? make(*missing[k]->kernel) : internal_error("Vulkan: a kernel that is text");
  };
  constexpr std::size_t kMaxThreads = 4;
  const auto threads = std::min({missing.size(), kMaxThreads, static_cast<std::size_t>(usable_cores())});
  std::vector<std::thread> others;
  for (std::size_t t = 1; t < threads; ++t) others.push_back(start_thread("burn-kernels", work));
  work();
  for (auto& other : others) other.join();
  for (std::size_t k = 0; k < missing.size(); ++k) {
    if (made[k].ok()) made_.emplace(missing[k]->text, *made[k]);
  }
  is_new_ = is_new_ || !missing.empty();
  std::vector<VkPipeline> pipelines;
  pipelines.reserve(sources.size());
  for (const auto& source : sources) {
    const auto found = made_.find(source.text);
    if (found == made_.end()) {
      const auto which = std::ranges::find(missing, source.text, [](const auto* one) { return one->text; });
      return made[static_cast<std::size_t>(which - missing.begin())].status();
    }
    pipelines.push_back(found->second);
  }
  return pipelines;
}

Result<VkPipeline> Pipelines::make(const compile::kernel::Kernel& kernel) const {
  const auto& facts = device_.facts();
  if (kernel.threads > facts.max_threads)
    return unimplemented(fmt::format("Vulkan: a kernel of {} threads a block; {} takes {}", kernel.threads,
                                     device_.adapter().name, facts.max_threads));
  BURN_RETURN_IF_ERROR(compile::kernel::check(kernel));
  BURN_TRY(auto legal, compile::kernel::legalised(kernel, facts));
  if (const auto bytes = shared_bytes_of(legal); bytes > device_.adapter().max_shared_bytes)
    return unimplemented(fmt::format("Vulkan: a kernel of {} bytes of shared memory; {} has {}", bytes,
                                     device_.adapter().name, device_.adapter().max_shared_bytes));
  if (facts.has_limited_loops) legal = compile::kernel::unrolled(legal);
  const auto words = compile::print_spirv(legal, facts);
  const VkShaderModuleCreateInfo code{.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                      .codeSize = words.size() * sizeof(std::uint32_t),
                                      .pCode = words.data()};
  VkShaderModule module = VK_NULL_HANDLE;
  BURN_RETURN_IF_ERROR(device_.check_result(device_.vk().CreateShaderModule(device_.handle(), &code, nullptr, &module),
                                            "handing a kernel to the driver"));
  const VkComputePipelineCreateInfo info{.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                         .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                   .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                   .module = module,
                                                   .pName = "main"},
                                         .layout = layout_};
  VkPipeline pipeline = VK_NULL_HANDLE;
  const auto result = device_.vk().CreateComputePipelines(device_.handle(), cache_, 1, &info, nullptr, &pipeline);
  device_.vk().DestroyShaderModule(device_.handle(), module, nullptr);
  BURN_RETURN_IF_ERROR(device_.check_result(result, "compiling a kernel"));
  return pipeline;
}

std::string Pipelines::file_name() const {
  const auto& adapter = device_.adapter();
  const auto of = fmt::format("{} {} {} {}", adapter.uuid_text(), adapter.name, adapter.driver, adapter.api);
  const auto hash = XXH3_64bits(of.data(), of.size());
  return fmt::format("{:016x}.vkcache", hash);
}

// Empty if there is no cache file, or if it is damaged or of another driver: drivers do not validate the data.
std::string Pipelines::load() const {
  const std::string root = cache_folder();
  if (root.empty()) return {};
  auto kept = CacheFolder(root, "kernels").read(file_name(), kMaxCacheBytes);
  if (!kept.ok()) {
    warn_of_cache(kept.status());
    return {};
  }
  if (kept->size() < kHashBytes) return {};
  auto data = kept->substr(kHashBytes);
  return kept->starts_with(hash_of(data)) && is_of_driver(data, device_.adapter()) ? data : std::string();
}

void Pipelines::save() {
  const std::string root = cache_folder();
  if (!is_new_ || root.empty() || device_.is_lost()) return;
  std::size_t size = 0;
  if (device_.vk().GetPipelineCacheData(device_.handle(), cache_, &size, nullptr) != VK_SUCCESS) return;
  if (size == 0 || size > kMaxCacheBytes - kHashBytes) return;
  std::string data(size, '\0');
  if (device_.vk().GetPipelineCacheData(device_.handle(), cache_, &size, data.data()) != VK_SUCCESS) return;
  data.resize(size);
  warn_of_cache(CacheFolder(root, "kernels").write(file_name(), hash_of(data) + data));
}

}  // namespace burn::backends::vulkan
