#include "ir/image_hash.h"

#include <cstring>
#include <utility>

#include "base/xxh3.h"

namespace burn::ir {

ImageHash::Digest ImageHash::take() {
  const auto hash = XXH3_128bits(bytes_.data(), std::exchange(size_, 0));
  return {hash.low64, hash.high64};
}

// Replaces a full block by its digest.
void ImageHash::make_room() {
  if (bytes_.empty()) return bytes_.resize(kBlock);
  const Digest digest = take();
  bytes_[0] = kDigestMarker;
  std::memcpy(&bytes_[1], digest.data(), sizeof(digest));
  size_ = 1 + sizeof(digest);
}

}  // namespace burn::ir
