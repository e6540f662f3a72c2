#include "cli/terminal.h"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#include "cli/interrupts.h"

namespace outrider::cli {

namespace {

int g_out_error = 0;  // errno of the write to stdout that failed
std::mutex g_progress_mutex;
bool g_progress_shown = false;

// 0, or the errno of what failed.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n >= 0) text.remove_prefix(size_t(n));
    else if (!try_again(fd, POLLOUT)) return errno;
  }
  return 0;
}

}  // namespace

bool stderr_is_terminal() { return isatty(2); }
bool stdin_is_terminal() { return isatty(0); }
bool stdout_is_terminal() { return isatty(1); }

bool colours_allowed() {
  const char* refusal = std::getenv("NO_COLOR");
  return !refusal || !*refusal;
}

bool write_out(std::string_view text) {
  if (g_out_error == 0) g_out_error = write_all(1, text);
  return g_out_error == 0;
}

Error output_error() {
  if (g_out_error == EPIPE) return {"standard output was closed", ""};
  return {std::string("cannot write to standard output: ") + std::strerror(g_out_error), ""};
}

int print(std::string_view result) { return write_out(result) ? 0 : report(output_error()); }

void say(const std::string& line) {
  clear_progress();
  (void)write_all(2, line + "\n");  // nobody may be reading
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

std::function<void(size_t, size_t)> load_progress(std::string label) {
  if (!stderr_is_terminal()) return {};
  return [label = std::move(label), last = std::make_shared<std::atomic<int>>(-1)](size_t done, size_t total) {
    const int percent = total ? int(100.0 * double(done) / double(total)) : 100;
    if (percent <= last->load(std::memory_order_relaxed)) return;  // most calls end here, without the lock
    std::lock_guard lock(g_progress_mutex);
    if (percent <= last->load(std::memory_order_relaxed)) return;  // several threads report, and one may come late
    last->store(percent, std::memory_order_relaxed);
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

}  // namespace outrider::cli
