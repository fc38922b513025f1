#include "backends/cpu/kernels/lapack.h"

#include <algorithm>
#include <cstddef>
#include <vector>

using burn::backends::cpu::lapack::Int;

// The Fortran symbols; the lengths of texts come last, as gfortran passes them.
#define BURN_LAPACK(letter, T)                                                                                        \
  extern "C" {                                                                                                        \
  void letter##potrf_(const char* uplo, const Int* n, T* a, const Int* lda, Int* info, std::size_t);                  \
  void letter##getrf_(const Int* m, const Int* n, T* a, const Int* lda, Int* pivots, Int* info);                      \
  void letter##getrs_(const char* trans, const Int* n, const Int* columns, const T* a, const Int* lda,                \
                      const Int* pivots, T* b, const Int* ldb, Int* info, std::size_t);                               \
  void letter##geqrf_(const Int* m, const Int* n, T* a, const Int* lda, T* tau, T* work, const Int* size, Int* info); \
  void letter##orgqr_(const Int* m, const Int* n, const Int* k, T* a, const Int* lda, const T* tau, T* work,          \
                      const Int* size, Int* info);                                                                    \
  void letter##gesdd_(const char* job, const Int* m, const Int* n, T* a, const Int* lda, T* s, T* u, const Int* ldu,  \
                      T* vt, const Int* ldvt, T* work, const Int* size, Int* iwork, Int* info, std::size_t);          \
  void letter##syevd_(const char* job, const char* uplo, const Int* n, T* a, const Int* lda, T* w, T* work,           \
                      const Int* size, Int* iwork, const Int* isize, Int* info, std::size_t, std::size_t);            \
  }
BURN_LAPACK(s, float)
BURN_LAPACK(d, double)
#undef BURN_LAPACK

namespace burn::backends::cpu::lapack {
namespace {

// Calls f(work, size, info) once for the size that it needs, and again with work space of that size.
template <typename T, typename F>
Int with_work(WorkspaceAllocator<T>& room, const F& f) {
  Int info = 0, size = -1;
  T wanted = 0;
  f(&wanted, &size, &info);
  if (info != 0) return info;
  // A float may have rounded the number down.
  size = static_cast<Int>(std::max(1.0, static_cast<double>(wanted) * (1 + 1e-6) + 1));
  T* work = room(static_cast<std::size_t>(size));
  if (!work) return kNoWorkspace;
  f(work, &size, &info);
  return info;
}

}  // namespace

#define BURN_LAPACK(letter, T)                                                                                      \
  template <>                                                                                                       \
  Int potrf(Int n, T* a) {                                                                                          \
    Int info = 0;                                                                                                   \
    letter##potrf_("U", &n, a, &n, &info, 1);                                                                       \
    return info;                                                                                                    \
  }                                                                                                                 \
  template <>                                                                                                       \
  Int getrf(Int rows, Int columns, T* a, Int* pivots) {                                                             \
    Int info = 0;                                                                                                   \
    letter##getrf_(&rows, &columns, a, &rows, pivots, &info);                                                       \
    return info;                                                                                                    \
  }                                                                                                                 \
  template <>                                                                                                       \
  void getrs(Int n, Int columns, const T* lu, const Int* pivots, T* b) {                                            \
    Int info = 0;                                                                                                   \
    letter##getrs_("N", &n, &columns, lu, &n, pivots, b, &n, &info, 1);                                             \
  }                                                                                                                 \
  template <>                                                                                                       \
  Int geqrf(Int rows, Int columns, T* a, T* taus, WorkspaceAllocator<T>& room) {                                    \
    return with_work(                                                                                               \
        room, [&](T* w, Int* size, Int* info) { letter##geqrf_(&rows, &columns, a, &rows, taus, w, size, info); }); \
  }                                                                                                                 \
  template <>                                                                                                       \
  Int orgqr(Int rows, Int columns, Int reflectors, T* a, const T* taus, WorkspaceAllocator<T>& room) {              \
    return with_work(room, [&](T* w, Int* size, Int* info) {                                                        \
      letter##orgqr_(&rows, &columns, &reflectors, a, &rows, taus, w, size, info);                                  \
    });                                                                                                             \
  }                                                                                                                 \
  template <>                                                                                                       \
  Int gesdd(Int rows, Int columns, T* a, T* s, T* u, T* vt, WorkspaceAllocator<T>& room) {                          \
    const Int k = std::min(rows, columns);                                                                          \
    std::vector<Int> whole(8 * static_cast<std::size_t>(k));                                                        \
    return with_work(room, [&](T* w, Int* size, Int* info) {                                                        \
      letter##gesdd_("S", &rows, &columns, a, &rows, s, u, &rows, vt, &k, w, size, whole.data(), info, 1);          \
    });                                                                                                             \
  }                                                                                                                 \
  template <>                                                                                                       \
  Int syevd(Int n, T* a, T* values, WorkspaceAllocator<T>& room) {                                                  \
    std::vector<Int> whole(3 + 5 * static_cast<std::size_t>(n));                                                    \
    const Int count = static_cast<Int>(whole.size());                                                               \
    return with_work(room, [&](T* w, Int* size, Int* info) {                                                        \
      letter##syevd_("V", "L", &n, a, &n, values, w, size, whole.data(), &count, info, 1, 1);                       \
    });                                                                                                             \
  }
BURN_LAPACK(s, float)
BURN_LAPACK(d, double)
#undef BURN_LAPACK

}  // namespace burn::backends::cpu::lapack
