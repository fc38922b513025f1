// Lists of dimension names, known at compile time: Names<"batch", "time">. NamedTensor (client/tensor/named.h) uses
// them to find the position of a name, to check whether two lists match, and to compute the list of a result.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace burn {

// One name, of at most 31 characters: a string literal as a template argument.
struct DimName {
  static constexpr std::size_t kLength = 32;
  char text[kLength] = {};

  constexpr DimName() = default;
  template <std::size_t N>
  consteval DimName(const char (&name)[N]) {  // NOLINT: implicit, a literal is a name
    static_assert(N > 1 && N <= kLength, "a dimension's name has 1 to 31 characters");
    for (std::size_t i = 0; i < N; ++i) text[i] = name[i];
  }
  friend constexpr bool operator==(const DimName&, const DimName&) = default;
  constexpr std::string_view view() const { return text; }
};

namespace detail {

template <std::size_t N>
constexpr int find_name(const std::array<DimName, N>& names, const DimName& name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<int>(i);
  }
  return -1;
}
template <std::size_t N>
constexpr bool distinct(const std::array<DimName, N>& names) {
  for (std::size_t i = 0; i < N; ++i) {
    if (find_name(names, names[i]) != static_cast<int>(i)) return false;
  }
  return true;
}
// Whether all names of `few` are in `many`, in the same order.
template <std::size_t A, std::size_t B>
constexpr bool in_order(const std::array<DimName, A>& few, const std::array<DimName, B>& many) {
  std::size_t found = 0;
  for (std::size_t i = 0; i < B && found < A; ++i) found += few[found] == many[i] ? 1 : 0;
  return found == A;
}
std::string joined(const DimName* names, std::size_t count);  // "batch, time"

}  // namespace detail

// The dimensions of a tensor in their order; no name twice.
template <DimName... N>
struct Names {
  static constexpr std::size_t kSize = sizeof...(N);
  static constexpr std::array<DimName, kSize> kList{N...};
  static_assert(detail::distinct(kList), "two dimensions of one tensor have the same name: rename() one");

  static constexpr int find(const DimName& name) { return detail::find_name(kList, name); }  // -1: not found
};

namespace detail {

template <typename T>
inline constexpr bool kIsNames = false;
template <DimName... N>
inline constexpr bool kIsNames<Names<N...>> = true;

// The Names of an array.
template <std::array kList, typename Places = std::make_index_sequence<kList.size()>>
struct ListOf;
template <std::array kList, std::size_t... I>
struct ListOf<kList, std::index_sequence<I...>> {
  using type = Names<kList[I]...>;
};
template <std::array kList>
using NamesFrom = typename ListOf<kList>::type;

template <typename N>
constexpr auto renamed(const DimName& from, const DimName& to) {
  auto list = N::kList;
  for (auto& name : list) name = name == from ? to : name;
  return list;
}
template <typename N>
constexpr auto swapped(const DimName& a, const DimName& b) {
  auto list = N::kList;
  std::swap(list[static_cast<std::size_t>(N::find(a))], list[static_cast<std::size_t>(N::find(b))]);
  return list;
}
// The list without the names of `Gone`.
template <typename N, typename Gone>
constexpr auto without() {
  std::array<DimName, N::kSize - Gone::kSize> list;
  std::size_t next = 0;
  for (const auto& name : N::kList) {
    if (Gone::find(name) < 0) list[next++] = name;
  }
  return list;
}
// The list with another name at position `place`.
template <typename N>
constexpr auto with(const DimName& added, int place) {
  std::array<DimName, N::kSize + 1> list;
  for (int i = 0, next = 0; i <= static_cast<int>(N::kSize); ++i) {
    list[static_cast<std::size_t>(i)] = i == place ? added : N::kList[static_cast<std::size_t>(next++)];
  }
  return list;
}
// The names of the product [batch.., m, k] x [batch.., k, n]; the batch names are those of the operand that has them.
template <typename A, typename B>
constexpr auto product_names() {
  using Longer = std::conditional_t<(A::kSize >= B::kSize), A, B>;
  auto list = std::array<DimName, Longer::kSize>{Longer::kList};
  list[Longer::kSize - 2] = A::kList[A::kSize - 2];
  list[Longer::kSize - 1] = B::kList[B::kSize - 1];
  return list;
}
template <typename A, typename B>
constexpr bool same_batch() {
  if (A::kSize == 2 || B::kSize == 2) return true;
  if (A::kSize != B::kSize) return false;
  for (std::size_t i = 0; i + 2 < A::kSize; ++i) {
    if (!(A::kList[i] == B::kList[i])) return false;
  }
  return true;
}

}  // namespace detail

// `Name` is one of the names N.
template <typename N, DimName Name>
concept HasName = N::find(Name) >= 0;

template <typename N, DimName Name>
concept LacksName = N::find(Name) < 0;

// All names of one list are in the other, in the same order: the two tensors broadcast, dims being matched by name.
template <typename A, typename B>
concept NamesBroadcast = detail::in_order(A::kList, B::kList) || detail::in_order(B::kList, A::kList);

// The same names in any order.
template <typename A, typename B>
concept NamesPermute = A::kSize == B::kSize && [] {
  for (const auto& name : A::kList) {
    if (B::find(name) < 0) return false;
  }
  return true;
}();

// The last name of A is the second to last of B, the batch names are the same (or one of the two has none), and the
// names of the product are distinct.
template <typename A, typename B>
concept NamesMultiply = A::kSize >= 2 && B::kSize >= 2 && A::kList[A::kSize - 1] == B::kList[B::kSize - 2] &&
                        detail::same_batch<A, B>() && detail::distinct(detail::product_names<A, B>());

}  // namespace burn
