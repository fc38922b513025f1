#include "backends/vulkan/lower/system_kernels.h"

#include "compile/codegen/kernel/writer.h"

namespace burn::backends::vulkan {
namespace {

using compile::kernel::Writer;
using ir::DType;

compile::KernelSource source_of(Writer& writer) {
  auto kernel = std::make_shared<const compile::kernel::Kernel>(writer.take());
  auto text = compile::kernel::key(*kernel);
  return {std::move(text), std::move(kernel)};
}

compile::KernelSource fill(DType word) {
  Writer writer(kSystemThreads);
  const auto to = writer.address(word);
  const auto count = writer.number(DType::i64);
  const auto at = writer.position();
  writer.when(at < count, [&] { writer.store(to, at, writer.constant(word, std::int64_t{0})); });
  return source_of(writer);
}

compile::KernelSource copy_words() {
  Writer writer(kSystemThreads);
  const auto from = writer.address(DType::u64), to = writer.address(DType::u64);
  const auto count = writer.number(DType::i64);
  const auto at = writer.position();
  writer.when(at < count, [&] { writer.store(to, at, writer.load(from, at)); });
  return source_of(writer);
}

compile::KernelSource clear_marked() {
  Writer writer(1);
  const auto word = writer.address(DType::u64), report = writer.address(DType::i64);
  writer.when(writer.load(report, writer.index(1)) != 0,
              [&] { writer.store(word, writer.index(0), writer.constant(DType::u64, std::int64_t{0})); });
  return source_of(writer);
}

}  // namespace

std::vector<compile::KernelSource> system_kernels() {
  return {fill(DType::u32), fill(DType::u8), copy_words(), clear_marked()};
}

}  // namespace burn::backends::vulkan
