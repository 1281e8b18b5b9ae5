#include "core/checkpoint/hdf5/hdf5_catalogue.h"

#include <span>
#include <utility>

#include "core/checkpoint/hdf5/reading_child.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr std::uint64_t no_offset = ~std::uint64_t{0};

void put(std::string& answer, const Hdf5DataSet& data_set) {
  put_text(answer, data_set.name);
  put_number(answer, static_cast<std::uint64_t>(data_set.dtype));
  put_number(answer, data_set.offset.value_or(no_offset));
  put_number(answer, data_set.shape.size());
  for (const std::int64_t extent : data_set.shape) {
    put_number(answer, static_cast<std::uint64_t>(extent));
  }
}

/// Takes the number of items that follow, each of at least 8 bytes.
std::uint64_t take_count(ByteCursor& answer) {
  const std::uint64_t count = take_number(answer);
  if (count > answer.remaining() / 8)
    throw Error(ErrorKind::damaged, "the list is longer than its bytes");
  return count;
}

DType take_dtype(ByteCursor& answer) {
  const std::uint64_t dtype = take_number(answer);
  if (dtype >= static_cast<std::uint64_t>(DType::quantised)) {
    throw Error(ErrorKind::damaged, "the data set's element type is unknown");
  }
  return static_cast<DType>(dtype);
}

Hdf5DataSet take_data_set(ByteCursor& answer) {
  Hdf5DataSet data_set;
  data_set.name = take_text(answer);
  data_set.dtype = take_dtype(answer);
  const std::uint64_t offset = take_number(answer);
  if (offset != no_offset) data_set.offset = offset;
  for (std::uint64_t axes = take_count(answer); axes > 0; --axes) {
    data_set.shape.push_back(answer.little<std::int64_t>());
    if (data_set.shape.back() < 0) throw Error(ErrorKind::damaged, "a dimension is negative");
  }
  return data_set;
}

}  // namespace

std::string Hdf5Catalogue::to_bytes() const {
  std::string answer;
  put_number(answer, attributes.size());
  for (const auto& [name, text] : attributes) {
    put_text(answer, name);
    put_text(answer, text);
  }
  put_number(answer, data_sets.size());
  for (const Hdf5DataSet& data_set : data_sets) put(answer, data_set);
  put_number(answer, not_numeric.size());
  for (const std::string& name : not_numeric) put_text(answer, name);
  return answer;
}

Hdf5Catalogue Hdf5Catalogue::from_bytes(std::string_view bytes) {
  ByteCursor answer(std::as_bytes(std::span(bytes)));
  Hdf5Catalogue catalogue;
  for (std::uint64_t count = take_count(answer); count > 0; --count) {
    std::string name = take_text(answer);
    catalogue.attributes.emplace(std::move(name), take_text(answer));
  }
  for (std::uint64_t count = take_count(answer); count > 0; --count) {
    catalogue.data_sets.push_back(take_data_set(answer));
  }
  for (std::uint64_t count = take_count(answer); count > 0; --count) {
    catalogue.not_numeric.push_back(take_text(answer));
  }
  return catalogue;
}

}  // namespace attnscope
