// "-" on the command line, errors of standard output, and JSON in the same form in every command
// (docs/json-output.md).
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/input/input.h"

namespace attnscope {

/// Standard input as a temporary file, read once and removed when the program ends. Its extension
/// follows its first bytes (.png, .jpg, .wav, .npy, .h5, .npz or .pt, .safetensors, else .txt).
/// Throws Error(io) if the input is empty or cannot be stored, Error(usage) if it is a terminal.
[[nodiscard]] const std::filesystem::path& standard_input_file();

/// `file`, or the temporary file of standard input if `file` is "-".
[[nodiscard]] std::filesystem::path file_or_standard_input(const std::string& file);

/// Like open_input, with "-" for standard input.
[[nodiscard]] Input open_input_argument(const std::string& locator);

/// Throws Error(usage) unless `out` is "-", a device, or has an extension of HDF5, the format that
/// is written. Another extension, such as .npz or .csv, would mislead.
void check_hdf5_name(const std::filesystem::path& out);

/// Lets `write` write `out`. If `out` is "-", `write` writes a temporary file with `extension`
/// (".h5"), which is then copied to standard output. Throws Error(usage) if `out` is a file that
/// was read, Error(io), and the errors of `write`.
void write_output(const std::string& out, const std::string& extension,
                  const std::function<void(const std::filesystem::path&)>& write);

/// The stream for messages: standard output, or standard error if the output itself goes to
/// standard output.
[[nodiscard]] std::FILE* lines_beside(const std::string& out);

/// Throws Error(usage) with the text `why` if `out` is "-", because the output cannot be a stream.
void refuse_standard_output(const std::string& out, const std::string& why);

/// Writes `text` unchanged. Throws Error(io) with the reason if the write fails;
/// check_standard_output no longer knows the reason.
void write_to_standard_output(std::string_view text);

/// Throws Error(io) unless everything printed reached standard output: a full disk, a closed
/// descriptor. Called once, after all output.
void check_standard_output();

/// Adds --json.
CLI::Option* add_json_flag(CLI::App& command, bool& json);

/// Prints JSON indented by two spaces, with a final newline; invalid UTF-8 becomes U+FFFD.
void print_json(const nlohmann::ordered_json& json);

}  // namespace attnscope
