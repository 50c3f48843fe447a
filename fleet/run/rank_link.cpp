#include "fleet/run/rank_link.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "results/error.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr const char* link_variable = "FATHOM_RANK_LINK";

/// A rank has one or two; the kernel takes 253 in a message.
constexpr std::size_t most_connections = 64;

struct alignas(cmsghdr) Control {
  std::array<char, CMSG_SPACE(most_connections * sizeof(int))> bytes{};
};

bool is_connection(int descriptor) {
  int type = 0;
  socklen_t length = sizeof type;
  sockaddr_storage peer{};
  socklen_t peer_length = sizeof peer;
  return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM &&
         getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &peer_length) == 0;
}

/// Streams to other processes, but for those that carry this one's input and output.
std::vector<int> open_connections(int but) {
  std::vector<int> connections;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd", none)) {
    const int descriptor = std::atoi(entry.path().filename().c_str());
    if (descriptor > STDERR_FILENO && descriptor != but && is_connection(descriptor) &&
        connections.size() < most_connections)
      connections.push_back(descriptor);
  }
  return connections;
}

}  // namespace

RankLink::RankLink() {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error(ExitCode::setup_incomplete,
                fmt::format("A rank cannot be started ({}).", std::strerror(errno)));
  own_end_ = FileDescriptor(ends[0]);
  rank_end_ = FileDescriptor(ends[1]);
}

std::pair<std::string, std::string> RankLink::variable() const {
  return {link_variable, std::to_string(rank_end_.get())};
}

void RankLink::drain() {
  char word = 0;
  iovec data{&word, 1};
  Control control;
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  if (recvmsg(own_end_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1) return;
  connected_ = true;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(part) + i * sizeof(int), sizeof descriptor);
      kept_.emplace_back(descriptor);
    }
  }
}

void take_leave_of_hydra() {
  const char* text = std::getenv("PMI_FD");
  if (text == nullptr || std::getenv("HYDI_CONTROL_FD") == nullptr) return;
  // PMI 1's wire protocol. The rank is gone, or has nothing more to say; after its own MPI_Finalize
  // nobody is at the other end.
  constexpr std::string_view word = "cmd=finalize\n";
  const int hydra = std::atoi(text);
  if (send(hydra, word.data(), word.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) return;
  pollfd answer{hydra, POLLIN, 0};
  constexpr int patience_ms = 1000;
  if (poll(&answer, 1, patience_ms) > 0) {
    std::array<char, 256> line;
    [[maybe_unused]] const auto n = recv(hydra, line.data(), line.size(), MSG_DONTWAIT);
  }
}

void tell_supervisor_of_connection() {
  const char* text = std::getenv(link_variable);
  if (text == nullptr) return;
  const FileDescriptor link(std::atoi(text));
  const std::vector<int> connections = open_connections(link.get());
  char word = '\n';
  iovec data{&word, 1};
  Control control;
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (!connections.empty()) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = CMSG_SPACE(connections.size() * sizeof(int));
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(connections.size() * sizeof(int));
    std::memcpy(CMSG_DATA(part), connections.data(), connections.size() * sizeof(int));
  }
  // A supervisor that is gone takes this rank with it.
  [[maybe_unused]] const auto sent = sendmsg(link.get(), &message, MSG_NOSIGNAL);
}

}  // namespace fathom
