// Methods of NamedTensor that change its shape or return a part of it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "client/tensor/named_dims.h"

namespace burn::detail {

// A base class of NamedTensor<N, K>.
template <typename N, Kind K>
class NamedShape {
  static constexpr int D = static_cast<int>(N::kSize);
  using Named = NamedTensor<N, K>;

 public:
  template <DimName A, DimName B>
    requires(HasName<N, A> && HasName<N, B>)
  auto swap_dims(Loc where = Loc::current()) const {
    return detail::with_names<detail::NamesFrom<detail::swapped<N>(A, B)>>(
        self().tensor().swap_dims(kAt<A>, kAt<B>, where));
  }
  // The same dims in another order.
  template <DimName... X>
    requires NamesPermute<N, Names<X...>>
  NamedTensor<Names<X...>, K> permute(Loc where = Loc::current()) const {
    return NamedTensor<Names<X...>, K>{self().tensor().permute({kAt<X>...}, where)};
  }
  // The same elements in row-major order with new dims and names: x.reshape<"batch", "all">({-1, 12}).
  template <DimName... X>
  NamedTensor<Names<X...>, K> reshape(const Dims<static_cast<int>(sizeof...(X))>& dims,
                                      Loc where = Loc::current()) const {
    return NamedTensor<Names<X...>, K>{self().tensor().template reshape<static_cast<int>(sizeof...(X))>(dims, where)};
  }
  // Removes a dim of size 1.
  template <DimName X>
    requires(HasName<N, X> && N::kSize > 1)
  auto squeeze_dim(Loc where = Loc::current()) const {
    return detail::with_names<detail::NamesFrom<detail::without<N, Names<X>>()>>(
        self().tensor().squeeze_dim(kAt<X>, where));
  }
  // Adds a dim of size 1 at position `Place`.
  template <DimName X, int Place = 0>
    requires(LacksName<N, X> && Place >= 0 && Place <= static_cast<int>(N::kSize))
  auto unsqueeze_dim(Loc where = Loc::current()) const {
    return detail::with_names<detail::NamesFrom<detail::with<N>(X, Place)>>(
        self().tensor().unsqueeze_dim(Place, where));
  }
  template <DimName X>
    requires HasName<N, X>
  Named repeat_dim(std::int64_t times, Loc where = Loc::current()) const {
    return Named{self().tensor().repeat_dim(kAt<X>, times, where)};
  }
  template <DimName X>
    requires HasName<N, X>
  static Named cat(const std::vector<Named>& parts, Loc where = Loc::current()) {
    std::vector<Tensor<D, K>> tensors;
    tensors.reserve(parts.size());
    for (const auto& part : parts) tensors.push_back(part.tensor());
    return Named{Tensor<D, K>::cat(tensors, kAt<X>, where)};
  }

  // --- parts ---------------------------------------------------------------------------------------------------------
  template <DimName X>
    requires HasName<N, X>
  Named slice_dim(const Range& range, Loc where = Loc::current()) const {
    return Named{self().tensor().slice_dim(kAt<X>, range, where)};
  }
  template <DimName X>
    requires HasName<N, X>
  Named narrow(std::int64_t start, std::int64_t length, Loc where = Loc::current()) const {
    return Named{self().tensor().narrow(kAt<X>, start, length, where)};
  }
  // The part at an index of the dim, which is removed.
  template <DimName X>
    requires(HasName<N, X> && N::kSize > 1)
  auto select_dim(std::int64_t index, Loc where = Loc::current()) const {
    return detail::with_names<detail::NamesFrom<detail::without<N, Names<X>>()>>(
        self().tensor().select_dim(kAt<X>, index, where));
  }
  template <DimName X>
    requires HasName<N, X>
  Named select(const Tensor<1, Int>& indices, Loc where = Loc::current()) const {
    return Named{self().tensor().select(kAt<X>, indices, where)};
  }
  template <DimName X>
    requires HasName<N, X>
  Named gather(const NamedTensor<N, Int>& indices, Loc where = Loc::current()) const {
    return Named{self().tensor().gather(kAt<X>, indices.tensor(), where)};
  }
  template <DimName X>
    requires HasName<N, X>
  std::vector<Named> chunk(std::int64_t chunks, Loc where = Loc::current()) const {
    std::vector<Named> parts;
    for (auto& part : self().tensor().chunk(chunks, kAt<X>, where)) parts.emplace_back(std::move(part));
    return parts;
  }

 private:
  template <DimName X>
  static constexpr int kAt = N::find(X);
  // Requires: this is part of a NamedTensor.
  const Named& self() const { return static_cast<const Named&>(*this); }
};

}  // namespace burn::detail
