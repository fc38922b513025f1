// What was uploaded and is still there, by its contents: the same weights or batch need not travel twice.
//
// Most uploads are batches, which are gone before the next one comes: hashing them all would be a tenth of what a small
// step costs its thread. So the bytes of the last few are held and compared, which ends where they differ; what is
// large or a part of something, or comes while tensors of its size are known so, is known by its digest.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "client/value.h"

namespace burn::client {

// Guarded by its device's lock, except digest().
class UploadTable {
 public:
  // Smaller uploads are not worth a look.
  static constexpr std::size_t kMinBytes = 4096;
  // Nor are larger ones on their way through shared memory: to read them for the hash takes as long as to send them.
  static constexpr std::size_t kMaxBytesInMemory = std::size_t{1} << 20;
  // Beyond it nothing is remembered until something is released.
  static constexpr std::size_t kMaxEntries = 1 << 16;
  // Whose bytes are held: so many, of so many bytes at most.
  static constexpr std::size_t kMaxHeld = 8, kMaxHeldBytes = std::size_t{1} << 20;

  // 128 bits of XXH3, from a seed of this table alone: two contents that it takes for one cannot be prepared. Bytes
  // equal in hash, dtype and shape are taken for equal. What is marked as a batch is another tensor than what is not.
  struct Key {
    std::uint64_t low = 0, high = 0;
    ir::TensorType type;
    proto::WriteOptions options;
    friend bool operator==(const Key&, const Key&) = default;
  };

  UploadTable();
  Key digest(const proto::HostTensor& tensor, proto::WriteOptions options) const {
    return digest(tensor.bytes, tensor.type, options);
  }

  // The tensor with these contents, written with these options, held by the result; empty if there is none that will
  // last. By bytes: among those whose bytes are held.
  Ptr<Storage> find(const proto::HostTensor& tensor, proto::WriteOptions options) const;
  Ptr<Storage> find(const Key& key) const;
  // Whether it takes the digest to find this tensor, or to add it.
  bool needs_digest(const proto::HostTensor& tensor) const;
  // Requires: not needs_digest() of the tensor.
  void add(const SharedBytes& bytes, proto::WriteOptions options, Storage& storage);
  void add(const Key& key, Storage& storage);
  void remove(Storage& storage);  // Requires: storage.is_known_upload

 private:
  struct Held {
    SharedBytes bytes;
    proto::WriteOptions options;
    Storage* storage;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const { return static_cast<std::size_t>(key.low); }
  };

  Key digest(const SharedBytes& bytes, const ir::TensorType& type, proto::WriteOptions options) const;

  const std::uint64_t seed_;
  std::vector<Held> held_;  // the oldest first
  std::unordered_map<Key, Storage*, Hash> by_key_;
  std::unordered_map<Storage*, Key> by_storage_;
  std::unordered_map<std::size_t, std::size_t> digested_;  // how many tensors of so many bytes are known by digest
};

}  // namespace burn::client
