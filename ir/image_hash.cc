#include "ir/image_hash.h"

#include <cstring>
#include <utility>

#include "base/xxh3.h"

namespace burn::ir {

ImageHash::Digest ImageHash::take() {
  const auto hash = XXH3_128bits(bytes_.data(), std::exchange(size_, 0));
  return {hash.low64, hash.high64};
}

// A full block makes way for its digest.
void ImageHash::make_room() {
  if (bytes_.empty()) return bytes_.resize(kBlock);
  const Digest digest = take();
  bytes_[0] = kFolded;
  std::memcpy(&bytes_[1], digest.data(), sizeof(digest));
  size_ = 1 + sizeof(digest);
}

}  // namespace burn::ir
