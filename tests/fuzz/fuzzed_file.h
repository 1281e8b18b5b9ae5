// Common code of the fuzzers: writes the bytes to a file and opens it with a reader. A reader may
// throw an Error; anything else that escapes it is a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

/// Writes `bytes` to a file in memory, the same one for the whole process, and returns its path.
[[nodiscard]] std::filesystem::path fuzzed_file(std::span<const std::uint8_t> bytes);

/// Must be called once if a reader works in child processes: a crash of the HDF5 library there is
/// an Error of the reader, not a finding. libFuzzer must not write anything when a child dies.
void children_find_nothing();

/// Opens `file` and reads every tensor of at most 4 MiB.
void read_all(Checkpoint (*open)(const std::filesystem::path&), const std::filesystem::path& file);

}  // namespace attnscope
