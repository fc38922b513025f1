// A tensor of a record that can be read in pieces, so that neither a device nor a client has to hold a large one in
// memory at once to write it.
#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <utility>

#include "client/tensor/data.h"

namespace burn::store {

// A callable for Record::Source::read. Record::save() reads its pieces one by one; every other access to the record
// reads the whole. Called by any thread.
struct ReadInPieces {
  static constexpr std::size_t kPieceBytes = std::size_t{16} << 20;  // of each piece; the last may be smaller

  std::function<std::future<TensorData>()> whole;
  std::size_t count = 1;
  // Piece k of `count`, of the tensor's dtype. The elements of all pieces, concatenated, are those of the tensor.
  std::function<std::future<TensorData>(std::size_t k)> piece;

  std::future<TensorData> operator()() const { return whole(); }
};

}  // namespace burn::store
