// SPDX-License-Identifier: Apache-2.0

#include "base/jail/privileges.h"

#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

namespace weft::jail {
namespace {

constexpr int kRefused[] = {
    SYS_mount,       SYS_umount2,          SYS_pivot_root,
    SYS_chroot,      SYS_unshare,          SYS_setns,
    SYS_ptrace,      SYS_process_vm_readv, SYS_process_vm_writev,
    SYS_bpf,         SYS_perf_event_open,  SYS_userfaultfd,
    SYS_keyctl,      SYS_add_key,          SYS_request_key,
    SYS_init_module, SYS_finit_module,     SYS_delete_module,
    SYS_kexec_load,  SYS_kexec_file_load,  SYS_reboot,
    SYS_swapon,      SYS_swapoff,          SYS_open_by_handle_at,
    SYS_open_tree,   SYS_move_mount,       SYS_fsopen,
    SYS_fsmount,     SYS_mount_setattr,    SYS_io_uring_setup,
    SYS_acct,        SYS_quotactl,
};

constexpr uint32_t kNewNamespaces = CLONE_NEWNS | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET |
                                    CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;

sock_filter load(size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset));
}
sock_filter answer(uint32_t action) {
  return BPF_STMT(BPF_RET | BPF_K, action);
}
// Skips `over` instructions unless the loaded word is `value`.
sock_filter unless_equal(uint32_t value, uint8_t over) {
  return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, over);
}

std::string failed(const char* what) {
  return std::string(what) + ": " + std::strerror(errno);
}

}  // namespace

std::string drop_capabilities() {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed("cannot give privileges up");
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability) >= 0; ++capability)
    prctl(PR_CAPBSET_DROP, capability);
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (syscall(SYS_capset, &header, none) != 0) return failed("cannot drop capabilities");
  return "";
}

std::string filter_system_calls() {
  constexpr uint32_t kNotPermitted = SECCOMP_RET_ERRNO | EPERM;
  constexpr uint32_t kUnknown = SECCOMP_RET_ERRNO | ENOSYS;
  constexpr size_t kFirst = offsetof(seccomp_data, args[0]);  // its low half, little end first
  std::vector<sock_filter> filter = {
      load(offsetof(seccomp_data, arch)), unless_equal(AUDIT_ARCH_X86_64, 1),
      BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0), answer(SECCOMP_RET_KILL_PROCESS),
      load(offsetof(seccomp_data, nr)),
      // The 32-bit numbering of x32 would pass by every number below.
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), answer(kUnknown)};
  for (const int number : kRefused) {
    filter.push_back(unless_equal(static_cast<uint32_t>(number), 1));
    filter.push_back(answer(kNotPermitted));
  }
  // Its flags lie in memory, where a filter cannot look; libraries then use clone.
  filter.push_back(unless_equal(SYS_clone3, 1));
  filter.push_back(answer(kUnknown));
  filter.push_back(unless_equal(SYS_clone, 4));
  filter.push_back(load(kFirst));
  filter.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kNewNamespaces, 0, 1));
  filter.push_back(answer(kNotPermitted));
  filter.push_back(answer(SECCOMP_RET_ALLOW));
  filter.push_back(unless_equal(SYS_socket, 4));
  filter.push_back(load(kFirst));
  filter.push_back(unless_equal(AF_UNIX, 1));
  filter.push_back(answer(SECCOMP_RET_ALLOW));
  filter.push_back(answer(kNotPermitted));
  filter.push_back(answer(SECCOMP_RET_ALLOW));
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    return failed("cannot filter system calls");
  return "";
}

}  // namespace weft::jail
