// Every template against what Python's Jinja made of it (tools/make_template_goldens.py).
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "chat/jinja/template.h"

namespace outrider::jinja {
namespace {

using Json = nlohmann::ordered_json;

std::tm golden_time() {  // Monday 30 November 2026, 13:05:09, as in the tool
  std::tm t{};
  t.tm_year = 126;
  t.tm_mon = 10;
  t.tm_mday = 30;
  t.tm_hour = 13;
  t.tm_min = 5;
  t.tm_sec = 9;
  t.tm_wday = 1;
  t.tm_yday = 333;
  return t;
}

TEST(TemplateGoldens, AreReproduced) {
  std::ifstream file(OUTRIDER_SOURCE_DIR "/tests/chat/goldens.json");
  const Json goldens = Json::parse(file);
  int outputs = 0, errors = 0;
  for (const Json& c : goldens["cases"]) {
    SCOPED_TRACE(c["name"].get<std::string>());
    const std::string source = goldens["templates"][c["template"].get<size_t>()];
    const Json& context = goldens["contexts"][c["context"].get<size_t>()];
    std::vector<std::pair<std::string, Value>> names;
    for (const auto& [key, value] : context.items()) {
      const Result<Value> v = value_from_json(value.dump(), false);
      ASSERT_TRUE(v.ok()) << v.error().message;
      names.emplace_back(key, *v);
    }
    const Result<Template> parsed = Template::parse(source);
    const Result<Text> text = parsed.ok() ? parsed->render(names, golden_time()) : Result<Text>(parsed.error());
    if (c.contains("error")) {
      errors++;
      EXPECT_FALSE(text.ok()) << source << "\nshould fail with " << c["error"] << "\nbut wrote " << (text.ok() ? text->bytes() : "");
    } else {
      outputs++;
      EXPECT_TRUE(text.ok()) << source << "\n" << (text.ok() ? "" : text.error().message);
      EXPECT_EQ(text.ok() ? text->bytes() : "", c["output"].get<std::string>()) << source;
    }
  }
  EXPECT_GE(outputs, 180);
  EXPECT_GE(errors, 70);
}

}  // namespace
}  // namespace outrider::jinja
