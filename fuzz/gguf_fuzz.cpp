// Any bytes as a model file: opened, described, read, its vocabulary turned into a tokenizer and used. Nothing may crash, hang or take much memory.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "gguf/describe.h"
#include "model/vocabulary.h"
#include "text/tokenizer.h"

using namespace outrider;

namespace {

// A file in memory that can be opened by path.
class MemoryFile {
 public:
  MemoryFile(const uint8_t* data, size_t size) : descriptor_(memfd_create("gguf", MFD_CLOEXEC)) {
    if (descriptor_ < 0 || ::write(descriptor_, data, size) != ssize_t(size)) std::abort();
  }
  MemoryFile(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

void check_error(const Error& error) {
  if (error.message.empty() || error.message.find('\n') != std::string::npos) std::abort();
}

void use_vocabulary(const GgufFile& file) {
  auto vocabulary = read_vocabulary(file);
  if (!vocabulary) return check_error(vocabulary.error());
  auto tokenizer = Tokenizer::make(*vocabulary);
  if (!tokenizer) return check_error(tokenizer.error());
  const auto ids = tokenizer->encode("Hello <|im_end|>  the\n\xff world", {.parse_special = true, .add_special = true});
  for (TokenId id : ids)
    if (!vocabulary->contains(id)) std::abort();
  (void)tokenizer->decode(ids, true);
  if (!compare_vocabularies(*vocabulary, *vocabulary).compatible) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const MemoryFile memory(data, size);
  auto file = GgufFile::open(memory.path());
  if (!file) {
    check_error(file.error());
    return 0;
  }
  (void)describe(*file);
  (void)file->check_runnable();
  for (const TensorInfo& tensor : file->tensors()) {
    std::vector<std::byte> bytes(size_t(std::min<uint64_t>(tensor.size_bytes, 4096)));
    if (!file->read(tensor, tensor.size_bytes - bytes.size(), bytes)) std::abort();
  }
  use_vocabulary(*file);
  return 0;
}
