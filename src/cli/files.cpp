#include "cli/files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/interrupts.h"

namespace outrider::cli {

namespace {

Error file_error(const std::string& doing, const std::string& path) {
  return Error{"cannot " + doing + " " + path + ": " + std::strerror(errno), "check the path, the permissions and the free space"};
}

Result<void> write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n >= 0) bytes.remove_prefix(size_t(n));
    else if (!try_again(fd, POLLOUT)) return file_error("write", path);
  }
  return {};
}

constexpr size_t kLargest = size_t(1) << 28;

// Up to the end or the first byte beyond `most`.
Result<Beginning> read_from(int fd, const std::string& name, size_t most) {
  Beginning got{{}, false};
  char buffer[1 << 16];
  while (!got.cut && wait_readable(fd)) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n == 0) break;
    if (n > 0) got.text.append(buffer, size_t(n));
    else if (!try_again(fd, POLLIN)) return file_error("read", name);
    got.cut = got.text.size() > most;
  }
  if (got.cut) got.text.resize(most);
  return got;
}

Result<Beginning> open_and_read(const std::string& path, size_t most) {
  // Without O_NONBLOCK, opening a pipe that nobody writes to would wait, and miss a request to stop that came just before.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return file_error("open", path);
  auto got = read_from(fd, path, most);
  ::close(fd);
  return got;
}

Result<std::string> whole(Result<Beginning> got, const std::string& name) {
  if (!got) return got.error();
  if (got->cut) return Error{name + " is larger than 256 MiB", "give a shorter text", ErrorKind::usage};
  return std::move(got->text);
}

// Writes and closes.
Result<void> fill_and_close(int fd, const std::string& path, bool to_disk, const std::function<Result<void>(const Put&)>& fill) {
  auto result = fill([&](std::string_view bytes) { return write_all(fd, bytes, path); });
  if (result && to_disk && ::fsync(fd) != 0 && errno != EINVAL) result = file_error("write", path);
  if (::close(fd) != 0 && result) result = file_error("write", path);
  return result;
}

}  // namespace

Result<std::string> read_file(const std::string& path) { return whole(open_and_read(path, kLargest), path); }
Result<std::string> read_stdin() { return whole(read_from(0, "standard input", kLargest), "standard input"); }
Result<Beginning> read_beginning(const std::string& path, size_t most) { return open_and_read(path, std::min(most, kLargest)); }

Result<void> write_file(const std::string& named, const std::function<Result<void>(const Put&)>& fill) {
  struct stat info {};
  const bool exists = ::stat(named.c_str(), &info) == 0;
  if (exists && !S_ISREG(info.st_mode)) {
    const int fd = ::open(named.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return fd < 0 ? file_error("write", named) : fill_and_close(fd, named, false, fill);
  }
  std::error_code missing;
  const std::filesystem::path target = std::filesystem::canonical(named, missing);  // a link stays a link
  const std::string path = missing ? named : target.string(), temporary = path + ".part";
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, exists ? info.st_mode & 0777 : 0666);
  if (fd < 0) return file_error("write", path);
  auto result = fill_and_close(fd, path, true, fill);
  if (result && ::rename(temporary.c_str(), path.c_str()) != 0) result = file_error("write", path);
  if (!result) ::unlink(temporary.c_str());
  return result;
}

}  // namespace outrider::cli
