#include "compile/lower/batch_launches.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace burn::compile {

namespace {

constexpr std::size_t kMaxParameterBytes = 4000;  // of a kernel
constexpr std::size_t kMaxMerged = 64;

bool is_same(const Address& a, const Address& b) { return a.base == b.base && a.index == b.index; }

// What a launch touches, with outputs that take over an input's buffer named as that input.
class Touched {
 public:
  explicit Touched(const Lowered& lowered) : lowered_(lowered) {}

  bool conflicts(const MergeableLaunch& a, const MergeableLaunch& b) const {
    return writes_into(a, b) || writes_into(b, a);
  }

 private:
  Address named(Address address) const {
    if (address.base != Address::Base::output) return address;
    const auto& output = lowered_.outputs[static_cast<std::size_t>(address.index)];
    if (output.reuses_input >= 0) return {Address::Base::input, output.reuses_input, 0};
    return address;
  }
  bool writes_into(const MergeableLaunch& writer, const MergeableLaunch& other) const {
    return std::ranges::any_of(writer.written, [&](const Address& written) {
      return std::ranges::any_of(other.arguments, [&](const Argument& argument) {
        return argument.is_address() && is_same(named(written), named(argument.address()));
      });
    });
  }

  const Lowered& lowered_;
};

std::size_t bytes_of(const MergeableLaunch& launch) {
  std::size_t bytes = sizeof(std::int64_t);
  for (const auto& argument : launch.arguments) bytes += std::max<std::size_t>(argument.bytes().size(), 8);
  return bytes;
}

// How many more from `first` on are of one kind with it, next to each other, and apart in memory.
std::size_t run_length(const Lowered& lowered, std::size_t first) {
  const auto mergeable = [&](std::size_t i) -> const MergeableLaunch* {
    const auto* launch = std::get_if<Launch>(&lowered.commands[i].what);
    return launch ? launch->mergeable.get() : nullptr;
  };
  const auto* head = mergeable(first);
  if (!head) return 1;
  const auto source = std::get<Launch>(lowered.commands[first].what).source;
  const auto most = std::min(kMaxMerged, std::bit_floor((kMaxParameterBytes - 8) / bytes_of(*head)));
  const Touched touched(lowered);
  std::size_t end = first + 1;
  for (; end < lowered.commands.size() && end - first < most; ++end) {
    const auto* next = mergeable(end);
    if (!next || std::get<Launch>(lowered.commands[end].what).source != source) break;
    bool is_apart = true;
    for (auto i = first; i < end && is_apart; ++i) {
      const bool are_parts = mergeable(i)->is_part && lowered.commands[i].step == lowered.commands[end].step;
      is_apart = are_parts || !touched.conflicts(*mergeable(i), *next);
    }
    if (!is_apart) break;
  }
  return end - first;
}

// The arguments of all, as BlockKernel::merged() has them: one parameter.
Argument packed(std::span<const Command> launches, std::size_t most,
                std::vector<std::pair<std::size_t, Address>>& addresses) {
  std::vector<std::int64_t> words(1 + most);
  words[0] = static_cast<std::int64_t>(launches.size());
  std::int64_t blocks = 0;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const auto& launch = std::get<Launch>(launches[i].what);
    words[1 + i] = blocks;
    blocks += launch.grid.blocks;
    for (const auto& argument : launch.mergeable->arguments) {
      if (argument.is_address()) addresses.emplace_back(words.size() * sizeof(std::int64_t), argument.address());
      const auto first = words.size();
      words.resize(first + std::max<std::size_t>((argument.bytes().size() + 7) / 8, 1));
      std::memcpy(words.data() + first, argument.bytes().data(), argument.bytes().size());
    }
  }
  const auto of_one = (words.size() - 1 - most) / launches.size();
  words.resize(1 + most + most * of_one);
  return Argument(std::as_bytes(std::span(words)));
}

Command merge(Lowered& lowered, std::span<const Command> launches) {
  const auto& kernel = *std::get<Launch>(launches[0].what).mergeable->kernel;
  const auto most = std::bit_ceil(launches.size());
  auto source = kernel.merged(most);
  const auto found = std::ranges::find(lowered.sources, source.text, &KernelSource::text);
  const auto index = static_cast<std::size_t>(found - lowered.sources.begin());
  if (found == lowered.sources.end()) lowered.sources.push_back(std::move(source));
  Grid grid{.blocks = 0};
  for (const auto& command : launches) grid.blocks += std::get<Launch>(command.what).grid.blocks;
  std::vector<std::pair<std::size_t, Address>> addresses;
  const std::vector<Argument> arguments{packed(launches, most, addresses)};
  Launch launch(index, grid, arguments);
  launch.addresses = std::move(addresses);
  std::vector<Use> uses;
  for (const auto& command : launches) uses.insert(uses.end(), command.uses.begin(), command.uses.end());
  return {std::move(launch), launches[0].step, std::move(uses)};
}

// Sources that nothing launches any more are not to be compiled.
void forget_unused(Lowered& lowered) {
  constexpr auto kUnused = static_cast<std::size_t>(-1);
  std::vector<std::size_t> now(lowered.sources.size(), kUnused);
  std::vector<KernelSource> used;
  for (auto& command : lowered.commands) {
    auto* launch = std::get_if<Launch>(&command.what);
    if (!launch) continue;
    auto& index = now[launch->source];
    if (index == kUnused) {
      index = used.size();
      used.push_back(std::move(lowered.sources[launch->source]));
    }
    launch->source = index;
  }
  lowered.sources = std::move(used);
}

}  // namespace

void merge_launches(Lowered& lowered, std::vector<Lifetime>& blocks) {
  std::vector<Command> commands;
  for (std::size_t first = 0; first < lowered.commands.size();) {
    const auto length = run_length(lowered, first);
    if (length == 1) {
      commands.push_back(std::move(lowered.commands[first]));
    } else {
      const auto launches = std::span<const Command>(lowered.commands).subspan(first, length);
      const auto from = launches.front().step, to = launches.back().step;
      for (auto& block : blocks) {
        if (block.last < from || block.first > to) continue;
        block.first = std::min(block.first, from);
        block.last = std::max(block.last, to);
      }
      lowered.merged.emplace_back(from, to);
      commands.push_back(merge(lowered, launches));
    }
    first += length;
  }
  for (auto& command : commands) {
    if (auto* launch = std::get_if<Launch>(&command.what)) launch->mergeable = nullptr;
  }
  lowered.commands = std::move(commands);
  forget_unused(lowered);
}

}  // namespace burn::compile
