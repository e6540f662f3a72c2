#include "cli/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>

namespace outrider::cli {

namespace {

std::atomic<bool> g_interrupted{false};
bool g_out_closed = false;
std::mutex g_progress_mutex;
bool g_progress_shown = false;

void on_interrupt(int) {
  if (g_interrupted.exchange(true)) _exit(130);
}

Error file_error(const std::string& doing, const std::string& path) {
  return Error{"cannot " + doing + " " + path + ": " + std::strerror(errno), "check the path, the permissions and the free space"};
}

Result<void> write_all(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return file_error("write", path);
    content.remove_prefix(size_t(n));
  }
  return {};
}

Result<std::string> read_all(int fd, const std::string& name) {
  std::string text;
  char buffer[1 << 16];
  while (true) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) {
      if (g_interrupted) return text;
      continue;
    }
    if (n < 0) return file_error("read", name);
    if (n == 0) return text;
    text.append(buffer, size_t(n));
    if (text.size() > (size_t(1) << 28)) return Error{name + " is larger than 256 MiB", "give a shorter text", ErrorKind::usage};
  }
}

}  // namespace

bool stderr_is_terminal() { return isatty(2); }
bool stdin_is_terminal() { return isatty(0); }

bool write_out(std::string_view text) {
  while (!text.empty() && !g_out_closed) {
    const ssize_t n = ::write(1, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) g_out_closed = true;
    else text.remove_prefix(size_t(n));
  }
  return !g_out_closed;
}

void say(const std::string& line) {
  clear_progress();
  const std::string text = line + "\n";
  if (::write(2, text.data(), text.size()) < 0) return;  // nobody reads stderr
}

void warn(const std::string& line) { say("outrider: warning: " + line); }

int report(const Error& error) {
  say("outrider: " + error.message + (error.hint.empty() ? "" : "; " + error.hint));
  switch (error.kind) {
    case ErrorKind::usage: return 2;
    case ErrorKind::does_not_fit: return 3;
    case ErrorKind::failure: break;
  }
  return 1;
}

void watch_interrupts() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

void ignore_broken_pipes() { signal(SIGPIPE, SIG_IGN); }

std::atomic<bool>& interrupted() { return g_interrupted; }

std::function<void(size_t, size_t)> load_progress(std::string label) {
  if (!stderr_is_terminal()) return {};
  return [label = std::move(label), last = std::make_shared<std::atomic<int>>(-1)](size_t done, size_t total) {
    const int percent = total ? int(100.0 * double(done) / double(total)) : 100;
    if (last->exchange(percent) == percent) return;
    std::lock_guard lock(g_progress_mutex);
    std::string bar(size_t(percent) / 4, '#');
    bar.resize(25, '.');
    std::fprintf(stderr, "\r%s [%s] %3d%%", label.c_str(), bar.c_str(), percent);
    g_progress_shown = true;
  };
}

void clear_progress() {
  std::lock_guard lock(g_progress_mutex);
  if (g_progress_shown) std::fprintf(stderr, "\r\033[K");
  g_progress_shown = false;
}

Result<std::string> read_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return file_error("open", path);
  auto text = read_all(fd, path);
  ::close(fd);
  return text;
}

Result<std::string> read_stdin() { return read_all(0, "standard input"); }

Result<void> write_file(const std::string& named, std::string_view content) {
  std::error_code missing;
  const std::filesystem::path target = std::filesystem::canonical(named, missing);  // a link stays a link
  const std::string path = missing ? named : target.string();
  const std::string temporary = path + ".part";
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return file_error("write", path);
  auto result = write_all(fd, content, path);
  if (result && ::fsync(fd) != 0 && errno != EINVAL) result = file_error("write", path);
  if (::close(fd) != 0 && result) result = file_error("write", path);
  if (result && ::rename(temporary.c_str(), path.c_str()) != 0) result = file_error("write", path);
  if (!result) ::unlink(temporary.c_str());
  return result;
}

}  // namespace outrider::cli
