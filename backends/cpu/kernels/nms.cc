// Nms: boxes in tiles. The boxes of a tile are compared with the boxes kept so far, on several threads, and then with
// the boxes before them in the tile.
#include <algorithm>

#include "backends/cpu/kernels/cast.h"
#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/runtime/parallel.h"
#include "backends/cpu/runtime/run.h"
#include "backends/interrupt.h"
#include "ir/semantics/convert.h"

namespace burn::backends::cpu {
namespace {

constexpr std::int64_t kTile = 256;  // boxes

template <typename T>
struct Box {
  T x1, y1, x2, y2, area;
};

// Boxes whose numbers are stored by kind, one kind after the other, for loops over vectors.
template <typename T>
class Boxes {
 public:
  static constexpr std::int64_t kColumns = 5;  // x1, y1, x2, y2, area

  // `room`: kColumns * most elements.
  Boxes(T* room, std::int64_t most) : room_(room), most_(most) {}

  std::int64_t size() const { return size_; }
  void clear() { size_ = 0; }
  void add(const Box<T>& box) {
    T* to = room_ + size_++;
    for (const T number : {box.x1, box.y1, box.x2, box.y2, box.area}) {
      *to = number;
      to += most_;
    }
  }

  // Whether one of them overlaps the box by more than `threshold` of the union.
  bool overlap(const Box<T>& box, T threshold) const {
    const T *x1 = room_, *y1 = x1 + most_, *x2 = y1 + most_, *y2 = x2 + most_, *area = y2 + most_;
    for (std::int64_t k = 0; k < size_; ++k) {
      const T left = x1[k] < box.x1 ? box.x1 : x1[k], right = box.x2 < x2[k] ? box.x2 : x2[k];
      if (!(left < right)) continue;  // most are apart, and NaN overlaps none
      const T top = y1[k] < box.y1 ? box.y1 : y1[k], bottom = box.y2 < y2[k] ? box.y2 : y2[k];
      if (!(top < bottom)) continue;
      const T shared = (right - left) * (bottom - top);
      if (shared / (area[k] + box.area - shared) > threshold) return true;
    }
    return false;
  }

 private:
  T* room_;
  std::int64_t most_, size_ = 0;
};

template <typename T>
Box<T> box_at(const T* x) {
  return {x[0], x[1], x[2], x[3], (x[2] - x[0]) * (x[3] - x[1])};
}

// One list of n boxes.
template <typename T>
void keep_boxes(const T* x, bool* kept, std::int64_t n, T threshold, T* room) {
  T room_of_tile[Boxes<T>::kColumns * kTile];
  Boxes<T> before(room, n), in_tile(room_of_tile, kTile);
  for (std::int64_t begin = 0; begin < n; begin += kTile) {
    const auto end = std::min(begin + kTile, n);
    parallel_for(end - begin, kGrain / (8 * (before.size() + 1)) + 1, [&](std::int64_t first, std::int64_t last) {
      InterruptMeter meter;
      for (auto i = begin + first; i < begin + last; ++i) {
        meter.add(before.size());
        kept[i] = !before.overlap(box_at(x + 4 * i), threshold);
      }
    });
    in_tile.clear();
    InterruptMeter meter;
    for (auto i = begin; i < end; ++i) {
      meter.add(in_tile.size());
      const auto box = box_at(x + 4 * i);
      kept[i] = kept[i] && !in_tile.overlap(box, threshold);
      if (kept[i]) in_tile.add(box);
    }
    for (auto i = begin; i < end; ++i) {
      if (kept[i]) before.add(box_at(x + 4 * i));
    }
  }
}

template <typename T>
Status keep_all(Run& run, const Array& boxes, Array& kept, double threshold) {
  const auto n = boxes.shape()[boxes.rank() - 2], lists = kept.num_elements() / n;
  const auto per_list = Boxes<T>::kColumns * n;
  BURN_TRY(const auto room, run.pool.allocate(static_cast<std::size_t>(lists * per_list) * sizeof(T)));
  const auto* x = boxes.as<T>();
  auto* to = kept.as<bool>();
  const auto one = [&](std::int64_t list) {
    keep_boxes(x + list * n * 4, to + list * n, n, static_cast<T>(threshold),
               reinterpret_cast<T*>(room->data()) + list * per_list);
  };
  if (lists == 1) {  // its tiles are spread over the threads
    one(0);
    return {};
  }
  parallel_for(lists, kGrain / (4 * n * n + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto list = begin; list < end; ++list) one(list);
  });
  return {};
}

}  // namespace

namespace kernels {

Result<Kernel> prepare(const ir::Nms& op, const Signature& signature) {
  return Kernel(
      [threshold = op.iou_threshold, type = signature.result](Run& run, std::span<Array> operands) -> Result<Array> {
        BURN_TRY(const Array cast_boxes, cast(run, operands[0], ir::compute_dtype(operands[0].dtype())));
        BURN_TRY(const Array boxes, contiguous(run, cast_boxes));
        BURN_TRY(Array kept, run.allocate(type));
        if (kept.num_elements() == 0) return kept;
        const bool is_double = boxes.dtype() == ir::DType::f64;
        BURN_RETURN_IF_ERROR(is_double ? keep_all<double>(run, boxes, kept, threshold)
                                       : keep_all<float>(run, boxes, kept, threshold));
        return kept;
      });
}

}  // namespace kernels
}  // namespace burn::backends::cpu
