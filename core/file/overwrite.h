// Nothing that is read is written over.
#pragma once

#include <filesystem>
#include <span>
#include <sys/stat.h>

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

/// Notes that this process reads the file of `status`. MappedFile::open, by which every file is
/// read, calls it; any thread may.
void note_read(const struct stat& status);

/// Throws Error(usage) if this process has read the file that `output` leads to: what lies next to
/// the weights (config.json, tokenizer.json, shards, adapters) as much as what was named. Meant for
/// commands, which end soon: a file that was read and deleted may have left its inode to another.
void refuse_to_overwrite_read(const std::filesystem::path& output);

}  // namespace attnscope
