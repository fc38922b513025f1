#include "compile/partition/writer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "ir/dispatch.h"
#include "ir/node_errors.h"
#include "ir/op_copy.h"
#include "ir/semantics/combine.h"

namespace burn::compile::partition {
namespace {

// What max and min begin from, in the bits of ir::Constant.
std::int64_t identity_bits(ir::ReduceFn fn, ir::DType dtype) {
  if (ir::is_floating(dtype)) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double identity = fn == ir::ReduceFn::max ? -kInfinity : kInfinity;
    return std::bit_cast<std::int64_t>(identity);
  }
  return ir::dispatch(dtype, [fn]<typename T>() -> std::int64_t {
    if constexpr (std::is_integral_v<T>) {
      const T number = fn == ir::ReduceFn::max ? ir::Max::identity<T>() : ir::Min::identity<T>();
      return static_cast<std::int64_t>(number);
    } else {
      return 0;
    }
  });
}

// Forms that are there for good.
const Form& partial_form(ir::ReduceFn fn) {
  static const Form forms[] = {Form::partial(ir::ReduceFn::sum), Form::partial(ir::ReduceFn::prod),
                               Form::partial(ir::ReduceFn::max), Form::partial(ir::ReduceFn::min)};
  return *std::ranges::find(forms, fn, &Form::fn);
}

}  // namespace

Writer::Writer(const ir::Program& program, const MeshPlan& plan)
    : program_(program),
      plan_(plan),
      members_(plan.mesh.members()),
      programs_(members_),
      inputs_(program.inputs.size()),
      values_(program.values.size()),
      wanted_(program, plan),
      bucket_of_(static_cast<std::size_t>(members_)),
      has_equal_parts_(has_equal_parts(plan)) {
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const auto& [type, donated] = program.inputs[i];
    const auto form = form_of_input(plan, i);
    Refs refs;
    for (int m = 0; m < members_; ++m) refs.push_back(programs_.add_input(m, part_of(type, form, m), donated));
    inputs_[i].push_back({form, std::move(refs)});
    pending_.push_back(ir::Ref::input(static_cast<std::int32_t>(i)));
  }
}

Status Writer::write() {
  for (std::size_t n = 0; n < program_.nodes.size(); ++n) {
    if (can_wait(n)) {
      waiting_.emplace(program_.nodes[n].first_value, n);
    } else {
      BURN_RETURN_IF_ERROR(write_numbered(n));
    }
  }
  BURN_RETURN_IF_ERROR(write_waiting());
  return convert_pending();
}

Status Writer::write_numbered(std::size_t n) {
  const auto& node = program_.nodes[n];
  const auto site = std::exchange(site_, node.site);
  const bool recompute = std::exchange(recompute_, false);
  const auto status = write_node(n);
  site_ = site;
  recompute_ = recompute;
  return status.ok() ? status : ir::at_node(status, node);
}

Result<std::vector<std::shared_ptr<const ir::Program>>> Writer::finish() {
  std::vector<Refs> outputs(static_cast<std::size_t>(members_));
  for (std::size_t k = 0; k < program_.outputs.size(); ++k) {
    BURN_TRY(const auto* refs, in_form(program_.outputs[k], form_of_output(plan_, k)));
    for (std::size_t m = 0; m < outputs.size(); ++m) outputs[m].push_back((*refs)[m]);
  }
  return programs_.finish(std::move(outputs), program_.site_files);
}

Status Writer::write_node(std::size_t n) {
  const auto& node = program_.nodes[n];
  if (std::holds_alternative<ir::Commit>(node.op)) return write_commit(node);
  Status status;
  for_each_choice(plan_, n, [&](const MeshChoice& choice) {
    if (status.ok()) status = write_choice(node, choice);
  });
  BURN_RETURN_IF_ERROR(status);
  for (std::uint32_t k = 0; k < node.value_count; ++k) {
    const auto v = node.first_value + k;
    if (values_[v].empty() && !narrowings_.contains(v)) continue;
    BURN_RETURN_IF_ERROR(settle(v));
    if (!wanted_.values[v].empty()) pending_.push_back(ir::Ref::value(static_cast<std::int32_t>(v)));
  }
  return {};
}

