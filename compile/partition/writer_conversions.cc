// How values change their form: by collectives along one axis of the mesh after the other.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "compile/partition/writer.h"

namespace burn::compile::partition {
namespace {

// What makes parts smaller comes before what makes them larger.
int turn_of(const Form& from, const Form& to) {
  if (to.is_split()) return from.is_split() ? 2 : 0;
  return from.is_partial ? 1 : 3;
}

}  // namespace

Writer::Step Writer::next_step(const MeshForm& from, const MeshForm& to) {
  Step best{ir::MeshAxis::data, nullptr};
  for (const auto axis : kMeshAxes) {
    const auto &here = from.along(axis), &there = to.along(axis);
    if (here == there || !splits_distinct_dims(from.with(axis, there))) continue;
    if (!best.to || turn_of(here, there) < turn_of(from.along(best.axis), *best.to)) best = {axis, &there};
  }
  // Each axis is to split the dim that the other one splits: one of them is gathered first.
  return best.to ? best : Step{ir::MeshAxis::model, &kWholeForm};
}

double Writer::bytes_between(const ir::TensorType& type, const MeshForm& from, const MeshForm& to) const {
  double bytes = 0;
  for (const auto axis : kMeshAxes)
    bytes += conversion_bytes(type, from.along(axis), to.along(axis), plan_.mesh.size(axis));
  return bytes;
}

Result<const Writer::Refs*> Writer::in_form(ir::Ref value, const MeshForm& form) {
  auto& forms = written(value);
  if (forms.empty() && !value.is_input()) {
    const auto v = static_cast<std::uint32_t>(value.index());
    if (narrowings_.contains(v)) {
      BURN_RETURN_IF_ERROR(write_narrowing(v));
    } else if (const auto waits = waiting_.find(v); waits != waiting_.end()) {
      const auto n = waits->second;
      waiting_.erase(waits);
      BURN_RETURN_IF_ERROR(write_numbered(n));
    }
  }
  const auto find = [&](const MeshForm& wanted) { return std::ranges::find(forms, wanted, &Written::form); };
  if (const auto found = find(form); found != forms.end()) return &found->refs;
  if (forms.empty()) return internal_error("a value is read along one axis of the mesh that was not written");
  const auto& type = program_.type_of(value);
  const auto cost = [&](const Written& from) { return bytes_between(type, from.form, form); };
  auto at = static_cast<std::size_t>(
      std::ranges::min_element(forms, [&](const Written& a, const Written& b) { return cost(a) < cost(b); }) -
      forms.begin());
  while (forms[at].form != form) {
    const auto step = next_step(forms[at].form, form);
    const auto next = forms[at].form.with(step.axis, *step.to);
    auto found = find(next);
    if (found == forms.end()) {
      BURN_TRY(auto refs, convert(forms[at], step, type));
      forms.push_back({next, std::move(refs)});
      found = forms.end() - 1;
    }
    at = static_cast<std::size_t>(found - forms.begin());
  }
  return &forms[at].refs;
}

Result<Writer::Refs> Writer::convert(const Written& from, const Step& step, const ir::TensorType& type) {
  const auto& here = from.form.along(step.axis);
  if (here.is_whole()) {
    return step.to->is_partial ? write_once(from, step.axis, type) : write_slices(from, step, type);
  }
  if (!step.to->is_partial) return write_collective(from, step, type);
  Written whole{from.form.with(step.axis, kWholeForm), {}};
  BURN_TRY(whole.refs, write_collective(from, {step.axis, &kWholeForm}, type));
  return write_once(whole, step.axis, type);
}

Result<Writer::Refs> Writer::write_collective(const Written& from, const Step& step, const ir::TensorType& type) {
  const auto& here = from.form.along(step.axis);
  const auto &given = here.layout, &taken = step.to->layout;
  const auto group = group_of(step.axis);
  const bool is_all_reduce = here.is_partial && taken.is_whole();
  const auto sent = part_of(type, from.form, 0);  // parts differ a little; the buckets are those of all members
  const auto bucket = is_all_reduce ? next_bucket(step.axis, here.fn, sent) : 0;
  if (!is_all_reduce) close_buckets();
  const auto op_of = [&](int rank) -> ir::Op {
    if (is_all_reduce) return ir::AllReduce{here.fn, group, bucket};
    if (here.is_partial) return ir::ReduceScatter{here.fn, taken.dim, sizes_of(taken.bounds), rank, group};
    if (taken.is_whole()) return ir::AllGather{given.dim, sizes_of(given.bounds), rank, group};
    return ir::AllToAll{given.dim, sizes_of(given.bounds), taken.dim, sizes_of(taken.bounds), rank, group};
  };
  Refs refs;
  for (int m = 0; m < members_; ++m) {
    const auto op = op_of(plan_.mesh.rank(step.axis, m));
    BURN_TRY(const auto ref, add(m, op, {from.refs[static_cast<std::size_t>(m)]}));
    refs.push_back(ref);
    if (!is_all_reduce) continue;
    auto& buckets = bucket_of_[static_cast<std::size_t>(m)];
    buckets.resize(static_cast<std::size_t>(ref.index()) + 1);
    buckets.back() = bucket;
  }
  auto bytes = conversion_bytes(type, here, *step.to, plan_.mesh.size(step.axis));
  const auto other = step.axis == ir::MeshAxis::data ? ir::MeshAxis::model : ir::MeshAxis::data;
  if (from.form.along(other).is_split()) bytes /= plan_.mesh.size(other);
  conversions_.push_back({std::string{name(op_of(0))}, static_cast<std::int64_t>(std::ceil(bytes)), site_, step.axis});
  return refs;
}

Result<Writer::Refs> Writer::write_slices(const Written& from, const Step& step, const ir::TensorType& type) {
  Refs refs;
  const int rank = type.shape.rank();
  const auto to = from.form.with(step.axis, *step.to);
  const auto& layout = step.to->layout;
  for (int m = 0; m < members_; ++m) {
    ir::Slice slice{ir::Dims::filled(rank, 0), part_of(type, to, m).shape, ir::Dims::filled(rank, 1)};
    slice.starts[layout.dim] = layout.bounds[static_cast<std::size_t>(plan_.mesh.rank(step.axis, m))];
    BURN_TRY(const auto ref, add(m, slice, {from.refs[static_cast<std::size_t>(m)]}));
    refs.push_back(ref);
  }
  return refs;
}

Result<Writer::Refs> Writer::write_once(const Written& from, ir::MeshAxis axis, const ir::TensorType& type) {
  Refs refs;
  for (int m = 0; m < members_; ++m) {
    auto ref = from.refs[static_cast<std::size_t>(m)];
    if (plan_.mesh.rank(axis, m) > 0) {
      BURN_TRY(ref, add_number(m, part_of(type, from.form, m), 0));
    }
    refs.push_back(ref);
  }
  return refs;
}

}  // namespace burn::compile::partition
