#include "core/checkpoint/hdf5/global_heap.h"

#include <cstring>
#include <string>

#include "core/error.h"

namespace attnscope {

namespace {

template <class Number>
Number number_at(std::span<const std::byte> bytes, std::uint64_t at) {
  Number number = 0;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

Error broken_heap(std::string_view what) {
  return Error(ErrorKind::damaged, "the global heap is broken: " + std::string(what));
}

}  // namespace

HeapReference HeapReference::read(std::span<const std::byte, bytes> stored) {
  return {number_at<std::uint32_t>(stored, 0), number_at<std::uint64_t>(stored, 4),
          number_at<std::uint32_t>(stored, 12)};
}

const GlobalHeap::Objects& GlobalHeap::collection(std::uint64_t address) {
  if (const auto known = collections_.find(address); known != collections_.end()) {
    return known->second;
  }
  // Layout: "GCOL", version, 3 reserved bytes, size of the collection; then per object: index,
  // reference count, 4 reserved bytes, size, and the bytes, padded to a multiple of 8.
  constexpr std::uint64_t header = 16, object_header = 16;
  if (file_.size() < header || address > file_.size() - header) {
    throw broken_heap("a collection lies outside the file");
  }
  if (std::memcmp(file_.data() + address, "GCOL\x01", 5) != 0) {
    throw broken_heap("a collection does not begin with GCOL and version 1");
  }
  const auto size = number_at<std::uint64_t>(file_, address + 8);
  if (size < header || size > file_.size() - address) {
    throw broken_heap("a collection reaches beyond the file");
  }
  const std::span<const std::byte> bytes = file_.subspan(address, size);
  Objects objects;
  for (std::uint64_t at = header; size - at >= object_header;) {
    const auto index = number_at<std::uint16_t>(bytes, at);
    if (index == 0) break;  // free space until the end
    const auto length = number_at<std::uint64_t>(bytes, at + 8);
    const std::uint64_t room = size - at - object_header;
    if (length > room) throw broken_heap("an object reaches beyond its collection");
    const auto* const text = reinterpret_cast<const char*>(bytes.data()) + at + object_header;
    if (!objects.emplace(index, std::string_view(text, length)).second) {
      throw broken_heap("two objects have the same index");
    }
    const std::uint64_t filled = (length + 7) / 8 * 8;
    at += object_header + std::min(filled, room);
  }
  return collections_.emplace(address, std::move(objects)).first->second;
}

std::string_view GlobalHeap::text(const HeapReference& reference) {
  constexpr std::uint64_t undefined = ~std::uint64_t{0};
  if (reference.length == 0 || reference.collection == 0 || reference.collection == undefined) {
    return {};
  }
  const Objects& objects = collection(reference.collection);
  const auto object = objects.find(reference.index);
  if (object == objects.end()) throw broken_heap("the object of a string is missing");
  if (reference.length > object->second.size()) {
    throw Error(ErrorKind::damaged, "a string is longer than its object in the global heap")
        .expected("at most " + std::to_string(object->second.size()) + " bytes")
        .found(std::to_string(reference.length));
  }
  return object->second.substr(0, reference.length);
}

}  // namespace attnscope
