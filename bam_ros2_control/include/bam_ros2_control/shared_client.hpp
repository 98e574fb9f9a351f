// SPDX-License-Identifier: Apache-2.0
// The one client of a driver's shared memory. No ROS is needed; Linux is.
#ifndef BAM_ROS2_CONTROL__SHARED_CLIENT_HPP_
#define BAM_ROS2_CONTROL__SHARED_CLIENT_HPP_

#include <cstdint>
#include <string>
#include <vector>

#include "bam_ros2_control/shared_layout.h"

namespace bam_ros2_control
{

/// Nanoseconds of CLOCK_MONOTONIC.
int64_t monotonic_ns();

/// Reads states and writes commands. Neither waits for the node, allocates memory or calls the kernel for more
/// than the time. Its methods are for one thread.
class SharedClient
{
public:
  /// Take the place of the client in the segment of `shared_memory:=name`.
  ///
  /// Throws std::runtime_error with one line where there is no such segment, or it has another layout, no node
  /// or another client.
  explicit SharedClient(const std::string & name);
  ~SharedClient();
  SharedClient(const SharedClient &) = delete;
  SharedClient & operator=(const SharedClient &) = delete;

  const BamHeader & header() const { return *reinterpret_cast<const BamHeader *>(memory_); }
  std::vector<std::string> joints() const;

  /// Copy the newest state; false, and the former one stays, where the node is in the middle of writing one.
  bool read(BamState & state) const;

  /// Write the fields torque and goal of a command; number, time and process are filled in.
  void write(const BamCommand & command);

  /// Let the next command ask for the end of a fault; returns what State.answered reaches once that is done.
  uint64_t reset_fault() { return ++resets_; }

private:
  void release();

  int descriptor_ = -1;
  char * memory_ = nullptr;
  uint64_t number_ = 0;
  uint64_t resets_ = 0;
};

}  // namespace bam_ros2_control

#endif  // BAM_ROS2_CONTROL__SHARED_CLIENT_HPP_
