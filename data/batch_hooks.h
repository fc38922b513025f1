// Callbacks around a batch that one thread makes and another uses.
//
// scope() is called before the batcher, on the thread that makes the batch: a worker's or, without workers, the
// consumer's. Its result is destroyed on that thread when the batcher has returned or thrown.
//
// Making tensors records operations in the thread's recording, which a worker must pass on with its batch. So the
// loader's workers call detach() after the batcher. The token that it returns is passed with the batch to the
// consumer's thread, which calls adopt() with it before it uses the batch. Without workers neither is called. If a
// batch is never consumed, its token is destroyed after it, without adopt().
//
// before_next() is called on the consumer's thread each time it asks for a batch, with workers or without. It may wait,
// so that a loop that never reads does not feed the device without bound.
#pragma once

#include <functional>
#include <memory>

namespace burn::data {

struct BatchHooks {
  std::function<std::shared_ptr<void>()> scope;      // where the batch is made
  std::function<std::shared_ptr<void>()> detach;     // on the worker, also if the batcher throws: the token is dropped
  std::function<void(std::shared_ptr<void>)> adopt;  // on the consumer
  std::function<void()> before_next;                 // on the consumer
};

// Sets the hooks of every loader built without its own, from the loader's next epoch on. Thread-safe.
void set_batch_hooks(BatchHooks hooks);
BatchHooks batch_hooks();

}  // namespace burn::data
