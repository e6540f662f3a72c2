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

// The first `ready` bytes of what is pending, cut where the pushes end: not within a character, so that each cut piece is replaced as
// it would be in the whole.
std::string TextStream::give(size_t ready) {
  std::string out;
  size_t from = 0;
  while (from < ready) {
    size_t end = std::min(pushed_.front().end, ready);
    while (end < ready && (pending_[end] & 0xC0) == 0x80) ++end;
    out += replace_invalid_utf8(std::string_view(pending_).substr(from, end - from));
    parts_.push_back({out.size(), pushed_.front().push});
    while (!pushed_.empty() && pushed_.front().end <= end) pushed_.pop_front();
    from = end;
  }
  pending_.erase(0, ready);
  for (Part& p : pushed_) p.end -= ready;
  return out;
}

std::string TextStream::push_bytes(std::string_view bytes) {
  parts_.clear();
  const size_t push = pushes_++;
  if (stop_) return "";
  pending_ += bytes;
  if (!bytes.empty()) pushed_.push_back({pending_.size(), push});
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
  std::string out = give(ready);
  if (stop_) pending_.clear(), pushed_.clear();
  return out;
}

std::string TextStream::flush() {
  parts_.clear();
  return give(pending_.size());
}

}  // namespace outrider
