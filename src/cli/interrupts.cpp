#include "cli/interrupts.h"

#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>

namespace outrider::cli {

namespace {

std::atomic<bool> g_interrupted{false}, g_terminated{false};
termios g_terminal;  // as it was at the start
bool g_terminal_known = false;

void on_interrupt(int number) {
  if (number == SIGTERM) g_terminated = true;
  if (!g_interrupted.exchange(true)) return;
  if (g_terminal_known) tcsetattr(0, TCSANOW, &g_terminal);  // the line editor may have changed it
  _exit(128 + number);
}

}  // namespace

void ignore_write_signals() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

void watch_interrupts() {
  g_terminal_known = tcgetattr(0, &g_terminal) == 0;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

std::atomic<bool>& interrupted() { return g_interrupted; }
bool terminated() { return g_terminated; }
int interrupt_code() { return 128 + (g_terminated ? SIGTERM : SIGINT); }

void forget_interrupt() {
  g_interrupted = false;
  if (g_terminated) g_interrupted = true;
}

bool wait_readable(int fd) {
  // Blocked until ppoll lets them in, so that none slips in between the look at the flag and the wait.
  sigset_t requests, before;
  sigemptyset(&requests);
  sigaddset(&requests, SIGINT);
  sigaddset(&requests, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &requests, &before);
  pollfd waiting{fd, POLLIN, 0};
  while (!g_interrupted && ppoll(&waiting, 1, nullptr, &before) < 0 && errno == EINTR) {}
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return !g_interrupted;
}

bool try_again(int fd, short events) {
  if (errno == EINTR) return true;
  if (errno != EAGAIN) return false;
  pollfd waiting{fd, events, 0};
  ::poll(&waiting, 1, -1);  // what went wrong here, the next try tells
  return true;
}

}  // namespace outrider::cli
