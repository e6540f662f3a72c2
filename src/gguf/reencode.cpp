#include "gguf/reencode.h"

#include <algorithm>

#include "gguf/writer.h"
#include "quant/decode.h"
#include "quant/encode.h"

namespace outrider {
namespace {

Result<GgufWriter::Bytes> read_all(const GgufFile& file, const TensorInfo& tensor) {
  GgufWriter::Bytes bytes(tensor.size_bytes);
  if (auto read = file.read(tensor, 0, bytes); !read) return read.error();
  return bytes;
}

Result<GgufWriter::Bytes> encode_again(const GgufFile& file, const TensorInfo& tensor, QuantType type) {
  auto old = read_all(file, tensor);
  if (!old) return old.error();
  const size_t row = tensor.row_elements(), old_bytes = *bytes_for(tensor.type, row), new_bytes = *bytes_for(type, row);
  std::vector<float> values(row);
  GgufWriter::Bytes out(new_bytes * tensor.rows());
  for (size_t r = 0; r < tensor.rows(); ++r) {
    decode(tensor.type, old->data() + r * old_bytes, row, values.data());
    encode(type, values.data(), row, out.data() + r * new_bytes);
  }
  return out;
}

}  // namespace

Result<void> reencode(const GgufFile& from, const std::string& path, QuantType type) {
  if (!traits(type).runnable) return Error{"cannot encode to " + std::string(traits(type).name), "choose among " + runnable_type_names(), ErrorKind::usage};
  if (auto runnable = from.check_runnable(); !runnable) return runnable.error();
  GgufWriter out;
  out.copy_keys(from);
  out.remove("general.file_type");
  for (const TensorInfo& tensor : from.tensors()) {
    const bool again = tensor.dims.size() > 1 && tensor.type != type && bytes_for(type, tensor.row_elements());
    if (again) out.add_tensor(tensor.name, type, tensor.dims, [&from, &tensor, type] { return encode_again(from, tensor, type); });
    else out.add_tensor(tensor.name, tensor.type, tensor.dims, [&from, &tensor] { return read_all(from, tensor); });
  }
  return out.write(path);
}

}  // namespace outrider
