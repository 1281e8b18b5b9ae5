#include "core/text/failure.h"

#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>

namespace attnscope {

std::string problem_of(const std::exception& failure) {
  const std::string text = failure.what();
  const std::size_t end = text.find("] ");
  return text.starts_with('[') && end != std::string::npos ? text.substr(end + 2) : text;
}

Error as_error(const std::exception& failure) {
  if (const auto* known = dynamic_cast<const Error*>(&failure)) return *known;
  if (const auto* files = dynamic_cast<const std::filesystem::filesystem_error*>(&failure)) {
    return Error(ErrorKind::io, "cannot be used: " + files->code().message())
        .in_file(files->path1());
  }
  if (const auto* json = dynamic_cast<const nlohmann::json::exception*>(&failure)) {
    return Error(ErrorKind::damaged, "a value in a JSON file is invalid").found(problem_of(*json));
  }
  if (dynamic_cast<const std::bad_alloc*>(&failure) != nullptr) {
    return Error(ErrorKind::unsupported, "there is not enough memory");
  }
  return Error(ErrorKind::unsupported, failure.what());
}

}  // namespace attnscope
