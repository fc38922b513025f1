// Uploaded tensors that still exist, by contents: the same weights or batch need not be sent twice.
//
// Most uploads are batches, which are dropped before the next one: hashing all of them would take a tenth of the time
// that a small step costs its thread. So the bytes of the last few uploads are kept, and compared up to the first
// difference. An upload is identified by its digest instead if it is large, if its bytes are a part of a larger block,
// or if a tensor of its size already is.
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
  // Smaller uploads are not looked up.
  static constexpr std::size_t kMinBytes = 4096;
  // Nor are larger ones if they are sent through shared memory: to hash them takes as long as to send them.
  static constexpr std::size_t kMaxBytesInMemory = std::size_t{1} << 20;
  // Beyond this number, nothing is added until a tensor is released.
  static constexpr std::size_t kMaxEntries = 1 << 16;
  // At most so many uploads, of at most so many bytes each, are kept with their bytes.
  static constexpr std::size_t kMaxHeld = 8, kMaxHeldBytes = std::size_t{1} << 20;

  // 128 bits of XXH3 with a random seed of this table, so that a collision cannot be prepared. Contents of equal hash,
  // dtype, shape and options are taken for equal; a tensor with a batch axis differs from one without.
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

  // The tensor with these contents, written with these options, which the result then owns; empty if there is none, or
  // only one without an owner. The first overload searches the uploads kept with their bytes.
  Ptr<Storage> find(const proto::HostTensor& tensor, proto::WriteOptions options) const;
  Ptr<Storage> find(const Key& key) const;
  // Whether the digest is needed to find or to add this tensor.
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
  std::unordered_map<std::size_t, std::size_t> digested_;  // by size in bytes, how many tensors are known by digest
};

}  // namespace burn::client
