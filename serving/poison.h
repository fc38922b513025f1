// The tensors of a session that were never computed, by ranges of their ids: one run may fail a million outputs for one
// reason, and that is one entry.
#pragma once

#include <cstdint>
#include <map>

#include "base/failure.h"
#include "proto/session.h"

namespace burn::serving {

// Of the executor.
class PoisonedTensors {
 public:
  // `count` ids from `first` on, none of which is known, fail for this reason. Next to others that do, they are one
  // range.
  void add(proto::TensorId first, std::uint64_t count, const Failure& why);
  // Null: it is not one of them.
  const Failure* find(proto::TensorId id) const;
  // Whether any of `count` ids from `first` on is one of them.
  bool overlaps(proto::TensorId first, std::uint64_t count) const;
  // False: it is not one of them. In the middle of a range this makes two of it.
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

  Ranges::const_iterator range_of(proto::TensorId id) const;  // end: in none

  Ranges ranges_;
};

}  // namespace burn::serving
