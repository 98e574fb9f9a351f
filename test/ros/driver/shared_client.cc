// SPDX-License-Identifier: Apache-2.0
// A client in C++ of a driver's shared memory, for a test: NAME GOAL. Commands one joint until it is killed.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include "bam_ros2_control/shared_client.hpp"

int main(int, char ** arguments)
try {
  bam_ros2_control::SharedClient client(arguments[1]);
  const double goal = std::atof(arguments[2]);
  std::printf("%s %u\n", client.joints().at(0).c_str(), client.header().kind[0]);
  BamState state = {};
  BamCommand command = {};
  for (bool reached = false;;) {
    command.torque[0] = BAM_TORQUE_ON;
    command.goal[0] = goal;
    client.write(command);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    if (!reached && client.read(state) && std::fabs(state.position[0] - goal) < 0.05) {
      reached = true;
      std::puts("reached");
    }
    std::fflush(stdout);
  }
} catch (const std::exception & error) {
  std::puts(error.what());
  return 1;
}
