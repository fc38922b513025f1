// What has to happen around a batch that one thread makes and another uses.
//
// scope() is called before the batcher, on the thread that makes the batch: a worker's or, without workers, the
// consumer's. What it returns is destroyed on that thread when the batcher has returned or thrown.
//
// Making tensors records operations in a recording of the thread; a batch made by a worker must bring its part along.
// So the loader's workers call detach() after the batcher, and the token that it returns travels with the batch to the
// thread that consumes it, which passes it to adopt() before it sees the batch. Without workers neither is called. A
// token whose batch is never consumed is destroyed unadopted, after the batch.
//
// before_next() is called on the consumer's thread each time it asks for a batch, with workers or without. It may wait:
// that keeps a loop that never reads from feeding the device without bound.
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

// The hooks of every loader built without hooks of its own, from its next epoch on. Thread-safe.
void set_batch_hooks(BatchHooks hooks);
BatchHooks batch_hooks();

}  // namespace burn::data
