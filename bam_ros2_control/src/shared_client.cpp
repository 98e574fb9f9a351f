// SPDX-License-Identifier: Apache-2.0
#include "bam_ros2_control/shared_client.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <stdexcept>

namespace bam_ros2_control
{
namespace
{

constexpr int kTries = 1000;  // a node writes a state in some ten microseconds

struct flock lock_of(off_t byte)
{
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

/// Lock a byte of the file as long as the descriptor lives; false where it is locked.
bool lock_byte(int descriptor, off_t byte)
{
  struct flock lock = lock_of(byte);
  return fcntl(descriptor, F_OFD_SETLK, &lock) == 0;
}

/// Whether somebody has locked a byte of the file.
bool is_locked(int descriptor, off_t byte)
{
  struct flock lock = lock_of(byte);
  return fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

std::atomic<uint64_t> & sequence_lock(char * block)
{
  static_assert(sizeof(std::atomic<uint64_t>) == sizeof(uint64_t));
  return *reinterpret_cast<std::atomic<uint64_t> *>(block);
}

}  // namespace

int64_t monotonic_ns()
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

SharedClient::SharedClient(const std::string & name)
{
  const std::string thing = "shared memory '" + name + "': ";
  descriptor_ = shm_open((BAM_SEGMENT_PREFIX + name).c_str(), O_RDWR | O_CLOEXEC, 0);
  if (descriptor_ < 0) {
    throw std::runtime_error(
      thing + std::strerror(errno) + "; start the driver with shared_memory:=" + name + ", as the same user");
  }
  struct stat file;
  const bool is_whole =
    fstat(descriptor_, &file) == 0 && file.st_size == static_cast<off_t>(BAM_SIZE);
  if (is_whole) {
    void * memory =
      mmap(nullptr, BAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    memory_ = memory == MAP_FAILED ? nullptr : static_cast<char *>(memory);
  }
  std::string wrong;
  if (
    memory_ == nullptr || std::strncmp(header().magic, BAM_MAGIC, sizeof(header().magic)) != 0 ||
    header().version != BAM_VERSION || header().joints > BAM_MOST_JOINTS)
  {
    wrong = "has another layout; install driver and plugin of the same version";
  } else if (!is_locked(descriptor_, BAM_NODE_BYTE)) {
    wrong = "its driver has died; start it again";
  } else if (!lock_byte(descriptor_, BAM_CLIENT_BYTE)) {
    wrong = "has another client; end that one";
  }
  if (!wrong.empty()) {
    release();
    throw std::runtime_error(thing + wrong);
  }
  const auto * before = reinterpret_cast<const BamCommand *>(memory_ + BAM_COMMAND_OFFSET);
  number_ = before->number;
  resets_ = before->reset_fault;
}

SharedClient::~SharedClient() { release(); }

void SharedClient::release()
{
  if (memory_ != nullptr) {
    munmap(memory_, BAM_SIZE);
    memory_ = nullptr;
  }
  if (descriptor_ >= 0) {
    close(descriptor_);
    descriptor_ = -1;
  }
}

std::vector<std::string> SharedClient::joints() const
{
  std::vector<std::string> names;
  for (uint32_t joint = 0; joint < header().joints; ++joint) {
    names.emplace_back(header().name[joint], strnlen(header().name[joint], BAM_LONGEST_NAME));
  }
  return names;
}

bool SharedClient::read(BamState & state) const
{
  char * block = memory_ + BAM_STATE_OFFSET;
  const std::atomic<uint64_t> & lock = sequence_lock(block);
  BamState copy;
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const uint64_t before = lock.load(std::memory_order_acquire);
    if (before % 2 == 0) {
      std::memcpy(&copy, block, sizeof(copy));
      std::atomic_thread_fence(std::memory_order_acquire);
      if (lock.load(std::memory_order_relaxed) == before) {
        state = copy;
        return true;
      }
    }
  }
  return false;
}

void SharedClient::write(const BamCommand & command)
{
  char * block = memory_ + BAM_COMMAND_OFFSET;
  std::atomic<uint64_t> & lock = sequence_lock(block);
  BamCommand next = command;
  next.number = ++number_;
  next.time = monotonic_ns();
  next.pid = getpid();
  next.reset_fault = resets_;
  const uint64_t odd = lock.load(std::memory_order_relaxed) | 1;  // a client that died may have left it so
  lock.store(odd, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  constexpr size_t begin = offsetof(BamCommand, number);
  std::memcpy(block + begin, reinterpret_cast<const char *>(&next) + begin, sizeof(next) - begin);
  lock.store(odd + 1, std::memory_order_release);
}

}  // namespace bam_ros2_control
