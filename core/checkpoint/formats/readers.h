// Functions of each format for the list in formats.cpp: recognises_… checks a file's first bytes,
// open_… opens the file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

using FileHead = std::span<const std::byte>;

/// safetensors: an 8-byte header length, a JSON header, and the tensors' bytes.
[[nodiscard]] bool recognises_safetensors(const std::filesystem::path& path, FileHead head);
[[nodiscard]] Checkpoint open_safetensors(const std::filesystem::path& path);

/// Sharded checkpoints: a JSON index with the file of every tensor (`weight_map`), as Hugging Face
/// writes for sharded safetensors and PyTorch files. Shards must be in the folder of the index.
[[nodiscard]] bool recognises_sharded(const std::filesystem::path& path, FileHead head);
[[nodiscard]] Checkpoint open_sharded(const std::filesystem::path& path);

/// Opens a single file of any format; for a split model, only that part.
[[nodiscard]] Checkpoint open_one_file(const std::filesystem::path& path);

/// Opens all of `shards` as one checkpoint with the path `path`. The metadata has the number of
/// shards. Throws Error(io) naming the missing ones.
[[nodiscard]] Checkpoint open_shards(const std::filesystem::path& path,
                                     const std::vector<std::filesystem::path>& shards);

/// HDF5: Attnscope's own files (root attribute format = "attnscope-model", tensors under /tensors),
/// or any file with numeric data sets, named by their paths.
[[nodiscard]] bool recognises_hdf5(const std::filesystem::path& path, FileHead head);
[[nodiscard]] Checkpoint open_hdf5(const std::filesystem::path& path);

/// True if the file starts like a zip archive (.npz, PyTorch's newer container).
[[nodiscard]] bool is_zip(FileHead head);

/// NumPy: a zip archive of arrays, or a single array, named like its file.
[[nodiscard]] bool recognises_npz(const std::filesystem::path& path, FileHead head);
[[nodiscard]] Checkpoint open_npz(const std::filesystem::path& path);
[[nodiscard]] bool recognises_npy(const std::filesystem::path& path, FileHead head);
[[nodiscard]] Checkpoint open_npy(const std::filesystem::path& path);

/// PyTorch: files of torch.save, in the zip container and the legacy one.
[[nodiscard]] bool recognises_pytorch(const std::filesystem::path& path, FileHead head);
[[nodiscard]] Checkpoint open_pytorch(const std::filesystem::path& path);

/// GGUF versions 2 and 3: one file, or all parts of a split model. The keys are in `key_values`.
[[nodiscard]] bool recognises_gguf(const std::filesystem::path& path, FileHead head);
[[nodiscard]] Checkpoint open_gguf(const std::filesystem::path& path);

/// llama2.c's .bin, versions 0 and 1: a Llama with Meta's tensor names.
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
