#include <cstring>

#include "core/checkpoint/formats/pickle.h"
#include "core/error.h"

namespace attnscope {

namespace {

Error no_storage(const char* what) {
  return Error(ErrorKind::damaged,
               std::string("a tensor's elements in the pickle cannot be read: ") + what);
}

/// True if the machine that wrote the file is little-endian, like this one.
bool has_lowest_byte_first(const PickleNode& machine) {
  for (std::size_t place = 0; machine.is_mapping() && place + 1 < machine.items.size();
       place += 2) {
    if (machine.items[place]->text == "little_endian") {
      return machine.items[place + 1]->integer != 0;
    }
  }
  return true;
}

}  // namespace

bool PickleReader::read_legacy_head(const PickleNode*& first) {
  constexpr std::string_view magic("\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19", 10);
  constexpr std::int64_t protocol = 1001;
  first = &read();
  if (first->kind != NodeKind::large_integer || first->text != magic) return false;
  if (const PickleNode& version = read(); version.integer != protocol) {
    throw Error(ErrorKind::unsupported, "the legacy container's protocol is unknown")
        .expected(std::to_string(protocol))
        .found(std::to_string(version.integer));
  }
  if (!has_lowest_byte_first(read())) {
    throw Error(ErrorKind::unsupported, "was written on a big-endian machine");
  }
  return true;
}

PickledTensor read_saved_storage(std::span<const std::byte> bytes, std::size_t start,
                                 const PickleNode& node) {
  // Nested storages are refused: they could nest without end.
  thread_local bool within = false;
  if (within) throw no_storage("they hold another pickle");
  if (node.place < start || node.place - start > bytes.size()) throw no_storage("they are missing");
  struct Within {
    Within() { within = true; }
    ~Within() { within = false; }
  } const guard;
  const std::span<const std::byte> held =
      bytes.subspan(node.place - start, static_cast<std::size_t>(node.integer));
  PickleReader reader(held, node.place);
  const PickleNode* first = nullptr;
  if (!reader.read_legacy_head(first)) throw no_storage("torch.save did not write them");
  const PickleNode& root = reader.read();
  const PickleNode& keys = reader.read();
  if (root.kind != NodeKind::storage || keys.kind != NodeKind::list || keys.items.size() != 1 ||
      keys.items[0]->text != root.tensor->storage) {
    throw no_storage("they are not one storage");
  }
  PickledTensor storage = *root.tensor;
  std::uint64_t count = 0;
  if (held.size() - reader.position() < sizeof count) throw no_storage("they are truncated");
  std::memcpy(&count, held.data() + reader.position(), sizeof count);
  const std::size_t elements = reader.position() + sizeof count;
  if (count > (held.size() - elements) / size_of(storage.storage_dtype)) {
    throw no_storage("they are truncated");
  }
  if (count != static_cast<std::uint64_t>(storage.storage_count)) {
    throw no_storage("their number differs from that in the pickle");
  }
  storage.place = node.place + elements;
  return storage;
}

}  // namespace attnscope
