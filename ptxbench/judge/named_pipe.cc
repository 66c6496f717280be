// SPDX-License-Identifier: Apache-2.0

#include "ptxbench/judge/named_pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace weft::judge {

Result<Descriptor> make_pipe(const std::string& path) {
  if (mkfifo(path.c_str(), 0600) != 0)
    return Error(fmt::format("cannot make the pipe {}: {}", path, std::strerror(errno)));
  Descriptor pipe(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!pipe.open())
    return Error(fmt::format("cannot open the pipe {}: {}", path, std::strerror(errno)));
  return pipe;
}

Result<Waited> wait_for_more(const Descriptor& pipe, const Descriptor& ended, int milliseconds,
                             std::string& buffer) {
  pollfd events[2] = {{.fd = pipe.get(), .events = POLLIN, .revents = 0},
                      {.fd = ended.get(), .events = POLLIN, .revents = 0}};
  if (poll(events, 2, milliseconds) < 0 && errno != EINTR)
    return Error(fmt::format("cannot wait for the sandboxed process: {}", std::strerror(errno)));
  if ((events[0].revents & POLLIN) != 0) {
    char part[1 << 14];
    const ssize_t length = ::read(pipe.get(), part, sizeof part);
    if (length > 0) buffer.append(part, static_cast<size_t>(length));
    return Waited::More;
  }
  if (events[1].revents == 0) return Waited::Neither;
  // The pipe is looked at first: what was written between the two looks must not be lost.
  char part[1 << 14];
  const ssize_t length = ::read(pipe.get(), part, sizeof part);
  if (length <= 0) return Waited::Ended;
  buffer.append(part, static_cast<size_t>(length));
  return Waited::More;
}

}  // namespace weft::judge
