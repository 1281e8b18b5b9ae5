// Walks over the links of an HDF5 file. Runs in a reading child.
#include <set>
#include <utility>

#include "core/checkpoint/hdf5/hdf5_reading.h"
#include "core/error.h"

namespace attnscope {

namespace {

constexpr int deepest_group = 32;
constexpr std::size_t most_links = 1'000'000;

/// Links of one group, as H5Literate reports them.
struct GroupLinks {
  std::vector<std::pair<std::string, H5L_type_t>> links;
};

herr_t note_link(hid_t, const char* name, const H5L_info_t* info, void* data) {
  auto& group = *static_cast<GroupLinks*>(data);
  if (group.links.size() >= most_links) return -1;
  group.links.emplace_back(name, info->type);
  return 0;
}

class Walk {
 public:
  explicit Walk(const Hdf5Id& file) : file_(file) {}

  /// Names of all data sets, soft links after hard ones.
  std::vector<std::string> data_sets() {
    (void)type_of("/");
    groups_seen_.insert(address_);
    enter("/", "", 0);
    for (const std::string& link : soft_links_) {
      const std::string absolute = "/" + link;
      if (H5Oexists_by_name(file_.get(), absolute.c_str(), H5P_DEFAULT) <= 0) {
        throw Error(ErrorKind::damaged, "the link's target is missing").about(link);
      }
      // A soft link to a group adds no tensor: its members are listed under their own names.
      if (type_of(absolute) == H5O_TYPE_DATASET) found_.push_back(link);
    }
    return std::move(found_);
  }

 private:
  H5O_type_t type_of(const std::string& name) {
    Hdf5ObjectInfo info;
    if (H5Oget_info_by_name2(file_.get(), name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0) {
      throw Error(ErrorKind::damaged, "an object cannot be read").about(name);
    }
    address_ = info.addr;
    return info.type;
  }

  void enter(const std::string& group, const std::string& prefix, int depth) {
    if (depth > deepest_group) {
      throw Error(ErrorKind::damaged, "groups are nested too deeply").about(prefix);
    }
    const Hdf5Id id(H5Gopen2(file_.get(), group.c_str(), H5P_DEFAULT), H5Gclose,
                    "a group cannot be opened");
    GroupLinks content;
    hsize_t position = 0;
    if (H5Literate(id.get(), H5_INDEX_NAME, H5_ITER_INC, &position, note_link, &content) < 0) {
      throw Error(ErrorKind::damaged, "a group cannot be read").about(group);
    }
    links_seen_ += content.links.size();
    if (links_seen_ > most_links) throw Error(ErrorKind::damaged, "the file has too many links");
    for (const auto& [link, type] : content.links) follow(group, prefix + link, link, type, depth);
  }

  void follow(const std::string& group, const std::string& name, const std::string& link,
              H5L_type_t type, int depth) {
    if (type == H5L_TYPE_SOFT) {
      soft_links_.push_back(name);
      return;
    }
    if (type != H5L_TYPE_HARD) {
      throw Error(ErrorKind::unsupported, type == H5L_TYPE_EXTERNAL
                                              ? "the link leads into another file"
                                              : "the link has a user-defined type")
          .about(name)
          .remedy("copy the data into one file (h5repack, or h5copy -f ext)");
    }
    const std::string absolute = group == "/" ? "/" + link : group + "/" + link;
    switch (type_of(absolute)) {
      case H5O_TYPE_DATASET:
        found_.push_back(name);
        break;
      case H5O_TYPE_GROUP:
        if (groups_seen_.insert(address_).second) enter(absolute, name + "/", depth + 1);
        break;
      default:  // a named datatype holds no numbers
        break;
    }
  }

  const Hdf5Id& file_;
  std::vector<std::string> found_, soft_links_;
  std::set<haddr_t> groups_seen_;
  std::size_t links_seen_ = 0;
  haddr_t address_ = 0;
};

}  // namespace

std::vector<std::string> hdf5_data_set_names(const Hdf5Id& file) { return Walk(file).data_sets(); }

}  // namespace attnscope
