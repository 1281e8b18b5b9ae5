// What a fuzzer does with its bytes: they become a file, and a reader opens it. A reader may refuse
// with an Error; anything else that escapes it is a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

/// Puts `bytes` into a file in memory, the same for the whole process, and returns its path.
[[nodiscard]] std::filesystem::path fuzzed_file(std::span<const std::uint8_t> bytes);

/// To be called once where a reader works in child processes: what the HDF5 library does there is
/// an Error of the reader, and no finding. libFuzzer must write nothing when a child dies.
void children_find_nothing();

/// Opens `file` and reads every tensor of at most 4 MiB.
void read_all(Checkpoint (*open)(const std::filesystem::path&), const std::filesystem::path& file);

}  // namespace attnscope
