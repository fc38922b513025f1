#include "base/plain_host_block.h"

#include <string>
#include <utility>

namespace burn {
namespace {

class PlainBlock final : public HostBlock {
 public:
  PlainBlock(std::shared_ptr<std::byte[]> block, std::size_t size) : block_(std::move(block)), size_(size) {}
  std::span<std::byte> bytes() override { return {block_.get(), size_}; }

 private:
  const std::shared_ptr<std::byte[]> block_;
  const std::size_t size_;
};

}  // namespace

Result<HostBlockPtr> plain_host_block(std::size_t bytes) {
  auto block = host_block(bytes);
  if (!block) return resource_exhausted("no memory to receive a tensor of " + std::to_string(bytes) + " bytes");
  return HostBlockPtr(std::make_shared<PlainBlock>(std::move(block), bytes));
}

SharedBytes content(HostBlockPtr block) {
  const auto bytes = block->bytes();
  return SharedBytes(std::move(block), bytes);
}

}  // namespace burn
