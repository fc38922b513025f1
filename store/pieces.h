// A tensor of a record that may be asked for in pieces, so that neither a device nor a client has to hold a large one
// at once to write it.
#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <utility>

#include "client/tensor/data.h"

namespace burn::store {

// A Record::Source's `read` that is one of these is asked for its pieces by Record::save(), and for the whole by each
// other look at the record. It may be called by any thread.
struct ReadInPieces {
  static constexpr std::size_t kPieceBytes = std::size_t{16} << 20;  // of one piece at most, but for the tensor's rest

  std::function<std::future<TensorData>()> whole;
  std::size_t count = 1;
  // Piece k of `count`: of the tensor's dtype; the elements of all pieces, one after the other, are the tensor's.
  std::function<std::future<TensorData>(std::size_t k)> piece;

  std::future<TensorData> operator()() const { return whole(); }
};

}  // namespace burn::store
