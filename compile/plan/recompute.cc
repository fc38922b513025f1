#include "compile/plan/recompute.h"

#include <algorithm>
#include <map>
#include <optional>

#include "compile/fusion/fuse.h"
#include "compile/rewrite/narrow_sums.h"
#include "compile/rewrite/simplify.h"
#include "compile/rewrite/transposed.h"

namespace burn::compile {
namespace {

constexpr std::int32_t kNone = -1;
constexpr std::size_t kMaxNodes = 64;  // recomputed for one value; nodes that are needed twice count twice

std::int64_t bytes_of(const ir::TensorType& type) {
  return type.num_elements() * static_cast<std::int64_t>(ir::size_of(type.dtype));
}

bool is_formula(const ir::Node& node) {
  return !node.effect && (std::holds_alternative<ir::Pointwise>(node.op) || std::holds_alternative<ir::Cast>(node.op));
}

class Recomputation {
 public:
  Recomputation(const ir::Program& program, const PlanOptions& options)
      : program_(program), least_bytes_(options.recompute_bytes) {
    const auto is_large = [&](const ir::Node& n) {
      return is_formula(n) && bytes_of(program.type_of(n)) >= least_bytes_;
    };
    if (std::ranges::none_of(program.nodes, is_large)) return;
    groups_ = find_groups(program, options.limits);
    recipes_.resize(program.nodes.size());
    group_of_.assign(program.nodes.size(), kNone);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (const auto& member : groups_[g].members) group_of_[at(member.node)] = static_cast<std::int32_t>(g);
    }
  }

  // Finds the values to recompute. Returns whether there are any.
  bool find() {
    if (groups_.empty()) return false;
    find_readers();
    bool finds = false;
    for (std::int32_t n = 0; n < static_cast<std::int32_t>(program_.nodes.size()); ++n) {
      recipes_[at(n)] = recipe_for(n);
      finds |= is_spared(n);
    }
    return finds;
  }

  ir::Program rewrite() {
    result_ = without_nodes(program_);
    now_.assign(program_.values.size(), ir::Ref::value(0));
    for (std::int32_t n = 0; n < static_cast<std::int32_t>(program_.nodes.size()); ++n) {
      std::vector<ir::Ref> operands;
      for (const auto ref : program_.operands_of(node(n))) operands.push_back(as_read_by(n, ref));
      const auto place = append(node(n), operands, node(n).recompute);
      for (std::uint32_t k = 0; k < node(n).value_count; ++k) {
        now_[node(n).first_value + k] = place.result(static_cast<int>(k));
      }
    }
    for (const auto ref : program_.outputs) result_.outputs.push_back(moved(ref));
    return std::move(result_);
  }

 private:
  // What recomputing a value takes: the values read from memory, and the number of nodes.
  struct Recipe {
    std::vector<ir::Ref> reads;
    std::size_t nodes = 0;
  };

  static std::size_t at(std::int32_t n) { return static_cast<std::size_t>(n); }
  const ir::Node& node(std::int32_t n) const { return program_.nodes[at(n)]; }

  // The group that a node reads for: its own, or, for a formula outside of groups, the new group that it will form with
  // the nodes that it recomputes.
  std::int32_t reading_group(std::int32_t n) const {
    if (group_of_[at(n)] != kNone || !is_formula(node(n))) return group_of_[at(n)];
    return static_cast<std::int32_t>(groups_.size()) + n;
  }

  // Whether the node is in a group and has one element per element of the group's domain. A single cast counts as a
  // group.
  bool is_full_member(std::int32_t n) const {
    if (group_of_[at(n)] == kNone) return std::holds_alternative<ir::Cast>(node(n).op);
    return program_.type_of(node(n)).shape == groups_[at(group_of_[at(n)])].domain;
  }

  // Finds the values that are stored in any case, because they are outputs, indices, or read outside of groups, and
  // those that another group reads.
  void find_readers() {
    is_kept_.assign(program_.nodes.size(), false);
    crosses_.assign(program_.nodes.size(), false);
    const auto keep = [&](ir::Ref ref) {
      if (!ref.is_input()) is_kept_[at(program_.node_of(ref))] = true;
    };
    std::ranges::for_each(program_.outputs, keep);
    for (std::int32_t n = 0; n < static_cast<std::int32_t>(program_.nodes.size()); ++n) {
      const auto group = reading_group(n);
      const bool picks = std::holds_alternative<ir::Gather>(node(n).op);
      const auto operands = program_.operands_of(node(n));
      for (std::size_t i = 0; i < operands.size(); ++i) {
        if (operands[i].is_input()) continue;
        if (group == kNone || (picks && i == 1)) keep(operands[i]);
        if (group != group_of_[at(program_.node_of(operands[i]))]) crosses_[at(program_.node_of(operands[i]))] = true;
      }
    }
  }

  // How to recompute the node's value; std::nullopt if it has to be stored or cannot be recomputed cheaply.
  std::optional<Recipe> recipe_for(std::int32_t n) const {
    if (!is_formula(node(n)) || node(n).recompute || !is_full_member(n) || is_kept_[at(n)]) return std::nullopt;
    Recipe recipe{.reads = {}, .nodes = 1};
    for (const auto ref : program_.operands_of(node(n))) {
      if (!add_operand(recipe, ref)) return std::nullopt;
    }
    if (recipe.nodes > kMaxNodes) return std::nullopt;
    const auto own = bytes_of(program_.type_of(node(n)));
    std::int64_t bytes = 0;
    for (const auto ref : recipe.reads) {
      const auto size = bytes_of(program_.type_of(ref));
      if (size > own / 16) bytes += size;  // small operands, such as one number per row, are not counted
    }
    // The limit does not apply to values that only their own group reads: they are never stored.
    if (crosses_[at(n)] && bytes > own) return std::nullopt;
    return recipe;
  }

