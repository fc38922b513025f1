// Tensors of the wrong rank or kind: none of these functions may compile, and each error must be one static
// assertion that shows both ranks. tests/nn/refused/refused.cmake compiles this file and looks for each "refused:" in
// what the compiler says. Each pair of ranks occurs only once, as a compiler reports a pair only once.
#include "client/tensor/tensor.h"

namespace burn {

// refused: error: static assertion failed: this tensor does not have the rank that is asked for
// refused: (2 == 1)
void sum(const Tensor<1>& a, const Tensor<2>& b) { (void)(a + b); }
// refused: (1 == 2)
void product(const Tensor<2>& a, const Tensor<1>& b) { (void)(a * b); }
// refused: (3 == 1)
void sum_in_place(Tensor<1> a, const Tensor<3>& b) { a += b; }
// refused: (1 == 3)
void greater(const Tensor<3>& a, const Tensor<1>& b) { (void)(a > b); }
// refused: (4 == 1)
void subtract(const Tensor<1>& a, const Tensor<4>& b) { (void)a.sub(b); }
// refused: (1 == 4)
void divide(const Tensor<4>& a, const Tensor<1>& b) { (void)a.div(b); }
// refused: (5 == 1)
void remainder(const Tensor<1>& a, const Tensor<5>& b) { (void)a.remainder(b); }
// refused: (1 == 5)
void power(const Tensor<5>& a, const Tensor<1>& b) { (void)a.powf(b); }
// refused: (6 == 1)
void larger(const Tensor<1>& a, const Tensor<6>& b) { (void)a.max_pair(b); }
// refused: (1 == 6)
void equal(const Tensor<6>& a, const Tensor<1>& b) { (void)a.equal(b); }
// refused: (3 == 2)
void matmul(const Tensor<2>& a, const Tensor<3>& b) { (void)a.matmul(b); }
// refused: (2 == 3)
void cat(const Tensor<3>& a, const Tensor<2>& b) { (void)Tensor<3>::cat({a, b}, 0); }
// refused: (4 == 2)
void stack(const Tensor<2>& a, const Tensor<4>& b) { (void)Tensor<2>::stack({a, b}, 0); }
// refused: (2 == 4)
void where(const Tensor<4>& a, const Tensor<4, Bool>& mask, const Tensor<2>& b) { (void)a.mask_where(mask, b); }
// refused: (5 == 2)
void where(const Tensor<2>& a, const Tensor<5, Bool>& mask) { (void)a.mask_where(mask, a); }
// refused: (2 == 5)
void fill(const Tensor<5>& a, const Tensor<2, Bool>& mask) { (void)a.mask_fill(mask, 0); }
// refused: (6 == 2)
void both(const Tensor<2, Bool>& a, const Tensor<6, Bool>& b) { (void)(a & b); }
// refused: (2 == 6)
Tensor<6> assigned(const Tensor<2>& a) { return a; }
// refused: this tensor is not of the kind that is asked for
void kinds(const Tensor<2>& a, const Tensor<2, Int>& b) { (void)(a + b); }

}  // namespace burn
