// SPDX-FileCopyrightText: the outsize authors
// SPDX-License-Identifier: BSL-1.0
#include <outsize/io/posix/file_protection.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string_view>

#include <outsize/base/error.hpp>

namespace outsize::io::detail {
namespace {

constexpr char const* access_list = "system.posix_acl_access";
/// Hashes and signatures of the contents, which the successor does not have.
constexpr std::array<std::string_view, 2> of_contents{"security.ima", "security.evm"};

/// Fills a string by a call that says how long the value is if it is asked for 0 bytes, and fails
/// with ERANGE if the value has grown meanwhile. Returns nothing, with errno, if the call fails.
template <typename Call>
std::optional<std::string> value_by(Call const& call) {
  for (;;) {
    ssize_t const length = call(nullptr, 0);
    if (length <= 0) return length == 0 ? std::optional(std::string()) : std::nullopt;
    std::string value(static_cast<std::size_t>(length), '\0');
    ssize_t const got = call(value.data(), value.size());
    if (got >= 0) return value.substr(0, static_cast<std::size_t>(got));
    if (errno != ERANGE) return std::nullopt;
  }
}

std::optional<std::string> attribute_of(int number, char const* name) {
  return value_by(
      [&](char* into, std::size_t size) { return ::fgetxattr(number, name, into, size); });
}

/// Whether the attribute has gone, or the file system has none in spite of listing it.
bool is_absent(int error_number) noexcept {
  return error_number == ENODATA || error_number == ENOTSUP || error_number == ENOSYS;
}

std::vector<std::pair<std::string, std::string>> attributes_of(std::string const& path) {
  std::vector<std::pair<std::string, std::string>> all;
  auto const names =
      value_by([&](char* into, std::size_t size) { return ::listxattr(path.c_str(), into, size); });
  if (!names && !is_absent(errno)) throw io_error(errno, "read the attributes of", path);
  for (std::string_view rest = names ? *names : std::string_view(); !rest.empty();) {
    std::string const name(rest.substr(0, rest.find('\0')));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    if (std::ranges::find(of_contents, name) != of_contents.end()) continue;
    auto value = value_by([&](char* into, std::size_t size) {
      return ::getxattr(path.c_str(), name.c_str(), into, size);
    });
    if (value) {
      all.emplace_back(name, std::move(*value));
    } else if (!is_absent(errno)) {
      throw io_error(errno, fmt::format("read the attribute {}", name), path);
    }
  }
  return all;
}

bool is_append_only(std::string const& path) noexcept {
#ifdef STATX_ATTR_APPEND
  struct statx about {};
  return ::statx(AT_FDCWD, path.c_str(), 0, STATX_TYPE, &about) == 0 &&
         (about.stx_attributes & STATX_ATTR_APPEND) != 0;
#else
  (void)path;
  return false;
#endif
}

struct stat status_of_open(int number, std::string const& name) {
  struct stat status {};
  if (::fstat(number, &status) != 0) throw io_error(errno, "replace", name);
  return status;
}

[[noreturn]] void throw_not_kept(int error_number, std::string const& what,
                                 std::string const& name) {
  throw io_error(error_number, fmt::format("replace it and keep its {}", what), name);
}

}  // namespace

file_protection::file_protection(std::string const& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw io_error(errno, "open", path);
  if (is_append_only(path)) throw io_error(EPERM, "replace what may only be appended to", path);
  mode_ = status.st_mode & 07777U;
  user_ = status.st_uid;
  group_ = status.st_gid;
  attributes_ = attributes_of(path);
}

// The owner first: a change of it clears special bits and capabilities. The mode last, because a
// list sets it, too.
void file_protection::give_to(int number, std::string const& name) const {
  give_owner(number, name);
  give_attributes(number, name);
  give_mode(number, name);
}

// The group first, as only root can change anything of a file that was given away. Nothing is asked
// of file systems without owners if there is nothing to change.
void file_protection::give_owner(int number, std::string const& name) const {
  auto const now = status_of_open(number, name);
  if (now.st_gid != group_ && ::fchown(number, static_cast<uid_t>(-1), group_) != 0)
    throw_not_kept(errno, fmt::format("group, {}", group_), name);
  if (now.st_uid != user_ && ::fchown(number, user_, static_cast<gid_t>(-1)) != 0)
    throw_not_kept(errno, fmt::format("owner, user {}", user_), name);
}

void file_protection::give_attributes(int number, std::string const& name) const {
  bool has_list = false;
  for (auto const& [attribute, value] : attributes_) {
    has_list = has_list || attribute == access_list;
    if (attribute_of(number, attribute.c_str()) == value) continue;
    if (::fsetxattr(number, attribute.c_str(), value.data(), value.size(), 0) != 0)
      throw_not_kept(
          errno, attribute == access_list ? "access control list" : "attribute " + attribute, name);
  }
  bool const inherited = !has_list && attribute_of(number, access_list).has_value();
  if (inherited && ::fremovexattr(number, access_list) != 0 && !is_absent(errno))
    throw_not_kept(errno, "access rights", name);
}

void file_protection::give_mode(int number, std::string const& name) const {
  auto const has_mode = [&] { return (status_of_open(number, name).st_mode & 07777U) == mode_; };
  if (has_mode()) return;
  int const error_number = ::fchmod(number, mode_) == 0 ? EPERM : errno;
  if (!has_mode()) throw_not_kept(error_number, fmt::format("mode, {:04o}", mode_), name);
}

}  // namespace outsize::io::detail
