// Factorisations of one matrix by LAPACK, which OpenBLAS brings along. A matrix lies column by column without gaps:
// element (i, j) of `rows` rows is a[i + j * rows]. Results are what LAPACK's `info` says: 0, or a number that the
// function here explains; there are no other failures, for arguments are checked before. Thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace burn::backends::cpu::lapack {

using Int = std::int32_t;  // as Debian builds it

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
void geqrf(Int rows, Int columns, T* a, T* taus, std::vector<T>& work);

// The first `columns` columns of Q from `reflectors` of them.
template <typename T>
void orgqr(Int rows, Int columns, Int reflectors, T* a, const T* taus, std::vector<T>& work);

// u: [rows, k], vt: [k, columns]; a is lost. Not 0: it did not converge.
template <typename T>
Int gesdd(Int rows, Int columns, T* a, T* s, T* u, T* vt, std::vector<T>& work);

// Eigenvalues, ascending; a, whose lower triangle is read, becomes the eigenvectors. Not 0: it did not converge.
template <typename T>
Int syevd(Int n, T* a, T* values, std::vector<T>& work);

}  // namespace burn::backends::cpu::lapack
