// SPDX-License-Identifier: Apache-2.0

// A temporary file system becomes the root; what the program may see is bound into it from the old
// root, which is then let go.
#include "base/jail/root.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace weft::jail {
namespace {
namespace fs = std::filesystem;

// Any folder that exists will do; nothing is written to it.
constexpr const char* kBase = "/tmp";
constexpr const char* kOld = "/old";
constexpr const char* kNew = "/new";

std::string failed(const std::string& what) {
  return what + ": " + std::strerror(errno);
}

// A place to mount something on: a folder, or an empty file.
bool make_place(const std::string& path, bool folder) {
  std::error_code failure;
  if (folder) {
    fs::create_directories(path, failure);
    return fs::is_directory(path, failure);
  }
  fs::create_directories(fs::path(path).parent_path(), failure);
  const int file = open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0444);
  if (file < 0) return false;
  close(file);
  return true;
}

// The whole tree below, so that nothing mounted inside stays writable.
bool make_read_only(const std::string& path) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  return syscall(SYS_mount_setattr, AT_FDCWD, path.c_str(), AT_RECURSIVE, &attributes,
                 sizeof attributes) == 0;
}

// Flags that came with a mount cannot be taken off in a user namespace, so they are kept.
bool remount_read_only(const std::string& path) {
  struct statvfs status {};
  if (statvfs(path.c_str(), &status) != 0) return false;
  unsigned long flags = MS_REMOUNT | MS_BIND | MS_RDONLY;
  if ((status.f_flag & ST_NOSUID) != 0) flags |= MS_NOSUID;
  if ((status.f_flag & ST_NODEV) != 0) flags |= MS_NODEV;
  if ((status.f_flag & ST_NOEXEC) != 0) flags |= MS_NOEXEC;
  return mount(nullptr, path.c_str(), nullptr, flags, nullptr) == 0;
}

std::string bind(const Mount& one, const std::string& target) {
  const std::string source = kOld + one.source;
  struct stat status {};
  if (stat(source.c_str(), &status) != 0)
    return one.optional ? "" : failed("cannot find " + one.source);
  if (!make_place(target, S_ISDIR(status.st_mode))) return failed("cannot make " + one.target);
  if (mount(source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
    return failed("cannot bind " + one.source);
  if (one.kind == Mount::Kind::ReadOnlyBind && !make_read_only(target) &&
      !remount_read_only(target))
    return failed("cannot make read-only " + one.target);
  return "";
}

std::string temporary(const std::string& target, const std::string& size) {
  if (!make_place(target, true)) return failed("cannot make " + target);
  const std::string options = size.empty() ? "mode=0755" : "mode=0755,size=" + size;
  if (mount("tmpfs", target.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) != 0)
    return failed("cannot mount a temporary file system on " + target);
  return "";
}

std::string devices(const std::string& target) {
  if (std::string why = temporary(target, ""); !why.empty()) return why;
  for (const char* name : {"null", "zero", "full", "random", "urandom", "tty"}) {
    const Mount device{Mount::Kind::DeviceBind, std::string("/dev/") + name, "", "", true};
    if (std::string why = bind(device, target + "/" + name); !why.empty()) return why;
  }
  std::error_code ignored;
  fs::create_directories(target + "/shm", ignored);
  fs::create_symlink("/proc/self/fd", target + "/fd", ignored);
  const char* names[] = {"stdin", "stdout", "stderr"};
  for (int i = 0; i < 3; ++i)
    fs::create_symlink("/proc/self/fd/" + std::to_string(i), target + "/" + names[i], ignored);
  return "";
}

std::string place(const Mount& one) {
  const std::string target = kNew + one.target;
  switch (one.kind) {
    case Mount::Kind::Bind:
    case Mount::Kind::ReadOnlyBind:
    case Mount::Kind::DeviceBind:
      return bind(one, target);
    case Mount::Kind::Devices:
      return devices(target);
    case Mount::Kind::Proc:
      if (!make_place(target, true)) return failed("cannot make " + one.target);
      if (mount("proc", target.c_str(), "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
        return failed("cannot mount proc");
      return "";
    case Mount::Kind::Temporary:
      return temporary(target, one.size);
    case Mount::Kind::Link: {
      std::error_code failure;
      fs::create_directories(fs::path(target).parent_path(), failure);
      fs::create_symlink(one.source, target, failure);
      return failure ? "cannot link " + one.target + ": " + failure.message() : "";
    }
    case Mount::Kind::RemountReadOnly:
      return remount_read_only(target) ? "" : failed("cannot make read-only " + one.target);
  }
  return "";
}

long pivot_root(const char* to, const char* old) {
  return syscall(SYS_pivot_root, to, old);
}

}  // namespace

std::string enter_new_root(const std::vector<Mount>& mounts) {
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return failed("cannot keep mounts private");
  if (mount("tmpfs", kBase, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") != 0)
    return failed("cannot mount a temporary root");
  if (chdir(kBase) != 0 || mkdir("old", 0755) != 0 || mkdir("new", 0755) != 0)
    return failed("cannot prepare the temporary root");
  if (pivot_root(kBase, "old") != 0 || chdir("/") != 0) return failed("cannot change the root");
  // The new root is a mount of its own, so that it can become read-only in the end.
  if (mount("tmpfs", kNew, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") != 0)
    return failed("cannot mount the new root");
  for (const Mount& one : mounts)
    if (std::string why = place(one); !why.empty()) return why;
  if (umount2(kOld, MNT_DETACH) != 0) return failed("cannot let the old root go");
  if (chdir(kNew) != 0 || pivot_root(".", ".") != 0 || umount2(".", MNT_DETACH) != 0 ||
      chdir("/") != 0)
    return failed("cannot enter the new root");
  return "";
}

}  // namespace weft::jail
