#include "gguf/descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace outrider {

Result<ReadOnlyFile> ReadOnlyFile::open(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos) return Error{"cannot open a model: the path is empty or holds a zero byte", ""};
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // non-blocking: a pipe must not hang us
  if (descriptor < 0) {
    const int reason = errno;
    return Error{"cannot open '" + path + "': " + std::strerror(reason),
                 reason == ENOENT ? "check the path; `ls` the folder to see the exact name" : reason == EACCES ? "check the file's permissions" : ""};
  }
  ReadOnlyFile file(path, descriptor, 0);
  struct stat info;
  if (fstat(descriptor, &info) != 0) return Error{"cannot examine '" + path + "': " + std::strerror(errno), ""};
  if (S_ISDIR(info.st_mode)) return Error{"'" + path + "' is a directory, not a model file", "name the .gguf file inside it"};
  if (!S_ISREG(info.st_mode)) return Error{"'" + path + "' is not a regular file", "save it to disk first; weights are read in any order"};
  file.size_ = uint64_t(info.st_size);
  return file;
}

ReadOnlyFile& ReadOnlyFile::operator=(ReadOnlyFile&& other) noexcept {
  std::swap(path_, other.path_), std::swap(descriptor_, other.descriptor_), std::swap(size_, other.size_);
  return *this;
}

ReadOnlyFile::~ReadOnlyFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<void> ReadOnlyFile::read(uint64_t offset, std::span<std::byte> out) const {
  size_t done = 0;
  while (done < out.size()) {
    const ssize_t n = ::pread(descriptor_, out.data() + done, out.size() - done, off_t(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Error{"cannot read '" + path_ + "' at offset " + std::to_string(offset + done) + ": " + std::strerror(errno), ""};
    if (n == 0)
      return Error{"'" + path_ + "' ends at " + std::to_string(offset + done) + " while bytes up to " + std::to_string(offset + out.size()) + " were wanted",
                   "the file became shorter while it was in use; do not overwrite a model that is loaded"};
    done += size_t(n);
  }
  return {};
}

void ReadOnlyFile::forget(uint64_t offset, uint64_t bytes) const { (void)::posix_fadvise(descriptor_, off_t(offset), off_t(bytes), POSIX_FADV_DONTNEED); }

}  // namespace outrider
