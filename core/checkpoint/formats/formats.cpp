#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "core/checkpoint/adapter.h"
#include "core/checkpoint/format.h"
#include "core/checkpoint/formats/readers.h"
#include "core/checkpoint/model_folder.h"
#include "core/checkpoint/weight_files.h"
#include "core/error.h"
#include "core/file/mapped_file.h"

namespace attnscope {

namespace {

constexpr std::size_t head_size = 64;  // bytes shown to `recognises`

std::string known_formats() {
  std::string known;
  for (const CheckpointFormat& format : checkpoint_formats()) {
    known += (known.empty() ? "" : ", ") + std::string(format.name) + " (" +
             std::string(format.extensions) + ")";
  }
  return known;
}

bool has_extension(const std::filesystem::path& path, std::string_view extensions) {
  std::string name = path.filename().string();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  while (!extensions.empty()) {
    const std::size_t end = std::min(extensions.find(' '), extensions.size());
    if (name.ends_with(extensions.substr(0, end))) return true;
    extensions.remove_prefix(std::min(end + 1, extensions.size()));
  }
  return false;
}

/// The error for a file that is not a checkpoint, with its actual type if that is easy to
/// recognise.
Error not_a_checkpoint(const std::filesystem::path& path, std::string_view head) {
  Error error(ErrorKind::not_this_format, "is not a weight file that can be read");
  error.in_file(path);
  if (head.empty()) {
    error.found("an empty file");
  } else if (head.starts_with("version https://git-lfs")) {
    error.found("a Git LFS pointer, not the file itself").remedy("run 'git lfs pull'");
    return error;
  } else if (head.starts_with("\x1f\x8b")) {
    error.found("a file that gzip compressed")
        .remedy("decompress it: gzip -dc FILE > model.pth, or whatever it was called");
    return error;
  } else if (head.starts_with("<!DOCTYPE") || head.starts_with("<html")) {
    error.found("a web page").remedy("download the file itself");
    return error;
  }
  error.remedy("known formats: " + known_formats());
  return error;
}

}  // namespace

std::span<const CheckpointFormat> checkpoint_formats() {
  static constexpr CheckpointFormat formats[] = {
      {"safetensors", ".safetensors", recognises_safetensors, open_safetensors},
      {"sharded", ".index.json", recognises_sharded, open_sharded},
      {"gguf", ".gguf", recognises_gguf, open_gguf},
      {"llama2c", ".bin", recognises_llama2c, open_llama2c},
      {"keras", ".keras", recognises_keras, open_keras},
      {"flax", ".msgpack", recognises_flax, open_flax},
      {"onnx", ".onnx", recognises_onnx, open_onnx},
      {"pytorch", ".pt .pth .bin .ckpt", recognises_pytorch, open_pytorch},
      {"hdf5", ".h5 .hdf5 .hdf .he5", recognises_hdf5, open_hdf5},
      {"npz", ".npz", recognises_npz, open_npz},
      {"npy", ".npy", recognises_npy, open_npy},
  };
  return formats;
}

Checkpoint open_checkpoint(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return is_adapter_folder(path) ? open_adapter(path) : open_checkpoint(weight_file_in(path));
  }
  // GGUF parts are excluded because their keys name the other parts.
  const std::vector<std::filesystem::path> shards = part_paths(path);
  const bool split = shards.size() > 1 && path.extension() != ".gguf";
  Checkpoint checkpoint = split && std::filesystem::exists(path, ignored)
                              ? open_shards(path, shards)
                              : open_one_file(path);
  with_file(path, [&] { checkpoint.join_factors(); });
  return checkpoint;
}

Checkpoint open_one_file(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const FileHead head = file->bytes().first(std::min(head_size, file->size()));
  const auto open = [&](const CheckpointFormat& format) {
    return with_file(path,
                     [&] { return read_unchanged(*file, [&] { return format.open(path); }); });
  };
  for (const CheckpointFormat& format : checkpoint_formats()) {
    if (format.recognises(path, head)) return open(format);
  }
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  const Error unknown = not_a_checkpoint(path, text);
  if (!unknown.found_text().empty()) throw unknown;
  // The last format with the extension reports the error: .bin files of torch.save are more common
  // than those of llama2.c.
  const std::span<const CheckpointFormat> formats = checkpoint_formats();
  const auto named = std::find_if(
      formats.rbegin(), formats.rend(),
      [&](const CheckpointFormat& format) { return has_extension(path, format.extensions); });
  if (named != formats.rend()) return open(*named);
  throw unknown;
}

}  // namespace attnscope
