#include "ir/sites.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace burn::ir {
namespace {

std::string_view text(const char* file) { return file ? std::string_view{file} : std::string_view{}; }

// Hashes file names, and caches the last one: consecutive nodes are mostly of one file, with the same pointer.
class FileHash {
 public:
  std::uint64_t of(const char* file) {
    if (file != last_) {
      last_ = file;
      hash_ = std::hash<std::string_view>{}(text(file));
    }
    return hash_;
  }

 private:
  const char* last_ = nullptr;
  std::uint64_t hash_ = std::hash<std::string_view>{}({});
};

}  // namespace

std::uint64_t sites_hash(const Program& program) {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio
  FileHash files;
  std::uint64_t hash = program.nodes.size();
  for (const auto& node : program.nodes) {
    hash = (hash ^ files.of(node.site.file)) * kOdd;
    hash = (hash ^ (hash >> 32) ^ node.site.line) * kOdd;
  }
  return hash;
}

bool same_sites(const Program& a, const Program& b) {
  return std::ranges::equal(a.nodes, b.nodes, [](const Node& x, const Node& y) {
    return x.site.line == y.site.line && (x.site.file == y.site.file || text(x.site.file) == text(y.site.file));
  });
}

}  // namespace burn::ir
