#include "compile/partition/writer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "ir/combine.h"
#include "ir/dispatch.h"
#include "ir/node_errors.h"

namespace burn::compile::partition {
namespace {

// What max and min begin from, in the bits of ir::Constant.
std::int64_t identity_bits(ir::ReduceFn fn, ir::DType dtype) {
  if (ir::is_floating(dtype)) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    return std::bit_cast<std::int64_t>(fn == ir::ReduceFn::max ? -kInfinity : kInfinity);
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

}  // namespace

Writer::Writer(const ir::Program& program, const ProgramPlan& plan, int members)
    : program_(program),
      plan_(plan),
      members_(members),
      programs_(members),
      inputs_(program.inputs.size()),
      values_(program.values.size()),
      bucket_of_(static_cast<std::size_t>(members)) {
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const auto& [type, donated] = program.inputs[i];
    Refs refs;
    for (int m = 0; m < members; ++m) {
      refs.push_back(programs_.add_input(m, part_of(type, plan.inputs[i].form.layout, m), donated));
    }
    inputs_[i].push_back({plan.inputs[i].form, std::move(refs)});
    pending_.push_back(ir::Ref::input(static_cast<std::int32_t>(i)));
  }
}

Status Writer::write() {
  for (std::size_t n = 0; n < program_.nodes.size(); ++n) {
    const auto& node = program_.nodes[n];
    if (can_wait(node, plan_.nodes[n])) {
      waiting_.emplace(node.first_value, n);
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
  const auto status = write_node(node, plan_.nodes[n]);
  site_ = site;
  recompute_ = recompute;
  return status.ok() ? status : ir::at_node(status, node);
}

std::vector<std::shared_ptr<const ir::Program>> Writer::finish() {
  std::vector<Refs> outputs(static_cast<std::size_t>(members_));
  for (std::size_t k = 0; k < program_.outputs.size(); ++k) {
    const auto refs = in_form(program_.outputs[k], plan_.outputs[k]);
    BURN_CHECK(refs.ok(), "an output was not written");
    for (std::size_t m = 0; m < outputs.size(); ++m) outputs[m].push_back((**refs)[m]);
  }
  return programs_.finish(std::move(outputs), program_.site_files);
}

Status Writer::write_node(const ir::Node& node, const NodePlan& of_node) {
  if (std::holds_alternative<ir::Commit>(node.op)) return write_commit(node);
  for (const auto& choice : of_node.choices) BURN_RETURN_IF_ERROR(write_choice(node, choice));
  for (std::uint32_t k = 0; k < node.value_count && !of_node.choices.empty(); ++k) {
    const auto v = node.first_value + k;
    const auto ref = ir::Ref::value(static_cast<std::int32_t>(v));
    const bool is_narrowed_later = narrowings_.contains(v) && plan_.values[v].form == narrowings_.at(v).form;
    if (plan_.values[v].is_settled && !is_narrowed_later)
      BURN_RETURN_IF_ERROR(in_form(ref, plan_.values[v].form).status());
    if (!plan_.values[v].wanted.empty()) pending_.push_back(ref);
  }
  return {};
}

Status Writer::write_choice(const ir::Node& node, const Choice& choice) {
  const auto operands = program_.operands_of(node);
  std::vector<Refs> kept;  // in_form may move what it gave before
  for (std::size_t i = 0; i < operands.size(); ++i) {
    BURN_TRY(const auto* of_operand, in_form(operands[i], choice.operands[i]));
    kept.push_back(*of_operand);
  }
  if (choice.is_wide) return write_wide(node, kept[0], choice);
  std::vector<Refs> results(node.value_count);
  for (int m = 0; m < members_; ++m) {
    const auto member = static_cast<std::size_t>(m);
    std::vector<ir::Ref> of_member;
    for (const auto& of_operand : kept) of_member.push_back(of_operand[member]);
    const auto& whole = program_.type_of(node);
    const auto type = part_of(whole, choice.results[0].layout, m);
    ir::Ref first;
    if (choice.is_alone && m > 0) {
      for (std::size_t k = 0; k < results.size(); ++k) {
        BURN_TRY(const auto zeros, add_number(m, program_.results_of(node)[k].type, 0));
        results[k].push_back(zeros);
      }
      continue;
    }
    if (!of_member.empty() && chooses_from_nothing(node.op, programs_.type_of(m, of_member[0])) &&
        type.num_elements() > 0) {
      BURN_TRY(first, add_number(m, type, identity_bits(std::get<ir::Reduce>(node.op).fn, type.dtype)));
    } else {
      recompute_ = node.recompute;
      auto added = add(m, op_of_member(node.op, type, choice.results[0], m), of_member);
      recompute_ = false;
      BURN_TRY(first, std::move(added));
    }
    for (std::size_t k = 0; k < results.size(); ++k) results[k].push_back(first.result(static_cast<int>(k)));
  }
  for (std::size_t k = 0; k < results.size(); ++k)
    values_[node.first_value + k].push_back({choice.results[k], std::move(results[k])});
  return {};
}

Status Writer::write_wide(const ir::Node& node, const Refs& operands, const Choice& choice) {
  const auto& reduce = std::get<ir::Reduce>(node.op);
  const auto& type = program_.type_of(node);
  const ir::TensorType wide{ir::compute_dtype(type.dtype), type.shape};
  Written partial{Form::partial(reduce.fn), {}};
  for (int m = 0; m < members_; ++m) {
    const auto operand = operands[static_cast<std::size_t>(m)];
    const auto& part = programs_.type_of(m, operand);
    if (chooses_from_nothing(node.op, part) && type.num_elements() > 0) {
      BURN_TRY(const auto identity, add_number(m, wide, identity_bits(reduce.fn, wide.dtype)));
      partial.refs.push_back(identity);
      continue;
    }
    BURN_TRY(const auto widened, add(m, ir::Cast{wide.dtype}, {operand}));
    BURN_TRY(const auto reduced, add(m, reduce, {widened}));
    partial.refs.push_back(reduced);
  }
  BURN_TRY(const auto combined, write_collective(partial, choice.results[0], wide));
  narrowings_.emplace(node.first_value, Written{choice.results[0], combined});
  return {};
}

Status Writer::write_commit(const ir::Node& node) {
  BURN_RETURN_IF_ERROR(write_waiting());
  BURN_RETURN_IF_ERROR(convert_pending());
  close_buckets();
  Refs refs;
  for (int m = 0; m < members_; ++m) {
    BURN_TRY(const auto own, add(m, ir::Commit{}, {}));
    BURN_TRY(const auto all, add(m, ir::AllReduce{ir::ReduceFn::min}, {own}));
    BURN_TRY(const auto both, add(m, ir::Pointwise{ir::PointwiseFn::bool_and}, {own, all}));
    refs.push_back(both);
  }
  const auto type = program_.type_of(node);
  conversions_.push_back({"all_reduce",
                          static_cast<std::int64_t>(std::ceil(
                              conversion_bytes(type, Form::partial(ir::ReduceFn::min), Form::whole(), members_))),
                          site_});
  values_[node.first_value].push_back({Form::whole(), std::move(refs)});
  return {};
}

Status Writer::convert_pending() {
  for (const auto ref : pending_) {
    for (const auto& form : plan_.of(ref).wanted) BURN_RETURN_IF_ERROR(in_form(ref, form).status());
  }
  pending_.clear();
  return {};
}

Result<const Writer::Refs*> Writer::in_form(ir::Ref value, const Form& form) {
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
  for (const auto& one : forms) {
    if (one.form == form) return &one.refs;
  }
  BURN_CHECK(!forms.empty(), "a value is read that was not written");
  const auto& type = program_.type_of(value);
  const auto cost = [&](const Written& from) { return conversion_bytes(type, from.form, form, members_); };
  const auto cheapest = std::min_element(forms.begin(), forms.end(),
                                         [&](const Written& a, const Written& b) { return cost(a) < cost(b); });
  BURN_TRY(auto refs, convert(*cheapest, form, type));
  forms.push_back({form, std::move(refs)});
  return &forms.back().refs;
}

Result<Writer::Refs> Writer::convert(const Written& from, const Form& to, const ir::TensorType& type) {
  if (from.form.is_whole()) return to.is_partial ? write_once(from, type) : write_slices(from, to, type);
  if (!to.is_partial) return write_collective(from, to, type);
  Written whole{Form::whole(), {}};
  BURN_TRY(whole.refs, write_collective(from, whole.form, type));
  return write_once(whole, type);
}

Result<Writer::Refs> Writer::write_collective(const Written& from, const Form& to, const ir::TensorType& type) {
  const auto& [given, taken] = std::pair{from.form.layout, to.layout};
  const bool is_all_reduce = from.form.is_partial && to.is_whole();
  const auto bucket = is_all_reduce ? next_bucket(from.form.fn, type) : 0;
  if (!is_all_reduce) close_buckets();
  const auto op_of = [&](int m) -> ir::Op {
    if (is_all_reduce) return ir::AllReduce{from.form.fn, 0, bucket};
    if (from.form.is_partial) return ir::ReduceScatter{from.form.fn, taken.dim, sizes_of(taken.bounds), m};
    if (to.is_whole()) return ir::AllGather{given.dim, sizes_of(given.bounds), m};
    return ir::AllToAll{given.dim, sizes_of(given.bounds), taken.dim, sizes_of(taken.bounds), m};
  };
  Refs refs;
  for (int m = 0; m < members_; ++m) {
    BURN_TRY(const auto ref, add(m, op_of(m), {from.refs[static_cast<std::size_t>(m)]}));
    refs.push_back(ref);
    if (!is_all_reduce) continue;
    auto& buckets = bucket_of_[static_cast<std::size_t>(m)];
    buckets.resize(static_cast<std::size_t>(ref.index()) + 1);
    buckets.back() = bucket;
  }
  const auto bytes = std::ceil(conversion_bytes(type, from.form, to, members_));
  conversions_.push_back({std::string{name(op_of(0))}, static_cast<std::int64_t>(bytes), site_});
  return refs;
}

Result<Writer::Refs> Writer::write_slices(const Written& from, const Form& to, const ir::TensorType& type) {
  Refs refs;
  const int rank = type.shape.rank();
  for (int m = 0; m < members_; ++m) {
    ir::Slice slice{ir::Dims::filled(rank, 0), part_of(type, to.layout, m).shape, ir::Dims::filled(rank, 1)};
    slice.starts[to.layout.dim] = to.layout.bounds[static_cast<std::size_t>(m)];
    BURN_TRY(const auto ref, add(m, slice, {from.refs[static_cast<std::size_t>(m)]}));
    refs.push_back(ref);
  }
  return refs;
}

Result<Writer::Refs> Writer::write_once(const Written& from, const ir::TensorType& type) {
  Refs refs{from.refs[0]};
  for (int m = 1; m < members_; ++m) {
    BURN_TRY(const auto zeros, add_number(m, type, 0));
    refs.push_back(zeros);
  }
  return refs;
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
