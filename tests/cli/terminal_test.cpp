#include "cli/terminal.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <unistd.h>

#include <regex>
#include <vector>

namespace outrider::cli {
namespace {

// stderr is a terminal while this lives.
class StderrTerminal {
 public:
  StderrTerminal() : before_(dup(2)) {
    int slave = -1;
    EXPECT_EQ(openpty(&master_, &slave, nullptr, nullptr, nullptr), 0);
    dup2(slave, 2), close(slave);
  }
  ~StderrTerminal() { dup2(before_, 2), close(before_), close(master_); }
  // Writes to a pty come out one by one.
  std::string shown() const {
    std::string text;
    pollfd waiting{master_, POLLIN, 0};
    while (poll(&waiting, 1, 200) > 0) {
      char buffer[4096];
      const ssize_t n = ::read(master_, buffer, sizeof buffer);
      if (n <= 0) break;
      text.append(buffer, size_t(n));
    }
    return text;
  }

 private:
  int before_, master_ = -1;
};

TEST(Progress, ALateReportDoesNotMoveTheBarBack) {
  std::string shown;
  {
    const StderrTerminal terminal;
    const auto progress = load_progress("loading");
    ASSERT_TRUE(progress);
    for (const size_t done : {10, 50, 30, 50, 49, 60}) progress(done, 100);
    shown = terminal.shown();
  }
  std::vector<int> percents;
  const std::regex percent("(\\d+)%");
  for (std::sregex_iterator it(shown.begin(), shown.end(), percent), end; it != end; ++it) percents.push_back(std::stoi((*it)[1]));
  EXPECT_EQ(percents, (std::vector<int>{10, 50, 60})) << shown;
  clear_progress();
}

}  // namespace
}  // namespace outrider::cli
