#include "client/record/upload_table.h"

#include <random>

#include <xxhash.h>
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>  // the widest vectors of this machine: 29 GB/s instead of 9 where this was written
#endif

namespace burn::client {

UploadTable::UploadTable() : seed_((std::uint64_t{std::random_device{}()} << 32) | std::random_device{}()) {}

UploadTable::Key UploadTable::digest(const proto::HostTensor& tensor) const {
  const auto hash = XXH3_128bits_withSeed(tensor.bytes.data(), tensor.bytes.size(), seed_);
  return {hash.low64, hash.high64, tensor.type};
}

Ptr<Storage> UploadTable::find(const Key& key) const {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return {};
  // Without owners it is input of a program being recorded, which gives it away.
  return found->second->owners.load() == 0 ? Ptr<Storage>{} : Ptr<Storage>{found->second};
}

void UploadTable::add(const Key& key, Storage& storage) {
  if (by_key_.size() >= kMostEntries) return;
  auto& entry = by_key_[key];
  if (entry != nullptr) {  // one that is given away, or another thread's that came first: the newer one lives longer
    entry->is_known_upload = false;
    by_storage_.erase(entry);
  }
  entry = &storage;
  by_storage_[&storage] = key;
  storage.is_known_upload = true;
}

void UploadTable::remove(Storage& storage) {
  const auto found = by_storage_.find(&storage);
  by_key_.erase(found->second);
  by_storage_.erase(found);
  storage.is_known_upload = false;
}

}  // namespace burn::client
