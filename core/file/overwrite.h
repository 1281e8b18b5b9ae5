// Refuses to overwrite files that are read.
#pragma once

#include <filesystem>
#include <span>

namespace attnscope {

/// Throws Error(usage) if writing `output` would replace one of `inputs`, or a file inside an input
/// that is a folder. Files are identified by device and inode, so links and other spellings of a
/// path are recognised. Inputs that do not exist, devices and pipes (/dev/stdout) are ignored.
///
///     const std::filesystem::path inputs[] = {model, picture};
///     refuse_to_overwrite(out, inputs);  // before the work, not after it
void refuse_to_overwrite(const std::filesystem::path& output,
                         std::span<const std::filesystem::path> inputs);

/// Records that this process reads the file of the open `descriptor`. Called by MappedFile::open,
/// through which every file is read. Thread-safe.
void note_read(int descriptor);

/// Throws Error(usage) if this process has read the file at `output`. This includes files next to
/// the weights (config.json, tokenizer.json, shards, adapters). A file that was deleted and created
/// again under its name counts as a different file.
void refuse_to_overwrite_read(const std::filesystem::path& output);

}  // namespace attnscope
