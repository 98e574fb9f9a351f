// SPDX-License-Identifier: Apache-2.0
#include "bam_ros2_control/bam_system.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>

#include "pluginlib/class_list_macros.hpp"
#include "rclcpp/logging.hpp"

namespace bam_ros2_control
{
namespace
{

using hardware_interface::ComponentInfo;
using hardware_interface::return_type;

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
constexpr const char * kLongestSilence = "0.5";  // s; default of state_timeout
constexpr const char * kLongestWait = "10.0";    // s; default of wait_for_driver
constexpr auto kPoll = std::chrono::milliseconds(50);
constexpr const char * kTorque = "torque";
constexpr const char * kReset = "reset_fault";

/// Names of command interfaces, by their numbers in the shared memory.
constexpr std::array<const char *, 4> kKinds = {"position", "velocity", "current", "duty"};

using Value = double (*)(const BamState &, size_t);

/// State interfaces of joints.
const std::vector<std::pair<std::string, Value>> kOfJoints = {
  {"position", [](const BamState & state, size_t joint) { return state.position[joint]; }},
  {"velocity", [](const BamState & state, size_t joint) { return state.velocity[joint]; }},
  {"effort", [](const BamState & state, size_t joint) { return state.effort[joint]; }},
  {"current", [](const BamState & state, size_t joint) { return state.current[joint]; }},
  {"duty", [](const BamState & state, size_t joint) { return state.duty[joint]; }},
  {"voltage", [](const BamState & state, size_t joint) { return state.voltage[joint]; }},
  {"temperature", [](const BamState & state, size_t joint) { return state.temperature[joint]; }},
  {"goal", [](const BamState & state, size_t joint) { return state.goal[joint]; }},
  {kTorque, [](const BamState & state, size_t joint) { return double(state.torque_enabled[joint]); }},
  {"hardware_error", [](const BamState & state, size_t joint) { return double(state.hardware_error[joint]); }},
  {"fault", [](const BamState & state, size_t joint) { return double(state.stopped[joint]); }},
};

/// State interfaces of a gpio, of the whole driver; the number of joints comes as the second argument.
const std::vector<std::pair<std::string, Value>> kOfDriver = {
  {"latched", [](const BamState & state, size_t) { return double(state.latched); }},
  {"fault",
    [](const BamState & state, size_t joints) {
      return double(std::count(state.stopped, state.stopped + joints, 0U) < std::ptrdiff_t(joints));
    }},
  {kTorque,
    [](const BamState & state, size_t joints) {
      return double(std::count(state.torque_enabled, state.torque_enabled + joints, 0U) == 0);
    }},
  {"sample", [](const BamState & state, size_t) { return double(state.number); }},
  {"taken", [](const BamState & state, size_t) { return double(state.taken); }},
};

Value value_of(const std::vector<std::pair<std::string, Value>> & table, const std::string & name)
{
  for (const auto & [known, value] : table) {
    if (known == name) {
      return value;
    }
  }
  return nullptr;
}

std::string parameter(
  const hardware_interface::HardwareInfo & info, const std::string & name, const std::string & otherwise)
{
  const auto found = info.hardware_parameters.find(name);
  return found == info.hardware_parameters.end() ? otherwise : found->second;
}

bool lists_command(const ComponentInfo & component, const std::string & name)
{
  const auto & all = component.command_interfaces;
  return std::any_of(all.begin(), all.end(), [&](const auto & each) { return each.name == name; });
}

}  // namespace

CallbackReturn BamSystem::on_init(const BAM_INIT_ARGUMENT & argument)
{
  if (SystemInterface::on_init(argument) != CallbackReturn::SUCCESS) {
    return CallbackReturn::ERROR;
  }
  try {
    segment_ = parameter(info_, "shared_memory", "");
    state_timeout_ = int64_t(1e9 * std::stod(parameter(info_, "state_timeout", kLongestSilence)));
    wait_ = int64_t(1e9 * std::stod(parameter(info_, "wait_for_driver", kLongestWait)));
    check_description();
  } catch (const std::exception & error) {
    RCLCPP_FATAL(get_logger(), "%s", error.what());
    return CallbackReturn::ERROR;
  }
  joints_.clear();
  for (const ComponentInfo & each : info_.joints) {
    Joint joint;
    joint.name = each.name;
    for (const auto & command : each.command_interfaces) {
      const std::string whole = each.name + "/" + command.name;
      (command.name == kTorque ? joint.torque : joint.goal) = whole;
      joint.kind = command.name == kTorque ? joint.kind : command.name;
    }
    joints_.push_back(joint);
  }
  for (const ComponentInfo & gpio : info_.gpios) {
    torque_ = lists_command(gpio, kTorque) ? gpio.name + "/" + kTorque : torque_;
    reset_ = lists_command(gpio, kReset) ? gpio.name + "/" + kReset : reset_;
  }
  return CallbackReturn::SUCCESS;
}

void BamSystem::check_description() const
{
  if (segment_.empty()) {
    throw std::runtime_error("param shared_memory: is missing; give that of the driver");
  }
  if (state_timeout_ <= 0) {
    throw std::runtime_error("param state_timeout: is not above 0 s; correct it");
  }
  for (const ComponentInfo & joint : info_.joints) {
    size_t goals = 0;
    for (const auto & command : joint.command_interfaces) {
      goals += command.name != kTorque;
    }
    if (goals > 1) {
      throw std::runtime_error("joint " + joint.name + ": has several command interfaces; leave one");
    }
    for (const auto & state : joint.state_interfaces) {
      if (value_of(kOfJoints, state.name) == nullptr) {
        throw std::runtime_error("joint " + joint.name + ": no state interface " + state.name);
      }
    }
  }
  for (const ComponentInfo & gpio : info_.gpios) {
    for (const auto & command : gpio.command_interfaces) {
      if (command.name != kTorque && command.name != kReset) {
        throw std::runtime_error("gpio " + gpio.name + ": no command interface " + command.name);
      }
    }
    for (const auto & state : gpio.state_interfaces) {
      if (value_of(kOfDriver, state.name) == nullptr) {
        throw std::runtime_error("gpio " + gpio.name + ": no state interface " + state.name);
      }
    }
  }
}

CallbackReturn BamSystem::on_configure(const rclcpp_lifecycle::State &)
{
  try {
    attach();
  } catch (const std::exception & error) {
    client_.reset();
    RCLCPP_ERROR(get_logger(), "%s", error.what());
    return CallbackReturn::FAILURE;
  }
  RCLCPP_INFO(get_logger(), "shared memory '%s' of process %ld", segment_.c_str(), long(client_->header().pid));
  return CallbackReturn::SUCCESS;
}

void BamSystem::attach()
{
  client_.reset();  // its lock, before it is taken anew
  const int64_t end = monotonic_ns() + wait_;
  while (client_ == nullptr) {
    try {
      client_ = std::make_unique<SharedClient>(segment_);
    } catch (const std::runtime_error &) {
      if (monotonic_ns() > end) {
        throw;
      }
      std::this_thread::sleep_for(kPoll);
    }
  }
  const std::vector<std::string> names = client_->joints();
  readings_.clear();
  for (size_t index = 0; index < joints_.size(); ++index) {
    Joint & joint = joints_[index];
    const auto found = std::find(names.begin(), names.end(), joint.name);
    if (found == names.end()) {
      throw std::runtime_error("joint " + joint.name + ": the driver does not have it");
    }
    joint.place = size_t(found - names.begin());
    const uint32_t kind = client_->header().kind[joint.place];
    if (!joint.kind.empty() && (kind >= kKinds.size() || joint.kind != kKinds[kind])) {
      throw std::runtime_error(
        "joint " + joint.name + ": has another command interface than the driver's command_interfaces");
    }
    for (const auto & state : info_.joints[index].state_interfaces) {
      readings_.push_back({joint.name + "/" + state.name, value_of(kOfJoints, state.name), joint.place});
    }
  }
  for (const ComponentInfo & gpio : info_.gpios) {
    for (const auto & state : gpio.state_interfaces) {
      readings_.push_back({gpio.name + "/" + state.name, value_of(kOfDriver, state.name), names.size()});
    }
  }
  client_->read(state_);
  publish_state();
}

CallbackReturn BamSystem::on_activate(const rclcpp_lifecycle::State &)
{
  reset_was_ = false;
  resetting_ = 0;
  for (Joint & joint : joints_) {  // commands of an earlier time would move the joints at once
    joint.halted = false;
    for (const std::string & interface : {joint.goal, joint.torque}) {
      if (!interface.empty()) {
        set_command(interface, kNothing);
      }
    }
  }
  for (const std::string & interface : {torque_, reset_}) {
    if (!interface.empty()) {
      set_command(interface, kNothing);
    }
  }
  const int64_t end = monotonic_ns() + wait_;
  while (!client_->read(state_) || state_.active == 0 || state_.number == 0) {
    if (monotonic_ns() > end) {
      RCLCPP_ERROR(get_logger(), "driver: is not active, or takes no samples; activate it first");
      return CallbackReturn::FAILURE;
    }
    std::this_thread::sleep_for(kPoll);
  }
  publish_state();  // controllers that are activated next hold the joints where they are
  return CallbackReturn::SUCCESS;
}

CallbackReturn BamSystem::on_deactivate(const rclcpp_lifecycle::State &)
{
  release();
  return CallbackReturn::SUCCESS;
}

CallbackReturn BamSystem::on_cleanup(const rclcpp_lifecycle::State &)
{
  client_.reset();
  return CallbackReturn::SUCCESS;
}

CallbackReturn BamSystem::on_shutdown(const rclcpp_lifecycle::State &)
{
  release();
  client_.reset();
  return CallbackReturn::SUCCESS;
}

CallbackReturn BamSystem::on_error(const rclcpp_lifecycle::State &)
{
  release();
  client_.reset();
  return CallbackReturn::SUCCESS;  // the system is unconfigured now, and may be configured again
}

return_type BamSystem::perform_command_mode_switch(
  const std::vector<std::string> & start, const std::vector<std::string> & stop)
{
  for (Joint & joint : joints_) {
    if (joint.goal.empty()) {
      continue;
    }
    const bool starts = std::find(start.begin(), start.end(), joint.goal) != start.end();
    if (starts || std::find(stop.begin(), stop.end(), joint.goal) != stop.end()) {
      joint.claimed = starts;
      set_command(joint.goal, kNothing);  // what the controller before left would move the joint
    }
  }
  return return_type::OK;
}

return_type BamSystem::read(const rclcpp::Time &, const rclcpp::Duration &)
{
  client_->read(state_);  // the former state ages where that fails
  publish_state();
  if (state_.active == 0) {
    RCLCPP_ERROR(get_logger(), "driver: is not active any more");
    return return_type::ERROR;
  }
  if (state_.published != 0 && monotonic_ns() - state_.published > state_timeout_) {
    RCLCPP_ERROR(
      get_logger(), "driver: no sample for more than state_timeout%s%s",
      state_.fault[0] != 0 ? ", " : "; is it alive?", state_.fault);
    return return_type::ERROR;
  }
  bool is_new = false;
  for (Joint & joint : joints_) {
    is_new |= is_stopped(joint) && !std::exchange(joint.halted, joint.halted || is_stopped(joint));
  }
  if (is_new) {
    RCLCPP_ERROR(get_logger(), "torque off: %s", state_.fault);
  }
  if (resetting_ != 0 && state_.answered == resetting_) {
    resetting_ = 0;
    bool stays = false;
    for (Joint & joint : joints_) {
      joint.halted = is_stopped(joint);
      stays |= joint.halted;
    }
    RCLCPP_INFO(get_logger(), "reset_fault: %s", stays ? state_.fault : "done");
  }
  return return_type::OK;
}

return_type BamSystem::write(const rclcpp::Time &, const rclcpp::Duration &)
{
  if (reset_is_asked()) {
    resetting_ = client_->reset_fault();
  }
  for (const Joint & joint : joints_) {
    uint32_t & torque = command_.torque[joint.place];
    double & goal = command_.goal[joint.place];
    goal = joint.goal.empty() ? kNothing : get_command(joint.goal);
    if (!wants_torque(torque_) || !wants_torque(joint.torque)) {
      torque = BAM_TORQUE_OFF;
    } else {
      const bool silent = !joint.claimed || joint.halted || std::isnan(goal);
      torque = silent ? BAM_TORQUE_UNNAMED : BAM_TORQUE_ON;
    }
  }
  client_->write(command_);
  return return_type::OK;
}

void BamSystem::publish_state()
{
  for (const Reading & reading : readings_) {
    set_state(reading.interface, reading.value(state_, reading.joint));
  }
}

bool BamSystem::wants_torque(const std::string & interface) const
{
  return interface.empty() || get_command(interface) != 0.0;  // NaN: nobody has asked for torque off
}

bool BamSystem::reset_is_asked()
{
  const bool is = !reset_.empty() && get_command(reset_) > 0.5;
  return !std::exchange(reset_was_, is) && is;
}

bool BamSystem::is_stopped(const Joint & joint) const
{
  return state_.stopped[joint.place] != 0;
}

void BamSystem::release()
{
  if (client_ == nullptr) {
    return;
  }
  for (const Joint & joint : joints_) {
    if (!joint.kind.empty()) {
      command_.torque[joint.place] = BAM_TORQUE_OFF;
    }
  }
  client_->write(command_);
}

}  // namespace bam_ros2_control

PLUGINLIB_EXPORT_CLASS(bam_ros2_control::BamSystem, hardware_interface::SystemInterface)
