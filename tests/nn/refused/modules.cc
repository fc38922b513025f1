// Modules that must not compile. refused.cmake compiles this file and looks for each "refused:" in what the compiler
// says.
#include <any>
#include <list>
#include <memory>
#include <unordered_map>

#include "nn/layer/dropout.h"
#include "nn/layer/linear.h"

namespace burn {

struct TwoLayers {  // no BURN_MODULE
  std::int64_t count = 2;
  nn::Linear first, second;
};

// refused: BURN_MODULE(LeftOutLast): the list leaves out a field with tensors in it
struct LeftOutLast {
  nn::Linear a, b;
  BURN_MODULE(LeftOutLast, a)
};
// refused: BURN_MODULE(LeftOutFirst): the list leaves out
struct LeftOutFirst {
  std::optional<Param<1>> bias{};
  double rate = 0.5;
  nn::Linear a;
  BURN_MODULE(LeftOutFirst, a, rate)
};
// refused: BURN_MODULE(LeftOutTuple): the list leaves out
struct LeftOutTuple {
  std::string name;
  nn::Linear a;
  std::tuple<nn::Linear, int> rest;
  BURN_MODULE(LeftOutTuple, name, a)
};
// refused: BURN_MODULE(LeftOutAggregate): the list leaves out
struct LeftOutAggregate {
  nn::Linear a;
  TwoLayers rest;
  BURN_MODULE(LeftOutAggregate, a)
};
// refused: BURN_MODULE(LeftOutArray): the list leaves out
struct LeftOutArray {
  nn::Linear a[2];
  nn::Linear b;
  BURN_MODULE(LeftOutArray, a)
};
// refused: BURN_MODULE(LeftOutList): the list leaves out
struct LeftOutList {
  nn::Linear a;
  std::list<nn::Linear> rest;
  BURN_MODULE(LeftOutList, a)
};
// refused: BURN_MODULE(LeftOutTraining): the list leaves out
struct LeftOutTraining {
  double prob = 0.5;
  nn::Training training{};
  BURN_MODULE(LeftOutTraining, prob)
};
// refused: BURN_MODULE(LeftOutAll): the list leaves out
struct LeftOutAll {
  nn::Dropout dropout;
  BURN_MODULE(LeftOutAll)
};
struct BaseLayer {
  nn::Linear a, b;
  BURN_MODULE(BaseLayer, a, b)
};
// refused: BURN_MODULE(LeftOutOfBase): the list leaves out
struct LeftOutOfBase : BaseLayer {
  nn::Linear c;
  BURN_MODULE(LeftOutOfBase, a, c)
};
// refused: BURN_MODULE(LeftOutBesideBase): the list leaves out
struct LeftOutBesideBase : BaseLayer {
  nn::Linear c;
  BURN_MODULE(LeftOutBesideBase, a, b)
};
// refused: BURN_MODULE(LeftOutOfTemplate): the list leaves out
template <typename Inner>
struct LeftOutOfTemplate {
  Inner a, b;
  BURN_MODULE(LeftOutOfTemplate, a)
};
std::int64_t count(LeftOutOfTemplate<nn::Linear> module) { return module.num_params(); }

// refused: the field 'plain_struct' is of a type that cannot be visited
// refused: the field 'linked_list' is of a type that cannot be visited
// refused: the field 'hash_map' is of a type that cannot be visited
// refused: the field 'shared' is of a type that cannot be visited
// refused: the field 'pointer' is of a type that cannot be visited
// refused: the field 'unknown' is of a type that cannot be visited
// refused: the field 'mixed' is of a type that cannot be visited
struct Unvisitable {
  TwoLayers plain_struct;
  std::list<nn::Linear> linked_list;
  std::unordered_map<std::string, nn::Linear> hash_map;
  std::shared_ptr<nn::Linear> shared;
  nn::Linear* pointer = nullptr;
  std::any unknown;
  std::tuple<nn::Linear, std::shared_ptr<nn::Linear>> mixed;
  BURN_MODULE(Unvisitable, plain_struct, linked_list, hash_map, shared, pointer, unknown, mixed)
};
struct WithoutOwnList : BaseLayer {
  nn::Linear c;
};
// refused: the field 'inherited_list' is of a type that cannot be visited
struct Inheriting {
  WithoutOwnList inherited_list;
  BURN_MODULE(Inheriting, inherited_list)
};
// refused: the field 'owned' is of a type that cannot be visited
struct Uncopyable {
  std::unique_ptr<nn::Linear> owned;
  BURN_MODULE(Uncopyable, owned)
};

// refused: BURN_MODULE: the list names the field 'repeated' twice
struct Repeated {
  nn::Linear repeated, forgotten;
  BURN_MODULE(Repeated, repeated, repeated)
};
// refused: BURN_MODULE: the list names the field 'rate' twice
struct RepeatedNumber {
  nn::Linear a;
  double rate = 1;
  BURN_MODULE(RepeatedNumber, rate, a, rate)
};
// refused: BURN_MODULE: the list names the field 'skipped' twice
struct RepeatedAndSkipped {
  nn::Linear skipped, other;
  BURN_MODULE(RepeatedAndSkipped, skipped, BURN_SKIP(skipped))
};

}  // namespace burn
