// The poisoned tensors of a session, as ranges of ids: one run may poison a million outputs for one reason, which is
// one entry.
#pragma once

#include <cstdint>
#include <map>

#include "base/failure.h"
#include "proto/session.h"

namespace burn::serving {

// Used by the executor only.
class PoisonedTensors {
 public:
  // Adds `count` ids from `first` on. Extends the preceding range if it has the same reason. Requires: none of the ids
  // is in use.
  void add(proto::TensorId first, std::uint64_t count, const Failure& why);
  // The reason; null if the id is not poisoned.
  const Failure* find(proto::TensorId id) const;
  // Whether any of `count` ids from `first` on is poisoned.
  bool overlaps(proto::TensorId first, std::uint64_t count) const;
  // False: it is not poisoned. Splits the range if the id is in its middle.
  bool remove(proto::TensorId id);
  std::size_t ranges() const { return ranges_.size(); }
  bool empty() const { return ranges_.empty(); }
  void clear() { ranges_.clear(); }

 private:
  struct Range {
    std::uint64_t count;
    Failure why;
  };
  using Ranges = std::map<proto::TensorId, Range>;  // by the first id

  Ranges::const_iterator range_of(proto::TensorId id) const;  // end(): not poisoned

  Ranges ranges_;
};

}  // namespace burn::serving
