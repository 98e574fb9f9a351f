// SPDX-License-Identifier: Apache-2.0
// Preloaded into a process: counts the steps in which it changes files below a directory, and lets the n-th one
// fail. A step is a call of the C library that creates, writes, cuts, renames, links or removes something.

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>

namespace {

enum How { kCount, kKillBefore, kKillHalfway, kDiskFull, kReadOnly };

std::atomic<long> steps{0};
long fatal = 0;
int how = kCount;
char place[PATH_MAX] = "";

template <typename F>
F next(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

void die() { kill(getpid(), SIGKILL); }

bool below(const char* path) {
  size_t length = strlen(place);
  if (!length || !path) return false;
  char whole[2 * PATH_MAX];
  if (path[0] == '/') {
    snprintf(whole, sizeof whole, "%s", path);
  } else {
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here)) return false;
    snprintf(whole, sizeof whole, "%s/%s", here, path);
  }
  return strncmp(whole, place, length) == 0;
}

bool below(int file) {
  if (!place[0]) return false;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return false;
  path[length] = 0;
  return below(path);
}

// Counts a step; dies before it, or returns with what it shall fail: 0, it shall be done. `grows`: needs room.
int begin(bool grows) {
  long now = ++steps;
  if (how == kKillBefore && now == fatal) die();
  if (how == kDiskFull && now >= fatal && grows) return ENOSPC;
  if (how == kReadOnly && now >= fatal) return EROFS;
  return 0;
}

void end() {
  if (how == kKillHalfway && steps == fatal) die();
}

bool halved() { return how == kKillHalfway && steps == fatal; }

template <typename Call>
auto step(bool counts, bool grows, Call call) -> decltype(call()) {
  if (!counts) return call();
  if (int refused = begin(grows)) {
    errno = refused;
    return -1;
  }
  auto result = call();
  int error = errno;
  end();
  errno = error;
  return result;
}

bool creates(int flags, const char* path) {
  struct stat there;
  return (flags & O_TRUNC) || ((flags & O_CREAT) && lstat(path, &there) != 0);
}

}  // namespace

extern "C" {

// From here on, steps below this directory count from 1.
void faults_begin(const char* directory, int what, long at) {
  snprintf(place, sizeof place, "%s", directory);
  steps = 0;
  how = what;
  fatal = at;
}

long faults_steps() { return steps; }

#define OPEN(name)                                                                             \
  int name(const char* path, int flags, ...) {                                                 \
    va_list more;                                                                              \
    va_start(more, flags);                                                                     \
    mode_t mode = va_arg(more, mode_t);                                                        \
    va_end(more);                                                                              \
    auto real = next<int (*)(const char*, int, ...)>(#name);                                   \
    return step(below(path) && creates(flags, path), true, [&] { return real(path, flags, mode); }); \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                           \
  int name(int base, const char* path, int flags, ...) {                                       \
    va_list more;                                                                              \
    va_start(more, flags);                                                                     \
    mode_t mode = va_arg(more, mode_t);                                                        \
    va_end(more);                                                                              \
    auto real = next<int (*)(int, const char*, int, ...)>(#name);                              \
    bool counts = base == AT_FDCWD && below(path) && creates(flags, path);                     \
    return step(counts, true, [&] { return real(base, path, flags, mode); });                  \
  }
OPENAT(openat)
OPENAT(openat64)

ssize_t write(int file, const void* data, size_t count) {
  auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  return step(below(file), true, [&] { return real(file, data, halved() ? count / 2 : count); });
}

ssize_t writev(int file, const struct iovec* data, int count) {
  auto real = next<ssize_t (*)(int, const struct iovec*, int)>("writev");
  return step(below(file), true, [&] { return real(file, data, halved() ? (count + 1) / 2 : count); });
}

#define PWRITE(name, offset_type)                                                                        \
  ssize_t name(int file, const void* data, size_t count, offset_type at) {                               \
    auto real = next<ssize_t (*)(int, const void*, size_t, offset_type)>(#name);                         \
    return step(below(file), true, [&] { return real(file, data, halved() ? count / 2 : count, at); });  \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define FTRUNCATE(name, offset_type)                                              \
  int name(int file, offset_type length) {                                        \
    auto real = next<int (*)(int, offset_type)>(#name);                           \
    return step(below(file), false, [&] { return real(file, length); });          \
  }
FTRUNCATE(ftruncate, off_t)
FTRUNCATE(ftruncate64, off64_t)

#define SENDFILE(name, offset_type)                                                              \
  ssize_t name(int to, int from, offset_type* at, size_t count) {                                \
    auto real = next<ssize_t (*)(int, int, offset_type*, size_t)>(#name);                        \
    return step(below(to), true, [&] { return real(to, from, at, halved() ? count / 2 : count); }); \
  }
SENDFILE(sendfile, off_t)
SENDFILE(sendfile64, off64_t)

int rename(const char* from, const char* to) {
  auto real = next<int (*)(const char*, const char*)>("rename");
  return step(below(to), false, [&] { return real(from, to); });
}

int link(const char* from, const char* to) {
  auto real = next<int (*)(const char*, const char*)>("link");
  return step(below(to), true, [&] { return real(from, to); });
}

int unlink(const char* path) {
  auto real = next<int (*)(const char*)>("unlink");
  return step(below(path), false, [&] { return real(path); });
}

// Of a tree that is removed: Python gives a descriptor and a name.
int unlinkat(int base, const char* path, int flags) {
  auto real = next<int (*)(int, const char*, int)>("unlinkat");
  bool counts = base == AT_FDCWD ? below(path) : below(base);
  return step(counts, false, [&] { return real(base, path, flags); });
}

int mkdir(const char* path, mode_t mode) {
  auto real = next<int (*)(const char*, mode_t)>("mkdir");
  return step(below(path), true, [&] { return real(path, mode); });
}

int rmdir(const char* path) {
  auto real = next<int (*)(const char*)>("rmdir");
  return step(below(path), false, [&] { return real(path); });
}

}  // extern "C"
