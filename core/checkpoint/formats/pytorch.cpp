// torch.save's two containers. The newer one is a zip archive in which NAME/data.pkl refers to
// NAME/data/KEY. TorchScript programs have the same layout; their code is not read. The legacy one
// is a sequence of pickles (a magic number, a protocol, the machine, the object, the storages'
// keys), followed by 8 bytes of element count and the elements for each key. pickle.dump writes one
// pickle that contains a legacy container per storage.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "core/checkpoint/formats/pickle.h"
#include "core/checkpoint/formats/readers.h"
#include "core/checkpoint/formats/state_dict.h"
#include "core/error.h"
#include "core/file/zip_archive.h"

namespace attnscope {

namespace {

/// Bytes of a storage: their number is known, and they are fetched when viewed.
struct Storage {
  std::uint64_t bytes = 0;
  std::function<ZipBytes()> fetch;
};

using FindStorage = std::function<Storage(const PickledTensor&)>;

std::uint64_t stored_bytes(const PickledTensor& tensor) {
  return static_cast<std::uint64_t>(tensor.storage_count) * size_of(tensor.storage_dtype);
}

StoredTensor pickled_tensor(const std::string& name, const PickledTensor& tensor,
                            const FindStorage& find_storage) {
  Storage storage = find_storage(tensor);
  if (storage.bytes != stored_bytes(tensor)) {
    throw Error(ErrorKind::damaged,
                "the size of the tensor's storage differs from that in the pickle")
        .about(name)
        .expected(std::to_string(stored_bytes(tensor)) + " bytes")
        .found(std::to_string(storage.bytes));
  }
  auto view = [fetch = std::move(storage.fetch), tensor] {
    ZipBytes bytes = fetch();
    const std::size_t start = static_cast<std::size_t>(tensor.offset) * size_of(tensor.dtype);
    // An empty view may have any offset, but its pointer must stay inside the storage.
    const std::size_t inside = std::min(start, bytes.bytes.size());
    return TensorView{tensor.dtype, tensor.shape, tensor.strides, bytes.bytes.data() + inside,
                      std::move(bytes.storage)};
  };
  return {name, tensor.dtype, tensor.shape, byte_count(tensor.shape, tensor.dtype),
          std::move(view)};
}

Checkpoint make_checkpoint(const std::filesystem::path& path, const PickleNode& root,
                           const FindStorage& find_storage) {
  const auto stored = [&](const StateDict& state) {
    std::vector<StoredTensor> tensors;
    tensors.reserve(state.tensors.size());
    for (const auto& [name, tensor] : state.tensors) {
      tensors.push_back(pickled_tensor(name, *tensor, find_storage));
    }
    return tensors;
  };
  std::vector<StateDict> states = find_state_dicts(root);
  StateDict& first = states.front();
  Checkpoint checkpoint(path, "pytorch", stored(first), std::move(first.metadata));
  std::map<std::string, std::vector<StoredTensor>> others;
  for (std::size_t i = 1; i < states.size(); ++i) others.emplace(states[i].name, stored(states[i]));
  checkpoint.hold_state_dicts(first.name, std::move(others));
  return checkpoint;
}

Checkpoint read_zip(const std::filesystem::path& path,
                    const std::shared_ptr<const MappedFile>& file) {
  constexpr std::uint64_t longest_pickle = 256 << 20;  // bytes
  constexpr std::string_view pickle_name = "data.pkl";
  const auto archive = std::make_shared<const ZipArchive>(file);
  const auto entry =
      std::find_if(archive->entries().begin(), archive->entries().end(), [&](const auto& each) {
        return each.name == pickle_name ||
               (each.name.ends_with("/data.pkl") &&
                std::count(each.name.begin(), each.name.end(), '/') == 1);
      });
  if (entry == archive->entries().end()) {
    throw Error(ErrorKind::not_this_format, "is a zip archive, but not one that torch.save wrote")
        .expected("an entry data.pkl");
  }
  const std::string root = entry->name.substr(0, entry->name.size() - pickle_name.size());
  if (const ZipEntry* order = archive->find(root + "byteorder"); order != nullptr) {
    const ZipBytes text = archive->read(*order);
    if (!text.bytes.empty() && text.bytes[0] == std::byte{'b'}) {
      throw Error(ErrorKind::unsupported, "was written on a big-endian machine");
    }
  }
  if (entry->size > longest_pickle) {
    throw Error(ErrorKind::damaged, "the pickle is absurdly long")
        .found(std::to_string(entry->size) + " bytes");
  }
  const ZipBytes bytes = archive->read(*entry);
  PickleReader reader(bytes.bytes);
  return make_checkpoint(path, reader.read(), [&](const PickledTensor& tensor) {
    const ZipEntry* data = archive->find(root + "data/" + tensor.storage);
    if (data == nullptr) {
      throw Error(ErrorKind::damaged, "a tensor's storage is missing from the archive")
          .about(root + "data/" + tensor.storage);
    }
    return Storage{data->size, [archive, data = *data] { return archive->read(data); }};
  });
}

/// Reads a pickle that also holds the elements: pickle.dump(model, file).
Checkpoint read_dumped(const std::filesystem::path& path,
                       const std::shared_ptr<const MappedFile>& file, const PickleReader& reader,
                       const PickleNode& root) {
  bool holds_elements = false;
  reader.for_each_storage(
      [&](const PickledTensor& storage) { holds_elements = holds_elements || storage.place > 0; });
  if (!holds_elements) {
    throw Error(ErrorKind::not_this_format, "is a pickle, but not one that torch.save wrote")
        .remedy("save the weights with torch.save or as .npz");
  }
  return make_checkpoint(path, root, [&](const PickledTensor& tensor) {
    const std::size_t start = tensor.place, size = stored_bytes(tensor);
    if (start == 0) {
      throw Error(ErrorKind::damaged, "a tensor's storage is missing from the file")
          .about(tensor.storage);
    }
    return Storage{size, [file, start, size] {
                     return ZipBytes{file->bytes().subspan(start, size), file};
                   }};
  });
}

Checkpoint read_legacy(const std::filesystem::path& path,
                       const std::shared_ptr<const MappedFile>& file) {
  const std::span<const std::byte> bytes = file->bytes();
  PickleReader reader(bytes);
  const PickleNode* first = nullptr;
  if (!reader.read_legacy_head(first)) return read_dumped(path, file, reader, *first);
  const PickleNode& root = reader.read();
  const PickleNode& keys = reader.read();
  if (keys.kind != NodeKind::list)
    throw Error(ErrorKind::damaged, "the list of storages is missing");

  // The size of a storage in bytes depends on its element type, which only its tensors specify.
  std::map<std::string, std::uint64_t> element_sizes;
  reader.for_each_storage([&](const PickledTensor& storage) {
    element_sizes.emplace(storage.storage, size_of(storage.storage_dtype));
  });
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> extents;  // start, bytes
  std::uint64_t at = reader.position();
  for (const PickleNode* key : keys.items) {
    const auto size = element_sizes.find(key->text);
    if (key->kind != NodeKind::text || size == element_sizes.end()) {
      throw Error(ErrorKind::damaged, "a storage belongs to no tensor").about(key->text);
    }
    std::uint64_t count = 0;
    if (bytes.size() - at < sizeof count) {
      throw Error(ErrorKind::damaged, "the file ends inside its storages").remedy("fetch it again");
    }
    std::copy_n(bytes.data() + at, sizeof count, reinterpret_cast<std::byte*>(&count));
    at += sizeof count;
    if (count > (bytes.size() - at) / size->second) {
      throw Error(ErrorKind::damaged, "the file ends inside its storages")
          .expected(std::to_string(count) + " elements")
          .found(std::to_string(bytes.size() - at) + " bytes")
          .remedy("fetch it again");
    }
    if (!extents.emplace(key->text, std::pair(at, count * size->second)).second) {
      throw Error(ErrorKind::damaged, "two storages have the same key").about(key->text);
    }
    at += count * size->second;
  }
  return make_checkpoint(path, root, [&](const PickledTensor& tensor) {
    const auto found = extents.find(tensor.storage);
    if (found == extents.end()) {
      throw Error(ErrorKind::damaged, "a tensor's storage is missing from the file")
          .about(tensor.storage);
    }
    const auto [start, size] = found->second;
    return Storage{size, [file, start = start, size = size] {
                     return ZipBytes{file->bytes().subspan(start, size), file};
                   }};
  });
}

}  // namespace

bool recognises_pytorch(const std::filesystem::path& path, FileHead head) {
  if (is_zip(head)) return !recognises_npz(path, head);
  return head.size() >= 2 && head[0] == std::byte{0x80} && head[1] >= std::byte{2} &&
         head[1] <= std::byte{5};
}

Checkpoint open_pytorch(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const FileHead head = file->bytes().first(std::min<std::size_t>(64, file->size()));
  if (is_zip(head)) return read_zip(path, file);
  if (recognises_pytorch(path, head)) return read_legacy(path, file);
  throw Error(ErrorKind::not_this_format, "is not a file that torch.save wrote");
}

}  // namespace attnscope
