// What each file in this folder offers to the list in formats.cpp: how it knows its format by a
// file's first bytes, and how it opens it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

using FileHead = std::span<const std::byte>;

/// An 8-byte header length, a JSON header, the tensors' bytes.
[[nodiscard]] bool recognises_safetensors(const std::filesystem::path& path, FileHead head);
[[nodiscard]] Checkpoint open_safetensors(const std::filesystem::path& path);

/// A JSON index that names the file of every tensor (`weight_map`), as Hugging Face writes beside
/// sharded safetensors and PyTorch files. Shards lie in the index's own folder.
[[nodiscard]] bool recognises_sharded(const std::filesystem::path& path, FileHead head);
[[nodiscard]] Checkpoint open_sharded(const std::filesystem::path& path);

/// One file, whatever its format: of a split model that part alone.
[[nodiscard]] Checkpoint open_one_file(const std::filesystem::path& path);

/// All of `shards` together, as the one `path` was asked for; how many they are stands in the
/// metadata. Throws Error(io) naming those that are not there.
[[nodiscard]] Checkpoint open_shards(const std::filesystem::path& path,
                                     const std::vector<std::filesystem::path>& shards);

/// HDF5: ours (root attribute format = "attnscope-model": the data sets under /tensors, named as
/// the tensors), or any file of numeric data sets, named by their paths.
[[nodiscard]] bool recognises_hdf5(const std::filesystem::path& path, FileHead head);
[[nodiscard]] Checkpoint open_hdf5(const std::filesystem::path& path);

/// Whether the file starts as a zip archive does: .npz, and PyTorch's newer container.
[[nodiscard]] bool is_zip(FileHead head);

/// NumPy: a zip archive of arrays, and a single array, named as its file.
[[nodiscard]] bool recognises_npz(const std::filesystem::path& path, FileHead head);
[[nodiscard]] Checkpoint open_npz(const std::filesystem::path& path);
[[nodiscard]] bool recognises_npy(const std::filesystem::path& path, FileHead head);
[[nodiscard]] Checkpoint open_npy(const std::filesystem::path& path);

/// PyTorch: what torch.save writes, in the zip container and the legacy one.
[[nodiscard]] bool recognises_pytorch(const std::filesystem::path& path, FileHead head);
[[nodiscard]] Checkpoint open_pytorch(const std::filesystem::path& path);

/// GGUF, versions 2 and 3, one file or all parts of a split model; the keys are in `key_values`.
[[nodiscard]] bool recognises_gguf(const std::filesystem::path& path, FileHead head);
[[nodiscard]] Checkpoint open_gguf(const std::filesystem::path& path);

/// llama2.c's .bin, versions 0 and 1: a Llama under Meta's names.
[[nodiscard]] bool recognises_llama2c(const std::filesystem::path& path, FileHead head);
[[nodiscard]] Checkpoint open_llama2c(const std::filesystem::path& path);

/// Keras 3: a zip archive around an HDF5 file.
[[nodiscard]] bool recognises_keras(const std::filesystem::path& path, FileHead head);
[[nodiscard]] Checkpoint open_keras(const std::filesystem::path& path);

/// Flax: MessagePack with NumPy arrays; names of nested maps are joined by slashes.
[[nodiscard]] bool recognises_flax(const std::filesystem::path& path, FileHead head);
[[nodiscard]] Checkpoint open_flax(const std::filesystem::path& path);

/// ONNX: the initialisers of the graph.
[[nodiscard]] bool recognises_onnx(const std::filesystem::path& path, FileHead head);
[[nodiscard]] Checkpoint open_onnx(const std::filesystem::path& path);

}  // namespace attnscope
