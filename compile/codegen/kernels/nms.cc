// Non-maximum suppression, in tiles of boxes: one thread goes through a tile and leaves those boxes that none before
// them in the tile overlaps; then each box behind the tile is compared, by a thread of its own, with those that are
// left.
#include "compile/codegen/kernel/convert.h"
#include "compile/codegen/kernels/lines.h"
#include "compile/codegen/kernels/lower.h"
#include "compile/codegen/kernels/tile.h"

namespace burn::compile::kernels {
namespace {

using kernel::Value;

constexpr std::int64_t kTile = 64;  // boxes

struct Box {
  Value x1, y1, x2, y2, area;
};

class Suppression {
 public:
  // `boxes` [lists, n, 4] and `kept` [lists, n], row-major.
  Suppression(Emitter& emit, const View& boxes, const View& kept, std::int64_t n, double threshold)
      : emit_(emit), boxes_(boxes), kept_(kept), n_(n), lists_(kept.num_elements() / n), threshold_(threshold) {}

  // At first, all are kept.
  void keep_all() {
    kernel::Writer writer(256);
    Arguments arguments(writer, index());
    const auto kept = arguments.address(kept_);
    const auto position = arguments.position();
    writer.when(position < arguments.number(lists_ * n_),
                [&] { writer.store(kept, position, writer.constant(ir::DType::bool_, std::int64_t{1})); });
    arguments.launch(emit_, lists_ * n_);
  }

  // Those of the tile from box `begin` on, among each other.
  void resolve(std::int64_t begin) {
    kernel::Writer writer(32);
    Arguments arguments(writer, index());
    const Memory memory{arguments.address(boxes_), arguments.address(kept_)};
    const Value list = arguments.position(), n = arguments.number(n_);
    const Value first = arguments.number(begin), end = arguments.number(std::min(n_, begin + kTile));
    writer.when(list < arguments.number(lists_), [&] {
      writer.loop(first, end, arguments.constant(1), [&](Value i) {
        writer.when(writer.load(memory.kept, list * n + i), [&] {
          const Box box = load(writer, memory, list * n + i);
          writer.loop(i + 1, end, arguments.constant(1), [&](Value j) {
            writer.when(overlap(box, load(writer, memory, list * n + j)), [&] {
              writer.store(memory.kept, list * n + j, writer.constant(ir::DType::bool_, std::int64_t{0}));
            });
          });
        });
      });
    });
    arguments.launch(emit_, lists_);
  }

  // Those behind the tile from box `begin` on.
  void suppress_behind(std::int64_t begin) {
    const auto behind = n_ - (begin + kTile);
    kernel::Writer writer(64);
    Arguments arguments(writer, index());
    const Memory memory{arguments.address(boxes_), arguments.address(kept_)};
    const Value position = arguments.position(), n = arguments.number(n_), count = arguments.number(behind);
    const Value first = arguments.number(begin), end = arguments.number(begin + kTile);
    writer.when(position < arguments.number(lists_ * behind), [&] {
      const Value base = position / count * n, own = base + end + position % count;
      writer.when(writer.load(memory.kept, own), [&] {
        const Box box = load(writer, memory, own);
        const auto is_kept = writer.variable(writer.constant(ir::DType::bool_, std::int64_t{1}));
        writer.loop(first, end, arguments.constant(1), [&](Value j) {
          const Value overlaps = overlap(load(writer, memory, base + j), box);
          is_kept.set(is_kept.get() && !(writer.load(memory.kept, base + j) && overlaps));
          writer.break_when(!is_kept.get());
        });
        writer.store(memory.kept, own, is_kept.get());
      });
    });
    arguments.launch(emit_, lists_ * behind);
  }

 private:
  struct Memory {
    kernel::Memory boxes, kept;
  };

  // Of what is counted: numbers of boxes, and the threads of a grid.
  ir::DType index() const { return index_type(4 * lists_ * n_); }

  static Box load(kernel::Writer& writer, const Memory& memory, Value at) {
    const auto type = ir::compute_dtype(memory.boxes.dtype);
    const auto number = [&](int k) { return kernel::cast(type, writer.load(memory.boxes, at * 4 + k)); };
    const Value x1 = number(0), y1 = number(1), x2 = number(2), y2 = number(3);
    return {x1, y1, x2, y2, (x2 - x1) * (y2 - y1)};
  }

  // Whether they share more than `threshold_` of their union.
  Value overlap(const Box& a, const Box& b) const {
    const Value width = select(a.x2 < b.x2, a.x2, b.x2) - select(a.x1 < b.x1, b.x1, a.x1);
    const Value height = select(a.y2 < b.y2, a.y2, b.y2) - select(a.y1 < b.y1, b.y1, a.y1);
    const Value shared = select(width < 0, 0, width) * select(height < 0, 0, height);
    return shared / (a.area + b.area - shared) > threshold_;
  }

  Emitter& emit_;
  View boxes_, kept_;
  std::int64_t n_, lists_;
  double threshold_;
};

}  // namespace

Status lower(Emitter& emit, const ir::Nms& op, const NodeInPlan& at) {
  const View kept = emit.result(at.result());
  if (kept.num_elements() == 0) return {};
  const View boxes = emit.contiguous(emit.read(at.operand(0)));
  const auto n = kept.shape[kept.rank() - 1];
  Suppression suppression(emit, boxes, kept, n, op.iou_threshold);
  suppression.keep_all();
  for (std::int64_t begin = 0; begin < n; begin += kTile) {
    suppression.resolve(begin);
    if (begin + kTile < n) suppression.suppress_behind(begin);
  }
  return {};
}

}  // namespace burn::compile::kernels
