// SPDX-License-Identifier: Apache-2.0
// Servos of a bam_bench driver, or simulated ones, for controllers of ros2_control.
#ifndef BAM_ROS2_CONTROL__BAM_SYSTEM_HPP_
#define BAM_ROS2_CONTROL__BAM_SYSTEM_HPP_

#include <memory>
#include <string>
#include <vector>

#include "bam_ros2_control/shared_client.hpp"
#include "hardware_interface/system_interface.hpp"
#if __has_include("hardware_interface/types/hardware_component_interface_params.hpp")
#include "hardware_interface/types/hardware_component_interface_params.hpp"
#define BAM_INIT_ARGUMENT hardware_interface::HardwareComponentInterfaceParams
#else  // Jazzy before ros2_control 4.33
#define BAM_INIT_ARGUMENT hardware_interface::HardwareInfo
#endif
#include "rclcpp/duration.hpp"
#include "rclcpp/time.hpp"
#include "rclcpp_lifecycle/state.hpp"

namespace bam_ros2_control
{

using CallbackReturn = hardware_interface::CallbackReturn;

/// A system whose joints are those of a driver node with the parameter shared_memory.
///
/// Parameters: shared_memory, name of the segment; state_timeout, s, after which a state is too old;
/// wait_for_driver, s, for which a driver is awaited that is not there or not active yet.
///
/// A joint has one command interface, as the driver's command_interfaces says: position (rad), velocity
/// (rad/s), current (A) or duty; and torque, if it is wanted (0: off). NaN commands nothing.
///
/// A gpio may have the command interfaces torque (0: off on all joints) and reset_fault (from 0 to 1: end a
/// fault whose cause has passed), and the state interfaces fault, latched, torque, sample and taken.
///
/// A joint that no controller claims is commanded nothing, whatever value its last controller left.
///
/// In a fault its joints are commanded nothing until reset_fault has ended it. The driver dies, is deactivated
/// or loses its bus: read returns ERROR, and the system has to be configured again.
class BamSystem : public hardware_interface::SystemInterface
{
public:
  CallbackReturn on_init(const BAM_INIT_ARGUMENT & argument) override;
  CallbackReturn on_configure(const rclcpp_lifecycle::State & before) override;
  CallbackReturn on_activate(const rclcpp_lifecycle::State & before) override;
  CallbackReturn on_deactivate(const rclcpp_lifecycle::State & before) override;
  CallbackReturn on_cleanup(const rclcpp_lifecycle::State & before) override;
  CallbackReturn on_shutdown(const rclcpp_lifecycle::State & before) override;
  CallbackReturn on_error(const rclcpp_lifecycle::State & before) override;
  hardware_interface::return_type perform_command_mode_switch(
    const std::vector<std::string> & start, const std::vector<std::string> & stop) override;
  hardware_interface::return_type read(
    const rclcpp::Time & time, const rclcpp::Duration & period) override;
  hardware_interface::return_type write(
    const rclcpp::Time & time, const rclcpp::Duration & period) override;

private:
  /// One state interface, and where its value is.
  struct Reading
  {
    std::string interface;
    double (*value)(const BamState & state, size_t joint);
    size_t joint;
  };

  /// A joint of the description.
  struct Joint
  {
    std::string name;
    std::string kind;     // name of its command interface; empty: it is only read
    std::string goal;     // whole name of that
    std::string torque;   // whole name of its command interface torque; empty: it has none
    size_t place = 0;      // in the shared memory
    bool claimed = false;  // by an active controller
    bool halted = false;   // a fault of it was seen, and has not been reset
  };

  void check_description() const;
  void attach();
  void publish_state();
  bool wants_torque(const std::string & interface) const;
  bool reset_is_asked();
  bool is_stopped(const Joint & joint) const;
  void release();

  std::string segment_;
  int64_t state_timeout_ = 0, wait_ = 0;  // ns
  std::vector<Joint> joints_;
  std::vector<Reading> readings_;
  std::string torque_, reset_;  // whole names of command interfaces of a gpio; empty: it has none
  std::unique_ptr<SharedClient> client_;
  BamState state_ = {};
  BamCommand command_ = {};
  bool reset_was_ = false;      // value of reset_fault in the last cycle
  uint64_t resetting_ = 0;      // request that is not answered yet; 0: none
};

}  // namespace bam_ros2_control

#endif  // BAM_ROS2_CONTROL__BAM_SYSTEM_HPP_
