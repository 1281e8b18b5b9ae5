// Chat templates compared with Jinja 2 (tests/data/tokenizer/make_chat.py), and where they are
// found.
#include "core/tokenizer/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/architecture/model_spec.h"
#include "core/error.h"
#include "core/file/read_file.h"
#include "core/input/input.h"
#include "core/tokenizer/jinja.h"
#include "core/tokenizer/vocabulary.h"
#include "tests/support/paths.h"
#include "tests/support/reference_maps.h"
#include "tests/support/refusal.h"
#include "tests/support/temporary_folder.h"

namespace attnscope {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using testing::HasSubstr;

const ordered_json& chat_cases() {
  static const ordered_json cases =
      ordered_json::parse(read_file(test_data("tokenizer/chat.json"), 1 << 20));
  return cases;
}

std::string rendered(const std::string& source) {
  return render_jinja(source, ordered_json::object());
}

TEST(Jinja, GivesTheTextOfItsLibrary) {
  int compared = 0;
  for (const auto& [name, one] : chat_cases()["cases"].items()) {
    if (!one.contains("text")) continue;
    EXPECT_EQ(render_jinja(one["template"], chat_cases()["variables"]),
              one["text"].get<std::string>())
        << name;
    ++compared;
  }
  EXPECT_GE(compared, 14);
}

TEST(Jinja, ATemplateMayRefuse) {
  const ordered_json& one = chat_cases()["cases"]["raised"];
  expect_refusal([&] { return render_jinja(one["template"], chat_cases()["variables"]); },
                 ErrorKind::usage, "no system", "refuses the message");
}

TEST(Jinja, RefusesWhatItDoesNotUnderstandWithItsLine) {
  for (const auto& [source, words] : std::initializer_list<std::pair<const char*, const char*>>{
           {"a\n{{ x | md5 }}", "md5"},
           {"{% include 'other' %}", "include"},
           {"{{ 'x'.encode() }}", "encode"},
           {"{{ 1 is divisibleby 2 }}", "divisibleby"},
           {"{{ now() }}", "now"},
           {"{{ 2 ** 3 }}", "**"},
           {"{{ missing.member }}", "unknown variable"},
           {"{% if true %}", "without its end"},
           {"{{ 'open }}", "without its end"},
           {"{{ (1 }}", "list without its end"},
           {"{{ 1 / 0 }}", "division by 0"},
           {"{% set 5 = 3 %}", "without a name"},
           {"{{ [1, 2] }}", "the text of a list"},
           {"{% for x in range(1000000) %}{% endfor %}", "10,000"}}) {
    const Error error = refusal_of([&] { (void)rendered(source); });
    EXPECT_EQ(error.kind(), ErrorKind::unsupported) << source;
    EXPECT_THAT(error.what(), HasSubstr(words)) << source;
    EXPECT_THAT(error.what(), HasSubstr("line ")) << source;
  }
}

TEST(Jinja, EndsTemplatesThatWouldNot) {
  const std::string loops =
      "{% for a in range(999) %}{% for b in range(999) %}{% for c in range(999) %}x{% endfor %}"
      "{% endfor %}{% endfor %}";
  EXPECT_THROW((void)rendered(loops), Error);
  EXPECT_THROW((void)rendered("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"), Error);
  EXPECT_THROW(
      (void)rendered("{{ " + std::string(10'000, '(') + "1" + std::string(10'000, ')') + " }}"),
      Error);
  std::string nested;
  for (int i = 0; i < 10'000; ++i) nested += "{% if true %}";
  EXPECT_THROW((void)rendered(nested), Error);
}

constexpr const char* kTemplate =
    "{{ bos_token }}{% for m in messages %}[{{ m.role }}]"
    "{% if m.content is string %}{{ m.content }}{% else %}"
    "{% for part in m.content %}{{ part.text if part.type == 'text' else '<image>' }}{% endfor %}"
    "{% endif %}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}";

TEST(ChatTemplates, AreFoundBesideTheTokenizer) {
  const TemporaryFolder folder;
  EXPECT_FALSE(find_chat_template(folder.path(), nullptr));
  const auto write = [&](const char* file, const json& value) {
    (void)folder.write(file,
                       json{{"chat_template", value}, {"bos_token", {{"content", "<s>"}}}}.dump());
  };
  const auto text = [&] { return find_chat_template(folder.path(), nullptr)->text_of("Hi", 0); };
  write("tokenizer_config.json", kTemplate);
  EXPECT_EQ(text(), "<s>[user]Hi[assistant]");
  EXPECT_EQ(find_chat_template(folder.path(), nullptr)->text_of("Hi", 1),
            "<s>[user]<image>Hi[assistant]");
  EXPECT_EQ(find_chat_template(folder.path(), nullptr)->text_of("Hi", 2),
            "<s>[user]<image><image>Hi[assistant]");
  const std::string words = "{{ messages[0].content }}";
  write("tokenizer_config.json", {{{"name", "tool_use"}, {"template", "tools"}},
                                  {{"name", "default"}, {"template", words + " as usual"}}});
  EXPECT_EQ(text(), "Hi as usual");
  write("chat_template.json", words + " of the processor{{ bos_token }}");
  EXPECT_EQ(text(), "Hi of the processor<s>");
  (void)folder.write("chat_template.jinja", words + " of a file of its own\n");
  EXPECT_EQ(text(), "Hi of a file of its own");
}

TEST(ChatTemplates, WriteTheMessageInAnyForm) {
  const auto text = [](const char* source) { return ChatTemplate{source}.text_of(" Hi ", 0); };
  // A text's characters have no type, so that this template would leave the message out.
  EXPECT_EQ(text("{% for m in messages %}{% for part in m.content %}{% if part.type == 'text' %}"
                 "<{{ part.text | trim }}>{% endif %}{% endfor %}{% endfor %}"),
            "<Hi>");
  EXPECT_EQ(text("{{ messages[0].content | trim }}!"), "Hi!");
  expect_refusal([&] { return text("{{ messages[0].role }}"); }, ErrorKind::unsupported,
                 "does not write the message", "text:WORDS");
}

TEST(ChatTemplates, GiveTheTokensOfAMessage) {
  const TemporaryFolder folder;
  const json vocabulary = {{"<s>", 0}, {"[", 1}, {"]", 2}, {"u", 3}, {"h", 4}};
  (void)folder.write(
      "tokenizer.json",
      json{{"model", {{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", "u"}}},
           {"pre_tokenizer", {{"type", "Whitespace"}}},
           {"added_tokens", {{{"id", 0}, {"content", "<s>"}, {"special", true}}}},
           {"post_processor",
            {{"type", "TemplateProcessing"},
             {"single",
              {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}},
               {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}},
             {"pair", json::array()},
             {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {0}}, {"tokens", {"<s>"}}}}}}}}}
          .dump());
  (void)folder.write(
      "tokenizer_config.json",
      json{{"chat_template", "{{ bos_token }}[ {{ messages[0].content }} ]"}, {"bos_token", "<s>"}}
          .dump());
  ModelSpec spec;
  spec.input.kind = InputKind::tokens;
  spec.input.vocabulary = 5;
  spec.input.tokenizer = Tokenizer::file;
  spec.readout.kind = Readout::next_token;
  const auto tokens = make_vocabulary(spec, folder.path());
  ASSERT_TRUE(tokens->has_chat());
  const Input message = open_input("chat:h");
  const TokenizedText text = tokenize_input(message, spec, *tokens);
  // The template has the special token, so the tokenizer does not add another.
  EXPECT_EQ(text.ids, (std::vector<std::int64_t>{0, 1, 4, 2}));
  EXPECT_EQ(text.special, (std::vector<std::int64_t>{0}));
  EXPECT_EQ(message.locator, "chat:h");
  (void)folder.write("tokenizer_config.json", "{}");
  const auto without = make_vocabulary(spec, folder.path());
  expect_refusal([&] { return tokenize_input(message, spec, *without); }, ErrorKind::usage,
                 "no chat template", "text:WORDS");
}

}  // namespace
}  // namespace attnscope
