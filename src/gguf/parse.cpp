#include "gguf/parse.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_set>

static_assert(std::endian::native == std::endian::little, "GGUF is read in place on little-endian machines");

namespace outrider {
namespace {

__extension__ typedef unsigned __int128 Wide;  // products of file fields that may exceed 64 bits

constexpr const char* kDamaged = "the file is damaged or was made by a broken tool; download or convert it again";
constexpr size_t kReadAhead = 1u << 20;
constexpr uint64_t kMinKeyBytes = 8 + 1 + 4 + 1, kMinTensorBytes = 8 + 1 + 4 + 8 + 4 + 8;

// Walks the header, reading more of the file as it goes. After the first failure every read gives zeros and the first error stays.
class Cursor {
 public:
  explicit Cursor(const ReadOnlyFile& file) : file_(file) {}

  uint64_t offset() const { return offset_; }
  uint64_t remaining() const { return file_.size_bytes() - offset_; }
  bool failed() const { return bool(error_); }
  Error error() const { return *error_; }
  const std::vector<std::byte>& bytes() const { return bytes_; }  // the file from its start, as far as it has been read
  std::vector<std::byte> take_bytes() { return std::move(bytes_); }

  // «what» completes: 'FILE': bad header at offset N: …
  void fail(uint64_t at, const std::string& what, const std::string& hint = "") {
    if (!error_) error_ = Error{"'" + file_.path() + "': bad header at offset " + std::to_string(at) + ": " + what, hint.empty() ? kDamaged : hint};
  }
  void fail(const std::string& what) { fail(offset_, what); }

  // Makes `n` bytes at the current offset available.
  bool need(uint64_t n, std::string_view what) {
    if (error_) return false;
    if (n > remaining()) {
      fail(std::string(what) + " needs " + std::to_string(n) + " bytes, but the file ends at " + std::to_string(file_.size_bytes()));
      return false;
    }
    if (n > kMaxHeaderBytes || offset_ + n > kMaxHeaderBytes) {
      fail(std::string(what) + " would make the header larger than " + std::to_string(kMaxHeaderBytes >> 20) + " MiB");
      return false;
    }
    if (offset_ + n <= bytes_.size()) return true;
    const size_t old = bytes_.size(), wanted = size_t(std::min<uint64_t>(std::max<uint64_t>(offset_ + n, old + kReadAhead), file_.size_bytes()));
    bytes_.resize(wanted);
    if (auto read = file_.read(old, std::span(bytes_).subspan(old)); !read) { error_ = read.error(); return false; }
    return true;
  }

  template <class T>
  T number(std::string_view what) {
    T value{};
    if (!need(sizeof(T), what)) return value;
    std::memcpy(&value, bytes_.data() + offset_, sizeof(T));
    offset_ += sizeof(T);
    return value;
  }

  // A length and that many bytes. The view lives until the next read.
  std::string_view string(std::string_view what) {
    const uint64_t at = offset_, length = number<uint64_t>(what);
    if (error_) return {};
    if (length > remaining()) {
      fail(at, std::string(what) + " claims " + std::to_string(length) + " bytes, but only " + std::to_string(remaining()) + " follow");
      return {};
    }
    if (!need(length, what)) return {};
    std::string_view text(reinterpret_cast<const char*>(bytes_.data()) + offset_, size_t(length));
    offset_ += length;
    return text;
  }

  void skip(uint64_t n, std::string_view what) {
    if (need(n, what)) offset_ += n;
  }

