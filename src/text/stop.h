#pragma once
// The engine's question «does the answer end here?», answered by the text: tokens go through a TextStream, what is certain goes to a sink.
#include <functional>
#include <string_view>
#include <utility>

#include "engine/request.h"
#include "text/stream.h"

namespace outrider {

class TextStop final : public StopRule {
 public:
  // Called with non-empty valid UTF-8, once for each token that some of the text is of; tokens are numbered from 0.
  using Sink = std::function<void(std::string_view text, size_t token)>;

  TextStop(TextStream stream, Sink sink) : stream_(std::move(stream)), sink_(std::move(sink)) {}

  bool push(TokenId token) override {
    give(stream_.push(token));
    return stream_.stopped();
  }

  // When the request has finished: what was held back, unless a stop string ended the text.
  void finish() { give(stream_.flush()); }

  const TextStream& stream() const { return stream_; }

 private:
  void give(std::string_view text) {
    size_t from = 0;
    for (const TextStream::Part& part : stream_.parts()) sink_(text.substr(from, part.end - from), part.push), from = part.end;
  }

  TextStream stream_;
  Sink sink_;
};

}  // namespace outrider
