// Nothing that is read is written over.
#pragma once

#include <filesystem>
#include <span>

namespace attnscope {

/// Throws Error(usage) if writing `output` would replace one of `inputs`, or a file inside an input
/// that is a folder. Files are told by device and inode: symbolic and hard links and other
/// spellings of a path do not hide them. What does not exist is no input, and devices and pipes
/// (/dev/stdout) hold nothing that could be lost.
///
///     const std::filesystem::path inputs[] = {model, picture};
///     refuse_to_overwrite(out, inputs);  // before the work, not after it
void refuse_to_overwrite(const std::filesystem::path& output,
                         std::span<const std::filesystem::path> inputs);

/// Notes that this process reads the file of the open `descriptor`. MappedFile::open, by which
/// every file is read, calls it; any thread may.
void note_read(int descriptor);

/// Throws Error(usage) if this process has read the file that `output` leads to: what lies next to
/// the weights (config.json, tokenizer.json, shards, adapters) as much as what was named. A
/// file that was deleted and made anew under its old name is another file.
void refuse_to_overwrite_read(const std::filesystem::path& output);

}  // namespace attnscope
