// The list of the tensor API's names: each is called in calls_test.cc, and described in docs/api.md.
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace burn {
namespace {

// Tests run in the repository's root.
constexpr const char* kNames = "tests/api/names.txt";
constexpr const char* kCalls = "tests/api/calls_test.cc";
constexpr const char* kDocs = "docs/api.md";

std::string text_of(const char* path) {
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  return text.str();
}

// The parts of a line "Burn's name | spelling | what it does".
struct Entry {
  std::string name, spelling, text;
};

Entry parse(const std::string& line) {
  const auto first = line.find(" | "), second = line.find(" | ", first + 3);
  EXPECT_NE(second, std::string::npos) << line;
  if (second == std::string::npos) return {};
  return {line.substr(0, first), line.substr(first + 3, second - first - 3), line.substr(second + 3)};
}

template <typename Visit>
void each_line(Visit visit) {
  std::istringstream lines(text_of(kNames));
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && (line[0] != '#' || line.starts_with("## "))) visit(line);
  }
}

bool is_entry(const std::string& line) { return line[0] != '#' && line[0] != '>'; }

// The name of the first function that is called, as pad in "x.pad({{1, 1}})". Empty for operators.
std::string called(const std::string& spelling) {
  static const std::regex call(R"(([a-z_A-Z0-9]+)(<[^()]*>)?\()");
  std::smatch match;
  return std::regex_search(spelling, match, call) ? std::string{match[1]} : std::string{};
}

std::string escaped(std::string text) {
  for (std::size_t i = 0; (i = text.find('|', i)) != std::string::npos; i += 2) text.insert(i, "\\");
  return text;
}

std::string markdown() {
  std::ostringstream out;
  out << "# The tensor API\n\n"
         "Every method of `Tensor<D, K>` and the functions beside them, written from `tests/api/names.txt` by\n"
         "`BURN_UPDATE_DOCS=1 build/bin/test_api --gtest_filter='ApiNames.*'`. `K` is `Float`, `Int` or `Bool`; `D` "
         "the rank, from 1\n"
         "to 8. Names are Burn's; where C++ needs another, both are here. A method takes its call site as a defaulted "
         "last argument, which\n"
         "errors name. What PyTorch calls these is in [from-pytorch.md](from-pytorch.md), what differs from Burn in\n"
         "[from-burn.md](from-burn.md), dtypes and promotion in [dtypes.md](dtypes.md).\n";
  bool in_table = false, in_paragraph = false;
  each_line([&](const std::string& line) {
    if (std::exchange(in_paragraph, line[0] == '>') && !in_paragraph) out << '\n';
    if (line.starts_with("## ")) {
      out << '\n' << line << "\n\n";
      in_table = false;
    } else if (line[0] == '>') {
      out << line.substr(2) << '\n';
    } else {
      if (!in_table) out << "| Burn | here | |\n| --- | --- | --- |\n";
      in_table = true;
      const Entry entry = parse(line);
      out << "| " << entry.name << " | `" << escaped(entry.spelling) << "` | " << escaped(entry.text) << " |\n";
    }
  });
  return out.str();
}

TEST(ApiNames, AreAllCalledByTheTest) {
  const auto calls = text_of(kCalls);
  ASSERT_FALSE(calls.empty());
  int count = 0;
  each_line([&](const std::string& line) {
    if (!is_entry(line)) return;
    ++count;
    const auto name = called(parse(line).spelling);
    if (name.empty()) return;  // an operator
    EXPECT_TRUE(std::regex_search(calls, std::regex("[^a-z_]" + name + "(<[^()]*>)?\\("))) << "not called: " << line;
  });
  EXPECT_GE(count, 280);
}

TEST(ApiNames, StandOnceInTheirSection) {
  std::set<std::string> seen;
  each_line([&](const std::string& line) {
    if (line.starts_with("## ")) seen.clear();
    if (is_entry(line)) {
      EXPECT_TRUE(seen.insert(parse(line).spelling).second) << line;
    }
  });
}

TEST(ApiNames, AreWhatDocsApiMdSays) {
  if (std::getenv("BURN_UPDATE_DOCS") != nullptr) std::ofstream{kDocs} << markdown();
  EXPECT_EQ(text_of(kDocs), markdown()) << kDocs << " is out of date: run this test with BURN_UPDATE_DOCS=1";
}

}  // namespace
}  // namespace burn
