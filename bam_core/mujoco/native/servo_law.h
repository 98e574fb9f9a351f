// SPDX-License-Identifier: Apache-2.0
// The law of a servo: firmware, motor and the friction budget of BAM eq. 10. No MuJoCo, no state of its own.
// The compiled Python twin is bam_core/mujoco/_law.py; a test holds the two together to 1e-9.
#ifndef BAM_BENCH_SERVO_LAW_H_
#define BAM_BENCH_SERVO_LAW_H_

#include <algorithm>
#include <cmath>

namespace bam {

constexpr double kCopperCoefficient = 3.93e-3;  // 1/K
constexpr double kWindingCoolingTime = 30.0;    // s
constexpr double kClockSlack = 1e-9;            // s; rounding of the simulation time

// One servo, SI units; the names are those of servo files. Every field is an attribute of the plugin.
struct Constants {
  double torque_constant = 0.0;         // k_t, N·m/A
  double resistance = 0.0;              // R, Ohm
  double demand_per_kp_rad = 0.0;       // firmware: duty or A per unit of kp and rad
  double demand_per_root_kp_velocity = 0.0;  // firmware: A per root of kp and rad/s
  double demand_limit = 0.0;            // firmware: largest duty, or current in A
  double period = 1e-3;                 // of the firmware, s
  double regulates_current = 0.0;       // 1: demands are currents; 0: duties
  double viscous = 0.0;                 // K_v, N·m·s/rad
  double coulomb = 0.0;                 // K_c, N·m
  double stribeck_coulomb = 0.0;        // K_c^s, N·m
  double stribeck_velocity = 1.0;       // v_s, rad/s
  double stribeck_exponent = 1.0;       // alpha
  double load_motor = 0.0;              // K_m
  double load_external = 0.0;           // K_e
  double load_motor_stribeck = 0.0;     // K_m^s
  double load_external_stribeck = 0.0;  // K_e^s
  double quadratic_motor = 0.0;         // K_m^q, 1/(N·m)
  double quadratic_external = 0.0;      // K_e^q, 1/(N·m)
  double quadratic_opposing = 0.0;      // 1: the quadratic term only where motor and load torque oppose
  double torque_saturation = 0.0;       // 1/A
  double winding_heating = 0.0;         // K/J
  double kp = 0.0;                      // position gain, firmware units
  double supply_voltage = 0.0;          // V
  double case_temperature_rise = 0.0;            // of the motor's case above the temperature that R belongs to, K
  double friction_temperature = 0.0;    // 1/K
  double bridge_coasting = 0.0;         // share of the time between duty pulses without a brake
  double sensor_delay = 0.0;            // s
  double encoder_count = 0.0;           // rad, where the firmware sees whole counts; 0: it sees angles
  double encoder_zero = 0.0;            // what the encoder says where the joint is at zero, rad
  double dead_band = 0.0;               // firmware: error without effect, rad
  double error_offset = 0.0;            // firmware: added to a larger error, rad
  double goal_speed_limit = 0.0;        // firmware: at which the set-point follows the goal, rad/s; 0: it jumps
  double overload_threshold = 1.0;      // firmware: demand that is overload, share of the largest
  double overload_time = 0.0;           // firmware: of overload, until it protects itself, s; 0: it never does
  double overload_limit = 1.0;          // firmware: of demands from then on, share of the largest
  double resolution = 0.0;              // firmware: one encoder count, rad; by half of it, another goal differs
  double friction_direction = 0.0;      // by what share friction differs with the direction, -1..1
  double load_inertia = 0.0;            // share of the torque that accelerates the load which loads the gear
  double armature = 0.0;                // that the joint must have, kg·m²; 0: not known
};

// What a servo is told for one step.
struct Command {
  double goal_position;  // rad
  double enabled;        // 1 or 0, or for which share of the time until the next command
};

// What a servo keeps from step to step.
struct Memory {
  double held_demand;      // what the firmware asked for last, duty or A
  double was_enabled;      // torque enable in the previous step; below zero: there was none
  double winding_warming;  // K
  double friction_torque;  // of the previous step, N·m
  double friction_budget;  // of the previous step, N·m
  double reversal_correction;           // steps' worth of the budget that the next steps leave out, see ReversalCorrection
  double set_point;        // that follows the goal, rad
  double overload;         // time for which demands have been overload, s
  double told;             // the last goal before the servo was protected, rad
  double inertial_torque;  // what accelerated the load in the previous step, N·m
  double inverse_inertia;  // of the joint, as MuJoCo estimates it, 1/(kg·m²)
};

// What a servo does in one step.
struct Drive {
  Memory next;
  double duty;          // -1..1
  double current;       // A
  double motor_torque;  // N·m
  double friction_budget;  // tau_f^m, N·m
  double friction_limit;   // what friction may do in this step, N·m
};

// tau_f^m (BAM eq. 10), N·m.
inline double Budget(const Constants& c, double motor, double external, double velocity) {
  const double warmer = c.friction_temperature * c.case_temperature_rise;
  const double temperature_scale = warmer == 0.0 ? 1.0 : std::exp(-warmer);
  const double speed = std::abs(velocity);
  const double stribeck_factor = std::exp(-std::pow(speed / c.stribeck_velocity, c.stribeck_exponent));
  double quadratic = 0.0;
  if (c.quadratic_opposing == 0.0 || motor * external < 0.0) {
    if (std::abs(motor) > std::abs(external)) {
      quadratic = c.quadratic_external * external * external;
    } else if (std::abs(motor) < std::abs(external)) {
      quadratic = c.quadratic_motor * motor * motor;
    }
  }
  const double always = temperature_scale * (c.viscous * speed + c.coulomb) +
                        std::abs(c.load_motor * motor - c.load_external * external);
  const double at_rest = temperature_scale * c.stribeck_coulomb +
                         std::abs(c.load_motor_stribeck * motor - c.load_external_stribeck * external) +
                         quadratic;
  return always + stribeck_factor * at_rest;
}

// By what the budget scales in a servo that is about to turn with this velocity.
inline double DirectionScale(const Constants& c, double velocity) {
  if (velocity == 0.0) return 1.0;
  return velocity > 0.0 ? 1.0 + c.friction_direction : 1.0 - c.friction_direction;
}

// Whether friction had more to give.
inline bool Holds(double friction, double budget) { return std::abs(friction) < (1.0 - 1e-6) * budget; }

// A position as the firmware sees it, in whole counts of its encoder where it does.
inline double Seen(const Constants& c, double position) {
  if (c.encoder_count <= 0.0) return position;
  return c.encoder_count * std::nearbyint((position + c.encoder_zero) / c.encoder_count) - c.encoder_zero;
}

// The set-point that follows the goal.
inline double SetPoint(const Constants& c, double before, double goal, double time) {
  if (c.goal_speed_limit <= 0.0) return goal;
  const double most = c.goal_speed_limit * time;
  const double ahead = goal - before;
  return std::abs(ahead) > most ? before + std::copysign(most, ahead) : goal;
}

// What the firmware multiplies with its gain.
inline double ShapedError(const Constants& c, double error) {
  return std::abs(error) <= c.dead_band ? 0.0 : error + std::copysign(c.error_offset, error);
}

// A demand as protection from overload limits it; notes what the servo remembers. `period` is the time for which
// the demand holds.
inline double Protected(const Constants& c, double wanted, double goal, double period, Memory* next) {
  if (c.overload_time <= 0.0) return wanted;
  const double trip = c.overload_time - kClockSlack;
  if (next->overload >= trip && std::abs(goal - next->told) > 0.5 * c.resolution) next->overload = 0.0;
  if (next->overload >= trip) {
    const double allowed = c.overload_limit * c.demand_limit;
    return std::min(std::max(wanted, -allowed), allowed);
  }
  next->told = goal;
  const bool is_over = std::abs(wanted) >= c.overload_threshold * c.demand_limit;
  next->overload = is_over ? next->overload + period : 0.0;
  return wanted;
}

// Motor torque and limit of friction where torque is switched on a joint that friction held. Friction holds it
// until the switch; for the rest of the step it gets what the new torque leaves.
inline void PartlyHeld(const Constants& c, double share, bool is_released, double external, Drive* drive) {
  const double renewed = is_released ? 0.0 : drive->motor_torque / share;
  const double rest = is_released ? 1.0 - share : share;
  const double push = renewed + external;
  const double available = Budget(c, renewed, external, 0.0) * DirectionScale(c, push);
  const double left = rest * std::copysign(std::max(std::abs(push) - available, 0.0), push);
  const double friction = left - drive->motor_torque - external;
  if (friction * push < 0.0) {
    drive->friction_limit = std::abs(friction);
  } else {
    drive->motor_torque += friction;
    drive->friction_limit = 0.0;
  }
}

// How much friction a step overdid that ends with another direction of motion, in steps' worth: it opposed the
// new direction throughout, but until the joint turned it should have opposed the old one. The next steps leave
// the difference out.
inline double ReversalCorrection(double friction, double budget, double before, double velocity, double dt,
                       double inverse_inertia) {
  if (!(before * velocity < 0.0 && friction * velocity < 0.0) || Holds(friction, budget)) return 0.0;
  const double without_turn = std::abs(velocity - before) + 2.0 * dt * inverse_inertia * std::abs(friction);
  return 2.0 * std::abs(before) / without_turn;
}

// The firmware renews its demand if it is due (eqs. 12, 14); the motor answers (eqs. 13, 15), saturates and
// warms; friction gets its budget (eq. 10). A step stands for the time from half a step before `time` to half
// a step after it, so what changes at `time` counts for half of it.
inline Drive Step(const Constants& c, const Command& command, const Memory& memory, double time, double dt,
                  double position, double velocity, double external) {
  const double share = memory.was_enabled < 0.0 ? command.enabled : 0.5 * (command.enabled + memory.was_enabled);
  const bool is_enabled = command.enabled > 0.0;
  const bool was_enabled = 2.0 * share > command.enabled;
  Drive drive{};
  drive.next = memory;
  double held = memory.held_demand;
  double demand = held;
  // The servo has had time to get to its first goal.
  double set_point = memory.was_enabled < 0.0 ? command.goal_position : memory.set_point;
  if (is_enabled) {
    const bool is_due = std::floor((time + kClockSlack) / c.period) !=
                        std::floor((time - dt + kClockSlack) / c.period);
    if (is_due || !was_enabled) {
      const double period = std::max(c.period, dt);
      const double seen = Seen(c, position - c.sensor_delay * velocity);
      set_point = SetPoint(c, was_enabled ? set_point : position, command.goal_position, period);
      const double wanted = c.demand_per_kp_rad * c.kp * ShapedError(c, set_point - seen) -
                            c.demand_per_root_kp_velocity * std::sqrt(std::abs(c.kp)) * velocity;
      const double largest = std::min(std::max(wanted, -c.demand_limit), c.demand_limit);
      const double renewed = Protected(c, largest, command.goal_position, period, &drive.next);
      const double stale = was_enabled ? 0.5 * std::min(c.period / dt, 1.0) : 0.0;
      demand = renewed + stale * (held - renewed);
      held = renewed;
    }
  } else {
    held = 0.0;
    drive.next.overload = 0.0;
  }
  drive.next.held_demand = held;
  drive.next.was_enabled = command.enabled;
  drive.next.set_point = set_point;
  const double warming = memory.winding_warming;
  const double resistance = c.resistance * (1.0 + kCopperCoefficient * warming);
  const double back_emf = c.torque_constant * velocity;
  double linear = 0.0;  // k_t·I
  if (c.regulates_current == 0.0) drive.duty = held;
  if (share > 0.0 && c.regulates_current != 0.0) {
    const double limited = std::min(std::max(demand, (-c.supply_voltage - back_emf) / resistance),
                                    (c.supply_voltage - back_emf) / resistance);
    if (is_enabled) drive.duty = (resistance * limited + back_emf) / c.supply_voltage;
    linear = share * c.torque_constant * limited;
  } else if (share > 0.0) {
    const double closed = 1.0 - c.bridge_coasting * (1.0 - std::abs(demand));
    linear = share * c.torque_constant * (demand * c.supply_voltage - closed * back_emf) / resistance;
  }
  drive.current = linear / c.torque_constant;
  const double heating = c.winding_heating * resistance * drive.current * drive.current;
  const double case_temperature_rise = c.winding_heating > 0.0 ? c.case_temperature_rise : 0.0;
  drive.next.winding_warming = warming + dt * (heating - (warming - case_temperature_rise) / kWindingCoolingTime);
  drive.motor_torque = linear / (1.0 + c.torque_saturation * std::abs(drive.current));

  const double pressing = external - c.load_inertia * memory.inertial_torque;
  const double pushed = velocity + dt * memory.inverse_inertia * (drive.motor_torque + external);
  drive.friction_budget = Budget(c, drive.motor_torque, pressing, velocity) * DirectionScale(c, pushed);
  const double reversal_correction = std::min(memory.reversal_correction, 1.0);
  drive.next.reversal_correction -= reversal_correction;
  drive.friction_limit = (1.0 - reversal_correction) * drive.friction_budget;
  if (share > 0.0 && share < 1.0 && Holds(memory.friction_torque, memory.friction_budget)) {
    PartlyHeld(c, share, command.enabled < memory.was_enabled, external, &drive);
  }
  return drive;
}

}  // namespace bam

#endif  // BAM_BENCH_SERVO_LAW_H_
