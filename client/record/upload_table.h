// What was uploaded and is still there, by its contents: the same weights or batch need not travel twice.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "client/value.h"

namespace burn::client {

// Guarded by its device's lock, except digest().
class UploadTable {
 public:
  // Smaller uploads are not worth a hash.
  static constexpr std::size_t kLeastBytes = 4096;
  // Nor are larger ones on their way through shared memory: to read them for the hash takes as long as to send them.
  static constexpr std::size_t kMostBytesInMemory = std::size_t{1} << 20;
  // Beyond it nothing is remembered until something is released.
  static constexpr std::size_t kMostEntries = 1 << 16;

  // 128 bits of XXH3, from a seed of this table alone: nobody can prepare two contents that it takes for one. Bytes
  // equal in hash, dtype and shape are taken for equal.
  struct Key {
    std::uint64_t low = 0, high = 0;
    ir::TensorType type;
    friend bool operator==(const Key&, const Key&) = default;
  };

  UploadTable();
  Key digest(const proto::HostTensor& tensor) const;

  // The tensor with these contents, held by the result; empty if there is none that will last.
  Ptr<Storage> find(const Key& key) const;
  void add(const Key& key, Storage& storage);
  void remove(Storage& storage);  // Requires: storage.is_known_upload

 private:
  struct Hash {
    std::size_t operator()(const Key& key) const { return static_cast<std::size_t>(key.low); }
  };

  const std::uint64_t seed_;
  std::unordered_map<Key, Storage*, Hash> by_key_;
  std::unordered_map<Storage*, Key> by_storage_;
};

}  // namespace burn::client
