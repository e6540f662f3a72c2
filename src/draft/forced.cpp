#include "draft/forced.h"

namespace outrider {
namespace {

class ForcedReader final : public Reader {
 public:
  explicit ForcedReader(const Foresight& foresight) : foresight_(foresight) {}
  void append(std::span<const int32_t>) override {}  // whoever gives the foresight follows the text
  void guess(std::span<const int32_t> drafted, Guesses& out) const override {
    if (const int32_t token = foresight_.only_choice(drafted); token >= 0) out.add({token, 0, 1});
  }

 private:
  const Foresight& foresight_;
};

}  // namespace

Result<std::unique_ptr<Reader>> ForcedSource::open(const SourceRequest& request) {
  if (!request.foresight) return Error{"nothing forces the answer", ""};
  return std::unique_ptr<Reader>(std::make_unique<ForcedReader>(*request.foresight));
}

}  // namespace outrider
