#pragma once
// Every option and command, described once. Parsing, help, environment variables, shell completion and `options --json` are made from this.
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace outrider::cli {

enum class Kind { flag, integer, number, text, list };  // list: may be given several times

// Commands an option belongs to, as a bit set.
enum Command : uint32_t {
  kRun = 1, kInspect = 2, kTokenize = 4, kTemplate = 8, kPerplexity = 16, kLogits = 32, kVerify = 64, kVersion = 128, kOptions = 256, kCompletion = 512,
  kPasses = 1024, kBench = 2048, kAnswers = 4096,
  kModelCommands = kRun | kPerplexity | kLogits | kVerify | kPasses | kBench | kAnswers,
  kAnswering = kRun | kAnswers,
};

// What a command takes without an option's name before it.
enum class Words { none, model, model_and_text, shell };

struct CommandInfo {
  Command command;
  std::string_view name, arguments;
  Words words;
  std::string_view summary;
};
std::span<const CommandInfo> command_table();
const CommandInfo* find_command(std::string_view name);

struct Option {
  std::string_view name;      // without dashes; the environment variable is OUTRIDER_NAME
  std::string_view aliases;   // "-m" or "-md,--model-draft"
  Kind kind;
  std::string_view value;     // what stands for the value in the help
  std::string_view fallback;  // default, as text; "" = none
  double low, high;           // range of numbers
  std::string_view choices;   // "f16|q8_0"; "" = anything
  std::string_view group, help;
  uint32_t commands;
};
std::span<const Option> option_table();
std::string environment_name(const Option& option);

// The values of one call: command line before environment before default.
class Values {
 public:
  void set(std::string_view name, std::string value, bool from_user);
  bool given(std::string_view name) const;  // by command line or environment
  bool flag(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  uint64_t natural(std::string_view name) const;  // up to 2⁶⁴−1
  double number(std::string_view name) const;
  std::string text(std::string_view name) const;
  std::vector<std::string> list(std::string_view name) const;

  Command command = kRun;
  std::string shell;  // of `completion`

 private:
  struct Entry {
    std::vector<std::string> values;
    bool from_user = false;
  };
  std::map<std::string, Entry, std::less<>> entries_;
};

// Checks one value against its option: type, range, choices. The hint is left to the caller.
Result<void> check_value(const Option& option, const std::string& value, const std::string& source);
// «1,2,3» as numbers; `option` is named in the error.
Result<std::vector<int64_t>> parse_numbers(const std::string& text, const char* option);

// Reads arguments (without the program's name) and environment. Help is an Outcome of its own.
struct Parsed {
  Values values;
  std::optional<std::string> help;  // text to print instead of running
};
Result<Parsed> parse_arguments(const std::vector<std::string>& arguments);

std::string help_text(const CommandInfo* command);  // null: the overview

}  // namespace outrider::cli
