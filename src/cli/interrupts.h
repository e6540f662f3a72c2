#pragma once
// Requests to stop (Ctrl-C, SIGTERM), and waiting that heeds them.
#include <atomic>

namespace outrider::cli {

// A reader that went away and a file that may not grow show as a failed write, not as a signal.
void ignore_write_signals();
// From here on Ctrl-C and SIGTERM set the flag, for commands that can stop by themselves; another one while it is set ends the process.
void watch_interrupts();
std::atomic<bool>& interrupted();
// Ctrl-C was for the answer and the program goes on; SIGTERM stays, because it is for the program.
void forget_interrupt();
bool terminated();     // by SIGTERM
int interrupt_code();  // the exit code of a program that a signal ended: 130 or 143

// Waits until `fd` has something to read or has ended. False when a request to stop came first.
bool wait_readable(int fd);
// After a failed read or write: whether to repeat it. Waits for the other side of a non-blocking `fd` (events as for poll).
bool try_again(int fd, short events);

}  // namespace outrider::cli
