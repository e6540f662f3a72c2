#pragma once
// Values to bytes and back, named once for both directions, so that writing and reading cannot disagree. For notes that a program keeps
// for itself on one machine: the layout is the machine's own.
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace outrider {

class Archive {
 public:
  Archive() = default;                                               // writes
  explicit Archive(std::span<const std::byte> bytes) : rest_(bytes), reading_(true) {}

  template <class T>
    requires std::is_trivially_copyable_v<T>
  void value(T& x) { bytes({reinterpret_cast<std::byte*>(&x), sizeof x}); }

  // Reading past the end leaves `b` as it is, and whole() says so.
  void bytes(std::span<std::byte> b) {
    if (!reading_) {
      written_.insert(written_.end(), b.begin(), b.end());
    } else if (b.size() > rest_.size()) {
      short_ = true;
    } else {
      if (!b.empty()) std::memcpy(b.data(), rest_.data(), b.size());
      rest_ = rest_.subspan(b.size());
    }
  }

  bool reading() const { return reading_; }
  bool whole() const { return !short_ && rest_.empty(); }  // reading: nothing was missing, nothing is left
  const std::vector<std::byte>& written() const { return written_; }

 private:
  std::vector<std::byte> written_;
  std::span<const std::byte> rest_;
  bool reading_ = false, short_ = false;
};

}  // namespace outrider