bool Writer::is_settled(std::size_t value, ir::MeshAxis axis) const {
  const auto* along = plan_.along(axis);
  return along && along->values[value].is_settled;
}

Status Writer::settle(std::size_t value) {
  const bool data = is_settled(value, ir::MeshAxis::data), model = is_settled(value, ir::MeshAxis::model);
  if (!data && !model) return {};
  std::vector<MeshForm> given;
  for (const auto& one : values_[value]) given.push_back(one.form);
  const auto narrowed = narrowings_.find(static_cast<std::uint32_t>(value));
  if (narrowed != narrowings_.end()) given.push_back(narrowed->second.form);
  for (const auto& from : given) {
    auto form = from;
    if (data) form.data = &plan_.data->values[value].form;
    if (model) form.model = &plan_.model->values[value].form;
    if (form == from) continue;
    BURN_RETURN_IF_ERROR(in_form(ir::Ref::value(static_cast<std::int32_t>(value)), form).status());
  }
  return {};
}

bool Writer::has_zeros(const MeshChoice& choice, int member) const {
  return std::ranges::any_of(kMeshAxes, [&](ir::MeshAxis axis) {
    const auto* along = choice.along(axis);
    return along && along->is_alone && plan_.mesh.rank(axis, member) > 0;
  });
}

ir::TensorType Writer::part_of(const ir::TensorType& whole, const MeshForm& form, int member) const {
  auto part = whole;
  for (const auto axis : kMeshAxes)
    part = partition::part_of(part, form.along(axis).layout, plan_.mesh.rank(axis, member));
  return part;
}

Status Writer::write_choice(const ir::Node& node, const MeshChoice& choice) {
  const auto operands = program_.operands_of(node);
  std::vector<Refs> kept;  // in_form may move what it gave before
  for (std::size_t i = 0; i < operands.size(); ++i) {
    BURN_TRY(const auto* of_operand, in_form(operands[i], choice.operand(i)));
    kept.push_back(*of_operand);
  }
  if (choice.is_wide()) return write_wide(node, kept[0], choice);
  std::vector<Refs> results(node.value_count);
  for (int m = 0; m < members_; ++m) {
    const auto member = static_cast<std::size_t>(m);
    if (has_zeros(choice, m)) {
      for (std::size_t k = 0; k < results.size(); ++k) {
        BURN_TRY(const auto zeros, add_number(m, part_of(program_.results_of(node)[k].type, choice.result(k), m), 0));
        results[k].push_back(zeros);
      }
      continue;
    }
    std::vector<ir::Ref> of_member;
    of_member.reserve(kept.size());
    for (const auto& of_operand : kept) of_member.push_back(of_operand[member]);
    const auto type = part_of(program_.type_of(node), choice.result(0), m);
    ir::Ref first;
    if (!of_member.empty() && chooses_from_nothing(node.op, programs_.type_of(m, of_member[0])) &&
        type.num_elements() > 0) {
      BURN_TRY(first, add_number(m, type, identity_bits(std::get<ir::Reduce>(node.op).fn, type.dtype)));
    } else {
      auto op = ir::copy_of(node.op);
      for (const auto axis : kMeshAxes)
        op = op_of_member(op, type, choice.result(0).along(axis), plan_.mesh.rank(axis, m));
      recompute_ = node.recompute;
      auto added = add(m, op, of_member);
      recompute_ = false;
      BURN_TRY(first, std::move(added));
    }
    for (std::size_t k = 0; k < results.size(); ++k) results[k].push_back(first.result(static_cast<int>(k)));
  }
  for (std::size_t k = 0; k < results.size(); ++k)
    values_[node.first_value + k].push_back({choice.result(k), std::move(results[k])});
  return {};
}

