#include "app/cli/standard_streams.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>

#include "core/error.h"
#include "core/file/overwrite.h"
#include "core/input/text.h"
#include "core/platform/scratch_folder.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

/// The file extension for data that starts with `begin`.
std::string extension_of(std::string_view begin) {
  using namespace std::string_view_literals;
  struct Signature {
    std::string_view bytes;
    const char* extension;
  };
  static constexpr Signature known[] = {
      {"\x89PNG"sv, ".png"}, {"\xFF\xD8\xFF"sv, ".jpg"}, {"\x93NUMPY"sv, ".npy"},
      {"\x89HDF"sv, ".h5"},  {"PK\x03\x04"sv, ".npz"},   {"\x80\x02"sv, ".pt"},
      {"RIFF"sv, ".wav"},
  };
  for (const Signature& signature : known) {
    if (begin.starts_with(signature.bytes)) return signature.extension;
  }
  // A safetensors file starts with eight bytes of length, then JSON.
  if (begin.size() > 8 && begin[8] == '{' && begin[7] == 0) return ".safetensors";
  return ".txt";
}

/// The limit in bytes for standard input: the longest text if the data begin like text, otherwise
/// half of the free disk space.
std::uint64_t most_kept(std::string_view begin, const fs::path& folder) {
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f';
  };
  const bool whole = character_starts(std::string(begin)).size() > 1;
  const std::size_t broken = first_invalid_utf8(begin);
  // The block may end inside a character.
  const bool is_text = whole && (broken == std::string::npos || begin.size() - broken < 4) &&
                       std::ranges::none_of(begin, is_control);
  if (is_text) return longest_text;
  std::error_code unknown;
  const fs::space_info space = fs::space(folder, unknown);
  return unknown ? std::uint64_t{1} << 40 : space.available / 2;
}

Error too_long(std::uint64_t most) {
  return Error(ErrorKind::io, "standard input is too long to be kept")
      .expected("at most " + std::to_string(most) +
                " bytes, the longest text or half of the free disk")
      .remedy("give the file's name, or set TMPDIR to a folder on a larger disk");
}

struct KeptInput {
  ScratchFolder folder;
  fs::path file;

  KeptInput() {
    if (::isatty(STDIN_FILENO) != 0) {
      throw Error(ErrorKind::usage, "- reads standard input, which is the terminal")
          .remedy("redirect a file into it, or give the file's name");
    }
    const fs::path raw = folder.path() / "raw";
    std::ofstream kept(raw, std::ios::binary);
    std::string begin;
    std::array<char, 1U << 16U> block{};
    std::size_t count = 0;
    std::uint64_t size = 0, most = 0;
    while ((count = std::fread(block.data(), 1, block.size(), stdin)) > 0) {
      if (size == 0) most = most_kept({block.data(), count}, folder.path());
      size += count;
      if (size > most) throw too_long(most);
      if (begin.size() < 16) begin.append(block.data(), std::min<std::size_t>(count, 16));
      kept.write(block.data(), static_cast<std::streamsize>(count));
    }
    kept.close();
    if (std::ferror(stdin) != 0 || !kept) {
      throw Error(ErrorKind::io, "standard input could not be kept").in_file(raw);
    }
    if (begin.empty()) throw Error(ErrorKind::io, "standard input is empty");
    file = folder.path() / ("stdin" + extension_of(begin));
    fs::rename(raw, file);
  }
};

[[noreturn]] void throw_lost(int problem) {
  throw Error(ErrorKind::io, "not all of the output could be written")
      .in_file("standard output")
      .found(problem != 0 ? std::strerror(problem) : "an error of the stream");
}

}  // namespace

const fs::path& standard_input_file() {
  // Standard input can be read only once.
  static const KeptInput kept;
  return kept.file;
}

fs::path file_or_standard_input(const std::string& file) {
  return file == "-" ? standard_input_file() : fs::path(file);
}

Input open_input_argument(const std::string& locator) {
  if (locator != "-") return open_input(locator);
  Input input = open_input(standard_input_file().string());
  input.label = "standard input";
  input.locator = locator;
  return input;
}

void write_to_standard_output(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) throw_lost(errno);
}

void check_hdf5_name(const fs::path& out) {
  std::error_code ignored;
  if (out == "-" || out.empty() || fs::is_other(out, ignored)) return;
  if (out.extension() == ".h5" || out.extension() == ".hdf5") return;
  throw Error(ErrorKind::usage, "the output is an HDF5 file and must have the extension of one")
      .about("--out")
      .expected("a name that ends in .h5 or .hdf5")
      .found(out.string())
      .remedy(
          "--csv and --json, where the command has them, print numbers; attnscope figure also "
          "writes .npz, .csv and .json");
}

void write_output(const std::string& out, const std::string& extension,
                  const std::function<void(const fs::path&)>& write) {
  if (out != "-") {
    refuse_to_overwrite_read(out);
    write(out);
    return;
  }
  const ScratchFolder folder;
  const fs::path file = folder.path() / ("out" + extension);
  write(file);
  std::ifstream written(file, std::ios::binary);
  std::array<char, 1U << 16U> block{};
  while (written) {
    written.read(block.data(), block.size());
    const auto count = static_cast<std::size_t>(written.gcount());
    write_to_standard_output({block.data(), count});
  }
}

std::FILE* lines_beside(const std::string& out) { return out == "-" ? stderr : stdout; }

void refuse_standard_output(const std::string& out, const std::string& why) {
  if (out != "-") return;
  throw Error(ErrorKind::usage, why).about("--out").expected("a file's name").found("-");
}

void check_standard_output() {
  errno = 0;
  const bool failed = std::ferror(stdout) != 0;
  const bool lost = std::fflush(stdout) != 0;
  if (failed || lost) throw_lost(errno);
}

CLI::Option* add_json_flag(CLI::App& command, bool& json) {
  return command.add_flag("--json", json, "Write JSON (described in docs/json-output.md)");
}

void print_json(const nlohmann::ordered_json& json) {
  using Json = nlohmann::ordered_json;
  write_to_standard_output(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace attnscope
