#include "analysis/sweep/result_file.h"

#include <nlohmann/json.hpp>

#include "core/checkpoint/format_version.h"
#include "core/error.h"
#include "core/text/failure.h"
#include "core/text/json.h"

namespace attnscope {

using nlohmann::json;

void describe_result(const ResultFormat& format, const json& contents, Hdf5Writer& writer) {
  writer.attribute("/", "format", std::string(format.name));
  writer.attribute("/", "format_version", kFormatVersion);
  writer.attribute("/", "contents", contents.dump(-1, ' ', false, json::error_handler_t::replace));
}

void read_result(const std::filesystem::path& file, const ResultFormat& format,
                 const std::function<void(const Checkpoint& stored, const json& contents)>& read) {
  const Checkpoint stored = open_checkpoint(file);
  const auto& metadata = stored.metadata();
  const auto name = metadata.find("format"), contents = metadata.find("contents");
  if (name == metadata.end() || name->second != format.name || contents == metadata.end()) {
    throw Error(ErrorKind::not_this_format, format.is_other).in_file(file).remedy(format.remedy);
  }
  const std::string the = std::string("the ") + format.noun;
  // open_checkpoint refuses other versions, but not a missing one.
  if (!metadata.contains("format_version")) {
    throw Error(ErrorKind::unsupported, the + " was written by another version of the program")
        .in_file(file);
  }
  try {
    read(stored, parse_json(contents->second));
  } catch (const json::exception& error) {
    throw Error(ErrorKind::damaged, the + "'s description is broken: " + problem_of(error))
        .in_file(file);
  } catch (Error& error) {
    error.in_file(file);
    throw;
  }
}

std::int64_t whole_within(const ResultFormat& format, const json& value, std::int64_t least,
                          std::int64_t most) {
  const auto number = value.get<std::int64_t>();
  if (number >= least && number <= most) return number;
  throw Error(ErrorKind::damaged,
              std::string("a number of the ") + format.noun + " is out of range")
      .expected(std::to_string(least) + " to " + std::to_string(most))
      .found(std::to_string(number));
}

const StoredTensor& result_array(const ResultFormat& format, const Checkpoint& file,
                                 const std::string& name, DType type, const Shape& shape) {
  const StoredTensor& stored = file.at(name);
  if (stored.dtype == type && stored.shape == shape) return stored;
  throw Error(ErrorKind::damaged,
              std::string("an array of the ") + format.noun + " has the wrong dtype or shape")
      .about(name)
      .expected(to_string(shape))
      .found(to_string(stored.shape));
}

void remove_leftover(
    const std::filesystem::path& unfinished, const std::string& fingerprint,
    const std::function<std::string(const std::filesystem::path&)>& fingerprint_of) {
  std::error_code ignored;
  if (!std::filesystem::exists(unfinished, ignored)) return;
  try {
    if (fingerprint_of(unfinished) != fingerprint) return;
    std::filesystem::remove(unfinished, ignored);
  } catch (const Error&) {
    // The file is not such a result, and stays.
  }
}

}  // namespace attnscope