  // Adds an operand to the recipe. False if it is a large value that is not stored and cannot be recomputed.
  bool add_operand(Recipe& recipe, ir::Ref ref) const {
    if (!ref.is_input()) {
      const auto n = program_.node_of(ref);
      if (const auto& inner = recipes_[at(n)]) {
        recipe.nodes += inner->nodes;
        for (const auto read : inner->reads) add_read(recipe, read);
        return true;
      }
      if (std::holds_alternative<ir::Expand>(node(n).op)) return add_operand(recipe, program_.operands_of(node(n))[0]);
      if (is_full_member(n) && !is_kept_[at(n)] && !crosses_[at(n)]) return false;
    }
    add_read(recipe, ref);
    return true;
  }

  void add_read(Recipe& recipe, ir::Ref ref) const {
    if (std::ranges::find(recipe.reads, ref) == recipe.reads.end()) recipe.reads.push_back(ref);
  }

  // Whether the value need not be stored, because readers in other groups recompute it.
  bool is_spared(std::int32_t n) const {
    return recipes_[at(n)] && crosses_[at(n)] && bytes_of(program_.type_of(node(n))) >= least_bytes_;
  }

  ir::Ref moved(ir::Ref ref) const { return ref.is_input() ? ref : now_[at(ref.index())]; }

  ir::Ref as_read_by(std::int32_t reader, ir::Ref ref) {
    if (ref.is_input()) return ref;
    const auto n = program_.node_of(ref), group = reading_group(reader);
    return group != kNone && group != group_of_[at(n)] && is_spared(n) ? again(group, ref) : moved(ref);
  }

  // The value, recomputed for that group.
  ir::Ref again(std::int32_t group, ir::Ref ref) {
    if (ref.is_input()) return ref;
    const auto n = program_.node_of(ref);
    const bool is_view = std::holds_alternative<ir::Expand>(node(n).op) && group_of_[at(n)] != kNone;
    if (!recipes_[at(n)] && !is_view) return moved(ref);
    const auto [found, is_new] = again_.try_emplace({group, n}, ref);
    if (!is_new) return found->second;
    std::vector<ir::Ref> operands;
    for (const auto operand : program_.operands_of(node(n))) operands.push_back(again(group, operand));
    return again_[{group, n}] = append(node(n), operands, true);
  }

  ir::Ref append(const ir::Node& like, const std::vector<ir::Ref>& operands, bool recompute) {
    ir::Node copy = like;
    copy.recompute = recompute;
    copy.operand_begin = static_cast<std::uint32_t>(result_.operands.size());
    copy.first_value = static_cast<std::uint32_t>(result_.values.size());
    result_.operands.insert(result_.operands.end(), operands.begin(), operands.end());
    for (const auto& made : program_.results_of(like)) {
      result_.values.push_back({made.type, static_cast<std::int32_t>(result_.nodes.size())});
    }
    const auto place = ir::Ref::value(static_cast<std::int32_t>(copy.first_value));
    result_.nodes.push_back(copy);
    return place;
  }

  const ir::Program& program_;
  const std::int64_t least_bytes_;
  std::vector<Group> groups_;
  std::vector<std::int32_t> group_of_;          // per node
  std::vector<bool> is_kept_, crosses_;         // per node: in memory in any case; read by another group, or by none
  std::vector<std::optional<Recipe>> recipes_;  // per node
  ir::Program result_;
  std::vector<ir::Ref> now_;                                        // per old value: the new one
  std::map<std::pair<std::int32_t, std::int32_t>, ir::Ref> again_;  // by group and node
};

// std::nullopt if nothing changes.
std::optional<ir::Program> prepared(const ir::Program& program, const PlanOptions& options) {
  std::optional<ir::Program> made;
  const auto now = [&]() -> const ir::Program& { return made ? *made : program; };
  const auto changes_to = [&](std::optional<ir::Program> changed) {
    if (!changed) return false;
    made = std::move(changed);
    return true;
  };
  const auto simplify_now = [&] { (void)changes_to(simplified(now(), options.merge_equal)); };
  simplify_now();
  if (options.fusion && changes_to(transpose_products(now()))) simplify_now();
  if (options.fusion && options.recompute) {
    Recomputation pass{now(), options};
    if (pass.find() && changes_to(pass.rewrite())) simplify_now();
  }
  (void)changes_to(read_narrow(now()));
  return made;
}

}  // namespace

ir::Program prepare(const ir::Program& program, const PlanOptions& options) {
  auto made = prepared(program, options);
  return made ? *std::move(made) : program;
}

std::shared_ptr<const ir::Program> prepare(std::shared_ptr<const ir::Program> program, const PlanOptions& options) {
  auto made = prepared(*program, options);
  return made ? std::make_shared<const ir::Program>(*std::move(made)) : std::move(program);
}

}  // namespace burn::compile
