#include "app/bridge/answer.h"

#include <utility>

#include "core/parameters/enum_names.h"
#include "core/shown_text.h"

namespace attnscope {

namespace {

constexpr EnumName<ErrorKind> kErrorKinds[] = {{ErrorKind::usage, "usage"},
                                               {ErrorKind::not_this_format, "not_this_format"},
                                               {ErrorKind::damaged, "damaged"},
                                               {ErrorKind::unsupported, "unsupported"},
                                               {ErrorKind::io, "io"}};

/// A member as JSON, cut after `most` bytes.
std::string shortened(const nlohmann::json& member, std::size_t most) {
  return member.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace).substr(0, most);
}

/// A text of the answer, safe to display; empty if it is missing.
std::string text_in_answer(const nlohmann::json& answer, const char* key) {
  const auto found = answer.find(key);
  const bool is_text = found != answer.end() && found->is_string();
  return is_text ? shown_text(found->get_ref<const std::string&>()) : std::string();
}

}  // namespace

void check_version(const nlohmann::json& hello) {
  const nlohmann::json version = hello.value("version", nlohmann::json());
  if (version == kProtocolVersion) return;
  throw Error(ErrorKind::unsupported, "this version of the protocol is not known")
      .about("version")
      .expected(std::to_string(kProtocolVersion))
      .found(shortened(version, 20))
      .remedy("use programs and packages of the same version");
}

Error invalid_member(const nlohmann::json& header, const char* key, std::string expected) {
  const auto found = header.find(key);
  return Error(ErrorKind::usage, "the member of the message is missing or invalid")
      .about(key)
      .expected(std::move(expected))
      .found(found == header.end() ? "none" : shortened(*found, 80));
}

nlohmann::json answer_of(const Error& error) {
  return {{"error", error.what()},       {"kind", name_of(kErrorKinds, error.kind())},
          {"message", error.message()},  {"file", error.file().string()},
          {"subject", error.subject()},  {"expected", error.expected_text()},
          {"found", error.found_text()}, {"remedy", error.remedy_text()}};
}

void throw_error_in(const nlohmann::json& answer) {
  if (!answer.contains("error")) return;
  ErrorKind kind = ErrorKind::io;
  for (const auto& known : kErrorKinds) {
    if (known.name == text_in_answer(answer, "kind")) kind = known.value;
  }
  const std::string message = text_in_answer(answer, "message");
  Error error(kind, message.empty() ? text_in_answer(answer, "error") : message);
  error.in_file(text_in_answer(answer, "file"));
  error.about(text_in_answer(answer, "subject"));
  error.expected(text_in_answer(answer, "expected"));
  error.found(text_in_answer(answer, "found"));
  error.remedy(text_in_answer(answer, "remedy"));
  throw error;
}

}  // namespace attnscope
