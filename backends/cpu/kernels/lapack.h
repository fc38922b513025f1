// Factorisations of one matrix by LAPACK, which OpenBLAS brings along. A matrix lies column by column without gaps:
// element (i, j) of `rows` rows is a[i + j * rows]. Results are what LAPACK's `info` says: 0, or a number that the
// function here explains; there are no other failures, for arguments are checked before. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace burn::backends::cpu::lapack {

using Int = std::int32_t;  // as Debian builds it

// Gives room for so many numbers, which the next call may take back; null: there is none, and kNoRoom is the result.
template <typename T>
using Room = std::function<T*(std::size_t numbers)>;
inline constexpr Int kNoRoom = std::numeric_limits<Int>::min();

// The upper triangle of a becomes U with a = U^T U. Not 0: the order of a leading minor that is not positive.
template <typename T>
Int potrf(Int n, T* a);

// Rows i and pivots[i] - 1 change places, one after the other. Not 0: a pivot is 0, and that is its number.
template <typename T>
Int getrf(Int rows, Int columns, T* a, Int* pivots);

// Solves with what getrf made.
template <typename T>
void getrs(Int n, Int columns, const T* lu, const Int* pivots, T* b);

// R in the upper triangle, reflectors below it; `taus`: min(rows, columns).
template <typename T>
Int geqrf(Int rows, Int columns, T* a, T* taus, Room<T>& room);

// The first `columns` columns of Q from `reflectors` of them.
template <typename T>
Int orgqr(Int rows, Int columns, Int reflectors, T* a, const T* taus, Room<T>& room);

// u: [rows, k], vt: [k, columns]; a is lost. Not 0: it did not converge.
template <typename T>
Int gesdd(Int rows, Int columns, T* a, T* s, T* u, T* vt, Room<T>& room);

// Eigenvalues, ascending; a, whose lower triangle is read, becomes the eigenvectors. Not 0: it did not converge.
template <typename T>
Int syevd(Int n, T* a, T* values, Room<T>& room);

}  // namespace burn::backends::cpu::lapack
