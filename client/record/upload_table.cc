#include "client/record/upload_table.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "base/xxh3.h"

namespace burn::client {
namespace {

// Whether the tensor has an owner. If not, it is an input of an open recording, which will donate it.
bool will_last(const Storage& storage) { return storage.owners.load() > 0; }

bool are_equal(const SharedBytes& a, const SharedBytes& b) {
  return a.size() == b.size() && (a.data() == b.data() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

}  // namespace

UploadTable::UploadTable() : seed_((std::uint64_t{std::random_device{}()} << 32) | std::random_device{}()) {}

UploadTable::Key UploadTable::digest(const SharedBytes& bytes, const ir::TensorType& type,
                                     proto::WriteOptions options) const {
  const auto hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed_);
  return {hash.low64, hash.high64, type, options};
}

Ptr<Storage> UploadTable::find(const proto::HostTensor& tensor, proto::WriteOptions options) const {
  const auto found = std::ranges::find_if(held_, [&](const Held& held) {
    return will_last(*held.storage) && held.storage->type == tensor.type && held.options == options &&
           are_equal(held.bytes, tensor.bytes);
  });
  return found == held_.end() ? Ptr<Storage>{} : Ptr<Storage>{found->storage};
}

Ptr<Storage> UploadTable::find(const Key& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() || !will_last(*found->second) ? Ptr<Storage>{} : Ptr<Storage>{found->second};
}

bool UploadTable::needs_digest(const proto::HostTensor& tensor) const {
  const auto size = tensor.bytes.size();
  return size > kMaxHeldBytes || !tensor.bytes.is_vector() || digested_.contains(size);
}

void UploadTable::add(const SharedBytes& bytes, proto::WriteOptions options, Storage& storage) {
  if (held_.size() >= kMaxHeld) {  // the oldest one is probably long-lived: keep its digest only
    const Held oldest = std::move(held_.front());
    held_.erase(held_.begin());
    oldest.storage->is_known_upload = false;
    add(digest(oldest.bytes, oldest.storage->type, oldest.options), *oldest.storage);
  }
  held_.push_back({bytes, options, &storage});
  storage.is_known_upload = true;
}

void UploadTable::add(const Key& key, Storage& storage) {
  if (by_key_.size() >= kMaxEntries) return;
  // An entry whose tensor will be donated, or that another thread has added meanwhile: the newer tensor lives longer.
  if (const auto found = by_key_.find(key); found != by_key_.end()) remove(*found->second);
  storage.is_known_upload = true;  // first: remove() also works if an allocation below fails
  auto& alike = digested_[storage.type.num_bytes()];
  by_storage_.emplace(&storage, key);
  ++alike;
  by_key_.emplace(key, &storage);
}

void UploadTable::remove(Storage& storage) {
  storage.is_known_upload = false;
  const auto found = by_storage_.find(&storage);
  if (found == by_storage_.end()) {
    std::erase_if(held_, [&](const Held& held) { return held.storage == &storage; });
    return;
  }
  if (const auto mine = by_key_.find(found->second); mine != by_key_.end() && mine->second == &storage)
    by_key_.erase(mine);
  by_storage_.erase(found);
  const auto alike = digested_.find(storage.type.num_bytes());
  if (--alike->second == 0) digested_.erase(alike);
}

}  // namespace burn::client
