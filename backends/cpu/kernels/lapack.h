// Factorisations of one matrix by LAPACK, which is a part of OpenBLAS. Matrices are stored column by column without
// gaps: element (i, j) of `rows` rows is a[i + j * rows]. Functions return LAPACK's `info`: 0, or a number that is
// explained at the function; there are no other failures, as arguments are checked before. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace burn::backends::cpu::lapack {

using Int = std::int32_t;  // as Debian builds it

// Returns memory for so many numbers, valid until the next call; null: there is none, and the result is kNoWorkspace.
template <typename T>
using WorkspaceAllocator = std::function<T*(std::size_t numbers)>;
inline constexpr Int kNoWorkspace = std::numeric_limits<Int>::min();

// The upper triangle of a becomes U with a = U^T U. Not 0: the order of a leading minor that is not positive.
template <typename T>
Int potrf(Int n, T* a);

// Rows i and pivots[i] - 1 are exchanged, one pair after the other. Not 0: the number of a pivot that is 0.
template <typename T>
Int getrf(Int rows, Int columns, T* a, Int* pivots);

// Solves with the result of getrf.
template <typename T>
void getrs(Int n, Int columns, const T* lu, const Int* pivots, T* b);

// R in the upper triangle, reflectors below it; `taus`: min(rows, columns).
template <typename T>
Int geqrf(Int rows, Int columns, T* a, T* taus, WorkspaceAllocator<T>& room);

// The first `columns` columns of Q, from that many `reflectors`.
template <typename T>
Int orgqr(Int rows, Int columns, Int reflectors, T* a, const T* taus, WorkspaceAllocator<T>& room);

// u: [rows, k], vt: [k, columns]; a is overwritten. Not 0: no convergence.
template <typename T>
Int gesdd(Int rows, Int columns, T* a, T* s, T* u, T* vt, WorkspaceAllocator<T>& room);

// Eigenvalues, ascending; the lower triangle of a is read, and a becomes the eigenvectors. Not 0: no convergence.
template <typename T>
Int syevd(Int n, T* a, T* values, WorkspaceAllocator<T>& room);

}  // namespace burn::backends::cpu::lapack
