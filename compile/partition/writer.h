// Writes the programs of all members at once, node by node, with the collectives by which values change their form.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compile/partition/member_programs.h"
#include "compile/partition/mesh_choice.h"
#include "compile/partition/mesh_plan.h"

namespace burn::compile::partition {

// A collective in the programs of all members.
struct Conversion {
  std::string kind;        // the op's name: "all_reduce"
  std::int64_t bytes = 0;  // that a member sends, on average
  ir::CallSite site;       // of the node that it was made for
  ir::MeshAxis axis = ir::MeshAxis::data;
  friend bool operator==(const Conversion& a, const Conversion& b) { return a.kind == b.kind && a.bytes == b.bytes; }
};

// All-reduces of one group, function and dtype get the same bucket as long as nothing reads their results and no other
// collective follows, up to so many bytes: the first bucket is small, so that sending begins early. One of their kind
// that stands alone has a bucket of its own. Buckets of several dtypes are open at the same time, as gradients of a
// model in mixed precision come in turns: bf16 of a weight, f32 of its bias. A conversion or a view of such a result is
// written where it is first read, or the conversion to f32 that follows each gradient in bf16 would end its bucket.
inline constexpr std::int64_t kFirstBucketBytes = std::int64_t{1} << 20, kBucketBytes = std::int64_t{25} << 20;

class Writer {
 public:
  // The plan outlives the writer.
  Writer(const ir::Program& program, const MeshPlan& plan);

  // Writes all nodes. Errors: those of ProgramBuilder, as where a member's program has too many nodes.
  Status write();
  // Once, after write(). Errors: as write().
  Result<std::vector<std::shared_ptr<const ir::Program>>> finish();
  std::vector<Conversion> take_conversions() { return std::move(conversions_); }

 private:
  using Refs = std::vector<ir::Ref>;  // by member
  struct Written {
    MeshForm form;
    Refs refs;
  };
  struct Step {
    ir::MeshAxis axis;
    const Form* to;
  };

  bool is_settled(std::size_t value, ir::MeshAxis axis) const;

  Status write_numbered(std::size_t n);
  Status write_node(std::size_t n);
  // A node that only converts or views a result of an open bucket, or what such a node gives: it can be written later.
  bool can_wait(std::size_t n) const;
  bool is_of_open_bucket(const Written& written) const;
  Status write_waiting();  // all of them, and all narrowings
  Status write_narrowing(std::uint32_t value);
  // Brings a value into the form in which readers find it, from each in which it was given.
  Status settle(std::size_t value);
  Status write_choice(const ir::Node& node, const MeshChoice& choice);
  Status write_wide(const ir::Node& node, const Refs& operands, const MeshChoice& choice);
  Status write_commit(const ir::Node& node);
  // The values so far in all forms in which they are wanted: after a Commit nothing should wait for other members.
  Status convert_pending();
  // Whether another member along an axis computes it, and this one has zeros.
  bool has_zeros(const MeshChoice& choice, int member) const;
  ir::TensorType part_of(const ir::TensorType& whole, const MeshForm& form, int member) const;

  // --- writer_conversions.cc

  // A value in a form, which is written now if it is not there yet.
  Result<const Refs*> in_form(ir::Ref value, const MeshForm& form);
  // The next change along one axis on the way: what makes parts smaller comes first.
  static Step next_step(const MeshForm& from, const MeshForm& to);
  double bytes_between(const ir::TensorType& type, const MeshForm& from, const MeshForm& to) const;
  Result<Refs> convert(const Written& from, const Step& step, const ir::TensorType& type);
  Result<Refs> write_collective(const Written& from, const Step& step, const ir::TensorType& type);
  Result<Refs> write_slices(const Written& from, const Step& step, const ir::TensorType& type);
  // The value of the first member along the axis there, and zeros on the others.
  Result<Refs> write_once(const Written& from, ir::MeshAxis axis, const ir::TensorType& type);

  // Whether each value's parts are of one size. Members whose parts differ may fuse otherwise, so that something reads
  // a result of a bucket on one member before the bucket is full, and on another one behind it.
  static bool has_equal_parts(const MeshPlan& plan);
  // The bucket of an all-reduce that is written next.
  std::int64_t next_bucket(ir::MeshAxis axis, ir::ReduceFn fn, const ir::TensorType& type);
  void close_buckets() { open_buckets_.clear(); }
  // Closes an open bucket where a result of it is read.
  void note_reads(int member, std::span<const ir::Ref> operands);

  Result<ir::Ref> add(int member, const ir::Op& op, std::span<const ir::Ref> operands);
  Result<ir::Ref> add(int member, const ir::Op& op, std::initializer_list<ir::Ref> operands) {
    return add(member, op, std::span(operands.begin(), operands.size()));
  }
  // A constant in every element, by its bits (ir::Constant::of_bits).
  Result<ir::Ref> add_number(int member, const ir::TensorType& type, std::int64_t bits);

  std::vector<Written>& written(ir::Ref ref) {
    return (ref.is_input() ? inputs_ : values_)[static_cast<std::size_t>(ref.index())];
  }

  const ir::Program& program_;
  const MeshPlan& plan_;
  const int members_;
  MemberPrograms programs_;
  std::vector<std::vector<Written>> inputs_, values_;
  const WantedForms wanted_;
  std::vector<ir::Ref> pending_;  // values that are written, but not in all forms
  // What is written where it is first read, by the value that it gives: nodes, and sums that were made in a wider dtype
  // and have no value of their own in the dtype that is wanted.
  std::map<std::uint32_t, std::size_t> waiting_;
  std::map<std::uint32_t, Written> narrowings_;
  ir::CallSite site_;  // of the node that is written
  bool recompute_ = false;
  std::vector<Conversion> conversions_;

  struct Bucket {
    std::int64_t number = 0, bytes = 0;
  };
  std::map<std::tuple<ir::MeshAxis, ir::ReduceFn, ir::DType>, Bucket> open_buckets_;
  std::int64_t buckets_ = 0;                          // so far
  std::vector<std::vector<std::int64_t>> bucket_of_;  // by member and value; values that are not there are of none
  const bool has_equal_parts_;                        // else no two all-reduces share a bucket
};

}  // namespace burn::compile::partition
