// "-" on the command line, and what becomes of standard output.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "core/input/input.h"

namespace attnscope {

/// Standard input as a file of its own, read once and removed when the program ends: with the
/// extension that its first bytes call for (.png, .jpg, .wav, .npy, .h5, .npz or .pt, .safetensors,
/// else .txt). Throws Error(io) if it is empty or cannot be kept, Error(usage) if it is a terminal.
[[nodiscard]] const std::filesystem::path& standard_input_file();

/// `file`, or standard input kept as a file where it is "-".
[[nodiscard]] std::filesystem::path file_or_standard_input(const std::string& file);

/// open_input, with "-" for standard input.
[[nodiscard]] Input open_input_argument(const std::string& locator);

/// Throws Error(usage) unless `out` is "-", a device, or named as what is written to it, HDF5: a
/// file that is called .npz or .csv and is neither would mislead whoever opens it.
void check_hdf5_name(const std::filesystem::path& out);

/// Lets `write` write `out`; where that is "-", a temporary file with `extension` (".h5"), whose
/// bytes then go to standard output. Throws Error(usage) if `out` is a file that was read,
/// Error(io), and what `write` throws.
void write_output(const std::string& out, const std::string& extension,
                  const std::function<void(const std::filesystem::path&)>& write);

/// Where lines for people go: standard output, or standard error where the output itself is there.
[[nodiscard]] std::FILE* lines_beside(const std::string& out);

/// Throws Error(usage) if `out` is "-": this output is no stream.
void refuse_standard_output(const std::string& out, const std::string& why);

/// As it is; where it does not fit into what standard output leads to, throws Error(io) with the
/// reason, which check_standard_output no longer knows.
void write_to_standard_output(std::string_view text);

/// Throws Error(io) if not all that was printed reached standard output: a full disk, a closed
/// descriptor. Called once, when all is printed.
void check_standard_output();

}  // namespace attnscope
