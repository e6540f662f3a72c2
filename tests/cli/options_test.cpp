#include "cli/options.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <limits>
#include <set>
#include <tuple>

#include "cli/numbers.h"
#include "cli/spec.h"

namespace outrider::cli {
namespace {

Parsed parsed(const std::vector<std::string>& arguments) {
  auto p = parse_arguments(arguments);
  EXPECT_TRUE(p.ok()) << (p.ok() ? "" : p.error().message);
  return p ? std::move(*p) : Parsed{};
}

std::string refused(const std::vector<std::string>& arguments) {
  const auto p = parse_arguments(arguments);
  EXPECT_FALSE(p.ok());
  if (p.ok()) return "";
  EXPECT_EQ(p.error().kind, ErrorKind::usage);
  return p.error().message + "; " + p.error().hint;
}

TEST(Options, NamesAndAliasesAreUniqueWithinACommand) {
  for (const CommandInfo& c : command_table()) {
    std::set<std::string> seen;
    for (const Option& o : option_table()) {
      if (!(o.commands & c.command)) continue;
      std::string aliases(o.aliases);
      aliases += ",--" + std::string(o.name);
      size_t at = 0;
      while (at < aliases.size()) {
        const size_t comma = std::min(aliases.find(',', at), aliases.size());
        const std::string name = aliases.substr(at, comma - at);
        if (!name.empty()) { EXPECT_TRUE(seen.insert(name).second) << c.name << " " << name; }
        at = comma + 1;
      }
      if (!o.fallback.empty() && o.name != "spec") { EXPECT_TRUE(check_value(o, std::string(o.fallback), "default").ok()) << o.name; }
    }
  }
}

TEST(Options, TheLineThatFingersKnow) {
  const Values v = parsed({"-m", "T.gguf", "--draft", "D.gguf", "-c", "8192", "--cache-type-k", "q8_0", "--cache-type-v", "q8_0", "--temp", "0.6", "--top-p", "0.9",
                           "--repeat-penalty", "1.1", "--draft-max", "10", "--draft-min", "4", "--draft-p-min", "0.9", "-n", "512", "-p", "Hello"}).values;
  EXPECT_EQ(v.command, kRun);
  EXPECT_EQ(v.text("model"), "T.gguf");
  EXPECT_EQ(v.integer("ctx-size"), 8192);
  EXPECT_EQ(v.text("cache-type-k"), "q8_0");
  EXPECT_DOUBLE_EQ(v.number("temp"), 0.6);
  EXPECT_EQ(v.integer("predict"), 512);
  const auto spec = plan_speculation(v);
  ASSERT_TRUE(spec.ok());
  EXPECT_TRUE(spec->model && spec->automatic && !spec->fixed);
  EXPECT_EQ(spec->sources.size(), source_kinds().size());
  EXPECT_EQ(spec->limits.max, 10);
  EXPECT_EQ(spec->limits.min, 4);
  EXPECT_FLOAT_EQ(spec->limits.min_probability, 0.9f);
}

TEST(Options, AliasesOfSeveralLetters) {
  const Values v = parsed({"run", "-m", "x", "-ctk", "q8_0", "-ctv=q8_0", "-md", "y", "-ctkd", "q8_0"}).values;
  EXPECT_EQ(v.text("cache-type-k"), "q8_0");
  EXPECT_EQ(v.text("cache-type-v"), "q8_0");
  EXPECT_EQ(v.text("draft"), "y");
  EXPECT_EQ(v.text("draft-cache-type-k"), "q8_0");
}

TEST(Options, WhatIsWrongIsNamed) {
  EXPECT_NE(refused({"run", "--tempp", "1"}).find("--temp?"), std::string::npos);
  EXPECT_NE(refused({"run", "--temp", "warm"}).find("warm"), std::string::npos);
  EXPECT_NE(refused({"run", "--draft-max", "1000"}).find("0 to 31"), std::string::npos);
  EXPECT_NE(refused({"run", "--draft-max", "-1"}).find("-1"), std::string::npos);
  EXPECT_NE(refused({"run", "--draft-p-min", "abc"}).find("abc"), std::string::npos);
  EXPECT_NE(refused({"run", "-c", "0"}).find("«0»"), std::string::npos);
  EXPECT_NE(refused({"run", "--cache-type-k", "q3"}).find("f16|q8_0"), std::string::npos);
}

TEST(Options, NumbersAreDecimalAndNothingElse) {
  for (const char* wrong : {"0x10", "1e1", " 3", "3 ", "3,0", "", "-", "+", "+-3", "--3", "1_000"}) {
    EXPECT_FALSE(parse_number(wrong, true)) << wrong;
    if (std::string_view(wrong) != "1e1") { EXPECT_FALSE(parse_number(wrong, false)) << wrong; }
  }
  for (const char* wrong : {"nan", "0x1p3", " 0.5", "0.5 "}) EXPECT_FALSE(parse_number(wrong, false)) << wrong;
  EXPECT_EQ(parse_number("-12", true), -12);
  EXPECT_EQ(parse_number("+12", true), 12);
  EXPECT_EQ(parse_number("1e1", false), 10);
  EXPECT_EQ(parse_number(".5", false), 0.5);
  EXPECT_EQ(parse_number("18446744073709551615", true), 0x1p64);
  for (const char* large : {"18446744073709551616", "99999999999999999999999999999"}) EXPECT_EQ(parse_number(large, true), std::numeric_limits<double>::infinity());
  EXPECT_NE(refused({"run", "--draft-max", "0x10"}).find("«0x10» is not a whole number"), std::string::npos);
}

TEST(Options, EnvironmentStandsBetweenCommandLineAndDefault) {
  setenv("OUTRIDER_TOP_K", "17", 1);
  EXPECT_EQ(parsed({"run", "-m", "x"}).values.integer("top-k"), 17);
  EXPECT_TRUE(parsed({"run", "-m", "x"}).values.given("top-k"));
  EXPECT_EQ(parsed({"run", "-m", "x", "--top-k", "3"}).values.integer("top-k"), 3);
  setenv("OUTRIDER_TOP_K", "many", 1);
  EXPECT_NE(refused({"run", "-m", "x"}).find("OUTRIDER_TOP_K"), std::string::npos);
  unsetenv("OUTRIDER_TOP_K");
  EXPECT_EQ(parsed({"run", "-m", "x"}).values.integer("top-k"), 0);
}

TEST(Options, HelpListsEveryOptionOfItsCommand) {
  for (const CommandInfo& c : command_table()) {
    const auto p = parsed({std::string(c.name), "--help"});
    ASSERT_TRUE(p.help.has_value()) << c.name;
    for (const Option& o : option_table())
      if (o.commands & c.command) { EXPECT_NE(p.help->find("--" + std::string(o.name)), std::string::npos) << c.name << " " << o.name; }
  }
}

TEST(Spec, KindsKeysAndTheirErrors) {
  const auto both = parse_spec({"ngram:max=12,width=2", "model:max=6,p_min=0.4,min=2"}, true);
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->sources, std::vector<std::string_view>{"lookup"});
  const KindLimits lookup = both->limits_of("lookup"), model = both->limits_of("model");
  EXPECT_EQ(std::tuple(lookup.max, lookup.min, lookup.width), std::tuple(12, 0, 2));  // each keeps its own
  EXPECT_EQ(std::tuple(model.max, model.min, model.width), std::tuple(6, 2, 4));
  EXPECT_EQ(both->limits.max, kMaxDraftRows - 1);
  EXPECT_EQ(both->limits.min, 0);
  EXPECT_FLOAT_EQ(both->limits.min_probability, 0.4f);
  EXPECT_FALSE(both->fixed);
  EXPECT_TRUE(parse_spec({"recycle:fixed=1"}, false)->fixed);
  EXPECT_TRUE(parse_spec({"off"}, true)->off());
  EXPECT_FALSE(parse_spec({"auto"}, false)->model);
  EXPECT_TRUE(parse_spec({"ngram:max=0"}, false)->off());
  EXPECT_EQ(parse_spec({"ngram:max=0", "recycle"}, false)->sources, std::vector<std::string_view>{"recycle"});
  EXPECT_EQ(parse_spec({"on"}, false)->sources, parse_spec({"auto"}, false)->sources);
  for (const auto& [spec, word] : std::vector<std::pair<std::string, std::string>>{
           {"eagle", "known kinds"}, {"ngram:depth=3", "known keys"}, {"ngram:max=many", "max"}, {"ngram:max=99", "31"}, {"ngram:max", "key=value"}, {"lookup:max=2,min=5", "longer"}, {"model:p_min=2", "p_min"},
           {"lookup:max=0x10", "«0x10»"}, {"lookup:max=1e1", "«1e1»"}, {"lookup:max= 3", "« 3»"}, {"lookup:max=3 ", "«3 »"}, {"model:p_min= 0.5", "« 0.5»"}, {"lookup:width=5", "1 to 4"}}) {
    const auto r = parse_spec({spec}, true);
    ASSERT_FALSE(r.ok()) << spec;
    EXPECT_NE((r.error().message + r.error().hint).find(word), std::string::npos) << r.error().message << "; " << r.error().hint;
  }
  EXPECT_FALSE(parse_spec({"model"}, false).ok());
  const auto own = parse_spec({"model:temp=0.5,top_k=7"}, true);
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(own->draft_temperature, 0.5f);
  EXPECT_EQ(own->draft_top_k, 7);
}

TEST(Spec, DefaultsOfKeysAreThoseOfThePlan) {
  const auto plan = parse_spec({"lookup", "model"}, true);
  std::vector<std::string> specs;
  for (const SpecKind& kind : spec_kinds())
    for (const SpecKey& key : spec_keys(kind.name))
      if (!key.fallback.empty() && (kind.name == "lookup" || kind.name == "model")) specs.push_back(std::string(kind.name) + ":" + std::string(key.name) + "=" + std::string(key.fallback));
  const auto spelled = parse_spec(specs, true);
  ASSERT_TRUE(plan.ok() && spelled.ok());
  EXPECT_EQ(spelled->limits.max, plan->limits.max);
  EXPECT_EQ(spelled->limits.min, plan->limits.min);
  EXPECT_EQ(spelled->limits.min_probability, plan->limits.min_probability);
  for (const char* kind : {"lookup", "model"}) {
    EXPECT_EQ(spelled->limits_of(kind).max, plan->limits_of(kind).max);
    EXPECT_EQ(spelled->limits_of(kind).min, plan->limits_of(kind).min);
    EXPECT_EQ(spelled->limits_of(kind).width, plan->limits_of(kind).width);
  }
  EXPECT_EQ(spelled->fixed, plan->fixed);
  EXPECT_EQ(spelled->exact, plan->exact);
  EXPECT_EQ(spelled->source_options.shortest_match, plan->source_options.shortest_match);
}

}  // namespace
}  // namespace outrider::cli
