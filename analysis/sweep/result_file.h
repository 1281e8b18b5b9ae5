// Stores results of long computations as HDF5: numbers in arrays, all else in a JSON description.
// Sweeps and studies use it.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/hdf5/hdf5_writer.h"

namespace attnscope {

/// Name of a kind of result in its file and in errors.
struct ResultFormat {
  const char* name;      ///< "attnscope-sweep"
  const char* noun;      ///< "sweep"
  const char* is_other;  ///< "the file is not the result of a sweep"
  const char* remedy;    ///< how to make such a file
};

/// Writes the description: everything in the file except its arrays.
void describe_result(const ResultFormat& format, const nlohmann::json& contents,
                     Hdf5Writer& writer);

/// Calls `read` with the file and its description; its errors name the file. Throws Error(io,
/// not_this_format, unsupported), Error(damaged) for a description that lacks something.
void read_result(
    const std::filesystem::path& file, const ResultFormat& format,
    const std::function<void(const Checkpoint& stored, const nlohmann::json& contents)>& read);

/// A whole number of the description. Throws Error(damaged) unless it is in [least, most].
[[nodiscard]] std::int64_t whole_within(const ResultFormat& format, const nlohmann::json& value,
                                        std::int64_t least, std::int64_t most);

/// The stored array `name`. Throws Error(damaged) unless it has this type and shape.
[[nodiscard]] const StoredTensor& result_array(const ResultFormat& format, const Checkpoint& file,
                                               const std::string& name, DType type,
                                               const Shape& shape);

/// Reads the numbers of an array, int64 or double. An empty array, which is not stored, leaves
/// `values` unchanged.
template <class Number>
void read_result_array(const ResultFormat& format, const Checkpoint& file, const std::string& name,
                       const Shape& shape, std::vector<Number>& values) {
  static_assert(std::is_same_v<Number, double> || std::is_same_v<Number, std::int64_t>);
  if (element_count(shape) == 0) return;
  constexpr DType type = std::is_same_v<Number, double> ? DType::f64 : DType::i64;
  const TensorView view = result_array(format, file, name, type, shape).view();
  values.resize(static_cast<std::size_t>(element_count(shape)));
  // The reader returns contiguous data.
  std::memcpy(values.data(), view.data, values.size() * sizeof(Number));
}

/// Removes unfinished work that stayed beside its finished result because the process was killed
/// between the two. A file stays unless `fingerprint_of` reads `fingerprint` from it.
void remove_leftover(
    const std::filesystem::path& unfinished, const std::string& fingerprint,
    const std::function<std::string(const std::filesystem::path&)>& fingerprint_of);

}  // namespace attnscope