 private:
  const ReadOnlyFile& file_;
  std::vector<std::byte> bytes_;
  uint64_t offset_ = 0;
  std::optional<Error> error_;
};

uint64_t aligned(uint64_t offset, uint64_t alignment) { return (offset + alignment - 1) / alignment * alignment; }
std::string quoted(std::string_view text) { return "'" + printable(text) + "'"; }

// What a file that does not start with GGUF seems to be.
Error not_gguf(const ReadOnlyFile& file, std::string_view start) {
  const std::string who = "'" + file.path() + "' ";
  if (start.empty()) return {who + "is empty", "download it again"};
  if (start.starts_with("version https://git-lfs"))
    return {who + "is a Git LFS pointer, not the model", "run `git lfs pull` in that repository, or download the file itself"};
  if (start.starts_with("<!DOC") || start.starts_with("<html")) return {who + "is a web page, not a model", "the download gave an HTML page; fetch the file itself"};
  if (start.starts_with("FUGG")) return {who + "is a big-endian GGUF file", "convert the model again for little-endian machines"};
  return {who + "is not a GGUF file: it starts with '" + printable(start.substr(0, 16)) + "' instead of 'GGUF'", "models are files in GGUF format, usually named *.gguf"};
}

Result<void> check_magic(const ReadOnlyFile& file) {
  std::byte start[64];
  const size_t n = size_t(std::min<uint64_t>(sizeof start, file.size_bytes()));
  if (auto read = file.read(0, std::span(start, n)); !read) return read.error();
  const std::string_view text(reinterpret_cast<const char*>(start), n);
  if (!text.starts_with("GGUF")) return not_gguf(file, text);
  if (n < 24) return Error{"'" + file.path() + "' is truncated: it ends at " + std::to_string(n) + ", a GGUF header needs at least 24 bytes", "download it again"};
  return {};
}

void check_version(Cursor& in, uint32_t version) {
  if (version == 2 || version == 3) return;
  const uint32_t swapped = __builtin_bswap32(version);
  if (swapped >= 1 && swapped <= 3) in.fail(4, "version " + std::to_string(swapped) + " in big-endian byte order", "convert the model again for little-endian machines");
  else if (version == 1) in.fail(4, "GGUF version 1 is no longer used", "convert the model again; versions 2 and 3 are read");
  else in.fail(4, "GGUF version " + std::to_string(version) + " is unknown", "versions 2 and 3 are read");
}

std::optional<ValueType> value_type(Cursor& in, std::string_view key) {
  const uint64_t at = in.offset();
  const uint32_t id = in.number<uint32_t>("value type");
  if (in.failed()) return std::nullopt;
  if (id < kValueTypes) return ValueType(id);
  in.fail(at, "key " + quoted(key) + " has unknown value type " + std::to_string(id));
  return std::nullopt;
}

void parse_bool(Cursor& in, const KeyInfo& key) {
  const uint64_t at = in.offset();
  const uint8_t value = in.number<uint8_t>("bool");
  if (value > 1) in.fail(at, "key " + quoted(key.name) + " holds a bool that is " + std::to_string(value));
}

void parse_array(Cursor& in, KeyInfo& key) {
  const auto element = value_type(in, key.name);
  const uint64_t at = in.offset();
  key.count = in.number<uint64_t>("array length");
  if (in.failed()) return;
  if (*element == ValueType::array) return in.fail(at, "key " + quoted(key.name) + " is an array of arrays");
  key.element = *element;
  key.offset = size_t(in.offset());
  const uint64_t least = *element == ValueType::string ? 8 : value_type_bytes(*element);
  if (key.count > in.remaining() / least)
    return in.fail(at, "array " + quoted(key.name) + " claims " + std::to_string(key.count) + " elements, but only " + std::to_string(in.remaining()) + " bytes follow");
  if (*element == ValueType::string) {
    for (uint64_t i = 0; i < key.count && !in.failed(); ++i) (void)in.string("element of " + quoted(key.name));
  } else if (*element == ValueType::boolean) {
    for (uint64_t i = 0; i < key.count && !in.failed(); ++i) parse_bool(in, key);
  } else {
    in.skip(key.count * least, "array " + quoted(key.name));
  }
}

void parse_key(Cursor& in, Header& header, std::unordered_set<std::string>& seen) {
  const uint64_t at = in.offset();
  KeyInfo key;
  key.name = std::string(in.string("key"));
  if (in.failed()) return;
  if (key.name.empty()) return in.fail(at, "a key has an empty name");
  if (key.name.size() > kMaxNameBytes) return in.fail(at, "key " + quoted(key.name) + " has a name of " + std::to_string(key.name.size()) + " bytes");
  if (!seen.insert(key.name).second) return in.fail(at, "key " + quoted(key.name) + " appears twice");
  const auto type = value_type(in, key.name);
  if (!type) return;
  key.type = *type;
  key.offset = size_t(in.offset());
  if (*type == ValueType::array) parse_array(in, key);
  else if (*type == ValueType::string) (void)in.string("value of " + quoted(key.name));
  else if (*type == ValueType::boolean) parse_bool(in, key);
  else in.skip(value_type_bytes(*type), "value of " + quoted(key.name));
  if (!in.failed()) header.keys.push_back(std::move(key));
}

void parse_dims(Cursor& in, TensorInfo& tensor) {
  const uint64_t at = in.offset();
  const uint32_t n_dims = in.number<uint32_t>("number of dimensions");
  if (in.failed()) return;
  if (n_dims < 1 || n_dims > 4) return in.fail(at, "tensor " + quoted(tensor.name) + " has " + std::to_string(n_dims) + " dimensions; 1 to 4 are possible");
  Wide elements = 1;
  for (uint32_t i = 0; i < n_dims; ++i) {
    const uint64_t dim = in.number<uint64_t>("dimension");
    if (in.failed()) return;
    if (dim == 0) return in.fail(at, "tensor " + quoted(tensor.name) + " has a dimension of 0");
    elements *= dim;
    if (elements > uint64_t(INT64_MAX)) return in.fail(at, "tensor " + quoted(tensor.name) + " has more elements than a file can hold");
    tensor.dims.push_back(dim);
  }
}

void parse_type(Cursor& in, TensorInfo& tensor) {
  const uint64_t at = in.offset();
  const uint32_t id = in.number<uint32_t>("tensor type");
  if (in.failed()) return;
  const TypeTraits* t = find_type(id);
  if (!t)
    return in.fail(at, "tensor " + quoted(tensor.name) + " has unknown type " + std::to_string(id), "types that can be run: " + runnable_type_names());
  tensor.type = t->type;
  if (tensor.dims[0] % t->block_elements)
    return in.fail(at, "tensor " + quoted(tensor.name) + " has rows of " + std::to_string(tensor.dims[0]) + " values, which is no multiple of the " +
                           std::to_string(t->block_elements) + " in a block of " + std::string(t->name));
  const Wide bytes = static_cast<Wide>(tensor.elements() / t->block_elements) * t->block_bytes;
  if (bytes > uint64_t(INT64_MAX)) return in.fail(at, "tensor " + quoted(tensor.name) + " has more bytes than a file can hold");
  tensor.size_bytes = uint64_t(bytes);
}

// Leaves the offset relative to the data section, which is not known yet.
void parse_tensor(Cursor& in, Header& header, std::unordered_set<std::string>& seen) {
  const uint64_t at = in.offset();
  TensorInfo tensor{};
  tensor.name = std::string(in.string("tensor name"));
  if (in.failed()) return;
  if (tensor.name.empty()) return in.fail(at, "a tensor has an empty name");
  if (tensor.name.size() > kMaxNameBytes) return in.fail(at, "tensor " + quoted(tensor.name) + " has a name of " + std::to_string(tensor.name.size()) + " bytes");
  if (!seen.insert(tensor.name).second) return in.fail(at, "tensor " + quoted(tensor.name) + " appears twice");
  parse_dims(in, tensor);
  if (in.failed()) return;
  parse_type(in, tensor);
  const uint64_t offset_at = in.offset();
  tensor.offset_bytes = in.number<uint64_t>("tensor offset");
  if (in.failed()) return;
  if (tensor.offset_bytes % header.alignment)
    return in.fail(offset_at, "tensor " + quoted(tensor.name) + " starts at " + std::to_string(tensor.offset_bytes) + ", which is not a multiple of the alignment " +
                                  std::to_string(header.alignment));
  header.tensors.push_back(std::move(tensor));
}

void read_alignment(Cursor& in, Header& header) {
  if (in.failed()) return;
  for (const KeyInfo& key : header.keys) {
    if (key.name != "general.alignment") continue;
    if (key.type != ValueType::u32) return in.fail(key.offset, "key 'general.alignment' is " + std::string(value_type_name(key.type)) + ", not u32");
    std::memcpy(&header.alignment, in.bytes().data() + key.offset, 4);
    if (!std::has_single_bit(header.alignment) || header.alignment > kMaxAlignment)
      return in.fail(key.offset, "alignment " + std::to_string(header.alignment) + " is not a power of two up to " + std::to_string(kMaxAlignment));
  }
}

// Tensors follow each other with no more than padding between them. A gap means that the one before is smaller than its data, as
// when its type was relabelled: it would be read as nonsense.
Error gap_error(const std::string& who, const TensorInfo* before, const TensorInfo& tensor, uint64_t expected) {
  const std::string starts = who + "tensor " + quoted(tensor.name) + " starts at " + std::to_string(tensor.offset_bytes) + " instead of " + std::to_string(expected);
  if (!before) return {starts + ", where the data begin", kDamaged};
  return {starts + ", where tensor " + quoted(before->name) + " of type " + std::string(traits(before->type).name) + " ends",
          "the type or shape of " + quoted(before->name) + " does not fit its data; download or convert the file again"};
}

// Places the tensors in the file and checks that each lies inside it, on no other, and right after the one before.
Result<void> place_tensors(const ReadOnlyFile& file, Header& header, uint32_t shard) {
  const std::string who = "'" + file.path() + "': ";
  std::vector<const TensorInfo*> by_offset;
  for (TensorInfo& tensor : header.tensors) {
    const Wide begin = static_cast<Wide>(header.data_offset) + tensor.offset_bytes, end = begin + tensor.size_bytes;
    if (end > file.size_bytes()) {
      const std::string needs = end > uint64_t(INT64_MAX) ? "bytes beyond 2^63" : "bytes up to " + std::to_string(uint64_t(end));
      return Error{who + "file ends at " + std::to_string(file.size_bytes()) + ", tensor " + quoted(tensor.name) + " needs " + needs,
                   "the file is truncated or damaged; download it again"};
    }
    tensor.offset_bytes = uint64_t(begin), tensor.shard = shard;
    by_offset.push_back(&tensor);
  }
  std::sort(by_offset.begin(), by_offset.end(), [](auto* a, auto* b) { return a->offset_bytes < b->offset_bytes; });
  const TensorInfo* before = nullptr;
  uint64_t end = header.data_offset;
  for (const TensorInfo* tensor : by_offset) {
    if (end > tensor->offset_bytes)
      return Error{who + "tensors " + quoted(before->name) + " and " + quoted(tensor->name) + " overlap at offset " + std::to_string(tensor->offset_bytes), kDamaged};
    const uint64_t expected = aligned(end, header.alignment);
    if (expected != tensor->offset_bytes) return gap_error(who, before, *tensor, expected);
    before = tensor, end = tensor->offset_bytes + tensor->size_bytes;
  }
  return {};
}

}  // namespace

Result<Header> parse_header(const ReadOnlyFile& file, uint32_t shard) {
  if (auto magic = check_magic(file); !magic) return magic.error();
  Cursor in(file);
  Header header;
  in.skip(4, "magic");
  check_version(in, header.version = in.number<uint32_t>("version"));
  const uint64_t tensors = in.number<uint64_t>("tensor count"), keys = in.number<uint64_t>("key count");
  if (!in.failed() && (keys > kMaxKeys || keys > in.remaining() / kMinKeyBytes)) in.fail(16, "a key count of " + std::to_string(keys) + " is not possible here");
  if (!in.failed() && (tensors > kMaxTensors || tensors > in.remaining() / kMinTensorBytes))
    in.fail(8, "a tensor count of " + std::to_string(tensors) + " is not possible here");
  if (in.failed()) return in.error();

  std::unordered_set<std::string> seen_keys, seen_tensors;
  for (uint64_t i = 0; i < keys && !in.failed(); ++i) parse_key(in, header, seen_keys);
  read_alignment(in, header);
  for (uint64_t i = 0; i < tensors && !in.failed(); ++i) parse_tensor(in, header, seen_tensors);
  if (in.failed()) return in.error();
  header.data_offset = aligned(in.offset(), header.alignment);
  header.bytes = in.take_bytes();
  if (auto placed = place_tensors(file, header, shard); !placed) return placed.error();
  return header;
}

}  // namespace outrider
