// An intrusive reference-counted pointer: one word, as the object contains its own count.
#pragma once

#include <utility>

namespace burn {

// Requires: void retain(T&) and void drop(T&), found by argument-dependent lookup; drop() frees the object when its
// count reaches 0.
template <typename T>
class Ptr {
 public:
  Ptr() = default;
  explicit Ptr(T* object) : object_(object) {
    if (object_) retain(*object_);
  }
  // Does not increment the count: for an object that was made with a count of 1.
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
