// A counted pointer to an object that carries its own count: one word, no control block.
#pragma once

#include <utility>

namespace burn {

// T provides, found by argument-dependent lookup: void retain(T&) and void drop(T&), the latter freeing it with the
// last owner.
template <typename T>
class Ptr {
 public:
  Ptr() = default;
  explicit Ptr(T* object) : object_(object) {
    if (object_) retain(*object_);
  }
  // Takes over a count that the object has already: of one that was made with its first owner.
  static Ptr adopt(T* object) {
    Ptr result;
    result.object_ = object;
    return result;
  }
  Ptr(const Ptr& other) : Ptr(other.object_) {}
  Ptr(Ptr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ptr& operator=(Ptr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ptr() {
    if (object_) drop(*object_);
  }

  T* get() const { return object_; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  friend bool operator==(const Ptr& a, const Ptr& b) { return a.object_ == b.object_; }

 private:
  T* object_ = nullptr;
};

}  // namespace burn