Status Writer::write_wide(const ir::Node& node, const Refs& operands, const MeshChoice& choice) {
  const auto& reduce = std::get<ir::Reduce>(node.op);
  const auto& type = program_.type_of(node);
  const ir::TensorType wide{ir::compute_dtype(type.dtype), type.shape};
  Written combined{choice.result(0), {}};
  for (const auto axis : kMeshAxes) {
    const auto* along = choice.along(axis);
    if (along && along->is_wide) combined.form = combined.form.with(axis, partial_form(reduce.fn));
  }
  for (int m = 0; m < members_; ++m) {
    const auto operand = operands[static_cast<std::size_t>(m)];
    const auto& part = programs_.type_of(m, operand);
    const auto part_type = part_of(wide, combined.form, m);
    if (has_zeros(choice, m)) {
      BURN_TRY(const auto zeros, add_number(m, part_type, 0));
      combined.refs.push_back(zeros);
      continue;
    }
    if (chooses_from_nothing(node.op, part) && part_type.num_elements() > 0) {
      BURN_TRY(const auto identity, add_number(m, part_type, identity_bits(reduce.fn, wide.dtype)));
      combined.refs.push_back(identity);
      continue;
    }
    BURN_TRY(const auto widened, add(m, ir::Cast{wide.dtype}, {operand}));
    BURN_TRY(const auto reduced, add(m, reduce, {widened}));
    combined.refs.push_back(reduced);
  }
  for (const auto axis : kMeshAxes) {
    const auto* along = choice.along(axis);
    if (!along || !along->is_wide) continue;
    const Step step{axis, &along->results[0]};
    BURN_TRY(combined.refs, write_collective(combined, step, wide));
    combined.form = combined.form.with(axis, *step.to);
  }
  narrowings_.emplace(node.first_value, std::move(combined));
  return {};
}

Status Writer::write_commit(const ir::Node& node) {
  BURN_RETURN_IF_ERROR(write_waiting());
  BURN_RETURN_IF_ERROR(convert_pending());
  close_buckets();
  Refs own, all;
  for (int m = 0; m < members_; ++m) {
    BURN_TRY(const auto ref, add(m, ir::Commit{}, {}));
    own.push_back(ref);
  }
  all = own;
  const auto type = program_.type_of(node);
  for (const auto axis : kMeshAxes) {
    const int size = plan_.mesh.size(axis);
    if (size == 1) continue;
    for (int m = 0; m < members_; ++m) {
      auto& ref = all[static_cast<std::size_t>(m)];
      BURN_TRY(ref, add(m, ir::AllReduce{ir::ReduceFn::min, group_of(axis)}, {ref}));
    }
    const auto bytes = conversion_bytes(type, Form::partial(ir::ReduceFn::min), Form::whole(), size);
    conversions_.push_back({"all_reduce", static_cast<std::int64_t>(std::ceil(bytes)), site_, axis});
  }
  for (int m = 0; m < members_; ++m) {
    auto& ref = all[static_cast<std::size_t>(m)];
    BURN_TRY(ref, add(m, ir::Pointwise{ir::PointwiseFn::bool_and}, {own[static_cast<std::size_t>(m)], ref}));
  }
  values_[node.first_value].push_back({{&kWholeForm, &kWholeForm}, std::move(all)});
  return {};
}

Status Writer::convert_pending() {
  for (const auto ref : pending_) {
    for (const auto& form : wanted_.of(ref)) BURN_RETURN_IF_ERROR(in_form(ref, form).status());
  }
  pending_.clear();
  return {};
}

Result<ir::Ref> Writer::add(int member, const ir::Op& op, std::span<const ir::Ref> operands) {
  if (programs_.is_first_or_own(member)) note_reads(member, operands);
  auto site = site_;
  if (ir::is_collective(op)) site.op = nullptr;  // the user called another
  return programs_.add(member, op, operands, site, recompute_);
}

Result<ir::Ref> Writer::add_number(int member, const ir::TensorType& type, std::int64_t bits) {
  BURN_TRY(const auto number, add(member, ir::Constant::of_bits(type.dtype, bits), {}));
  if (type.shape.empty()) return number;
  return add(member, ir::Expand{type.shape}, {number});
}

}  // namespace burn::compile::partition
