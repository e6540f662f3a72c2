#include "text/stream.h"

#include <algorithm>

#include "text/utf8.h"

namespace outrider {

TextStream::TextStream(const Tokenizer& tokenizer, std::vector<std::string> stops, bool special)
    : tokenizer_(&tokenizer), stops_(std::move(stops)), special_(special) {}

// Bytes at the end that may yet turn out to be the start of a stop string or of a character.
size_t TextStream::undecided_tail() const {
  size_t tail = incomplete_utf8_tail(pending_);
  for (const std::string& stop : stops_)
    for (size_t n = std::min(pending_.size(), stop.empty() ? 0 : stop.size() - 1); n > tail; --n)
      if (std::string_view(pending_).ends_with(std::string_view(stop).substr(0, n))) tail = n;
  return tail;
}

std::string TextStream::push_bytes(std::string_view bytes) {
  if (stop_) return "";
  pending_ += bytes;
  // The stop that is complete first wins, as if bytes came one by one; of two that end together, the longer.
  size_t first_end = std::string::npos;
  for (size_t i = 0; i < stops_.size(); ++i) {
    if (stops_[i].empty()) continue;
    const size_t at = pending_.find(stops_[i]);
    if (at == std::string::npos) continue;
    const size_t end = at + stops_[i].size();
    if (end < first_end || (end == first_end && stops_[i].size() > stops_[*stop_].size())) first_end = end, stop_ = i;
  }
  const size_t ready = stop_ ? first_end - stops_[*stop_].size() : pending_.size() - undecided_tail();
  // A character that the stop string cuts in two is as complete as it will get; otherwise the tail was left out above.
  std::string out = replace_invalid_utf8(std::string_view(pending_).substr(0, ready));
  if (stop_) pending_.clear();
  else pending_.erase(0, ready);
  return out;
}

std::string TextStream::flush() {
  std::string out = replace_invalid_utf8(pending_);
  pending_.clear();
  return out;
}

}  // namespace outrider
