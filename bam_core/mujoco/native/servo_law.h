// SPDX-License-Identifier: Apache-2.0
// The law of a servo in MuJoCo: firmware, motor and the friction budget of BAM eq. 10. It needs no MuJoCo and has no
// state of its own. Specification: Friction, DcMotor and PositionFirmware in bam_core/servo; tests compare them.
#ifndef BAM_BENCH_SERVO_LAW_H_
#define BAM_BENCH_SERVO_LAW_H_

#include <algorithm>
#include <cmath>
#include <limits>

namespace bam {

constexpr double kCopperCoefficient = 3.93e-3;  // 1/K
constexpr double kWindingCoolingTime = 30.0;    // s
constexpr double kClockSlack = 1e-9;            // s; rounding of the simulation time
constexpr double kUnset = std::numeric_limits<double>::quiet_NaN();
constexpr double kFirstStep = -1.0;  // was_enabled before the first step

// All structures hold doubles alone, each listed once: of these lists members are made, and the names by which Python
// and the attributes of the plugin find them.
#define BAM_MEMBER(name, initial) double name = initial;

// One servo, SI units; the names are those of servo files.
#define BAM_CONSTANTS(FIELD)                                                                                     \
  FIELD(torque_constant, 0.0)             /* k_t, N·m/A */                                                       \
  FIELD(resistance, 0.0)                  /* R, Ohm */                                                           \
  FIELD(demand_per_kp_rad, 0.0)           /* firmware: duty or A per unit of kp and rad */                       \
  FIELD(demand_per_root_kp_velocity, 0.0) /* firmware: A per root of kp and rad/s */                             \
  FIELD(demand_limit, 0.0)                /* firmware: largest duty, or current in A */                          \
  FIELD(period, 1e-3)                     /* of the firmware, s */                                               \
  FIELD(regulates_current, 0.0)           /* 1: demands are currents; 0: duties */                               \
  FIELD(viscous, 0.0)                     /* K_v, N·m·s/rad */                                                   \
  FIELD(coulomb, 0.0)                     /* K_c, N·m */                                                         \
  FIELD(stribeck_coulomb, 0.0)            /* K_c^s, N·m */                                                       \
  FIELD(stribeck_velocity, 1.0)           /* v_s, rad/s */                                                       \
  FIELD(stribeck_exponent, 1.0)           /* alpha */                                                            \
  FIELD(load_motor, 0.0)                  /* K_m */                                                              \
  FIELD(load_external, 0.0)               /* K_e */                                                              \
  FIELD(load_motor_stribeck, 0.0)         /* K_m^s */                                                            \
  FIELD(load_external_stribeck, 0.0)      /* K_e^s */                                                            \
  FIELD(quadratic_motor, 0.0)             /* K_m^q, 1/(N·m) */                                                   \
  FIELD(quadratic_external, 0.0)          /* K_e^q, 1/(N·m) */                                                   \
  FIELD(quadratic_opposing, 0.0)          /* 1: the quadratic term only where motor and load torque oppose */    \
  FIELD(torque_saturation, 0.0)           /* 1/A */                                                              \
  FIELD(winding_heating, 0.0)             /* K/J */                                                              \
  FIELD(friction_temperature, 0.0)        /* 1/K */                                                              \
  FIELD(bridge_coasting, 0.0)             /* share of the time between duty pulses without a brake */            \
  FIELD(sensor_delay, 0.0)                /* s */                                                                \
  FIELD(encoder_count, 0.0)               /* rad, where the firmware sees whole counts; 0: it sees angles */     \
  FIELD(dead_band, 0.0)                   /* firmware: error without effect, rad */                              \
  FIELD(error_offset, 0.0)                /* firmware: added to a larger error, rad */                           \
  FIELD(goal_speed_limit, 0.0)            /* firmware: of its set-point, rad/s; 0: it jumps to the goal */          \
  FIELD(overload_threshold, 1.0)          /* firmware: demand that is overload, share of the largest */          \
  FIELD(overload_time, 0.0)               /* firmware: of overload, until it protects itself, s; 0: never */     \
  FIELD(overload_limit, 1.0)              /* firmware: of demands from then on, share of the largest */          \
  FIELD(resolution, 0.0)                  /* firmware: one encoder count, rad; by half of it, a goal differs */  \
  FIELD(friction_direction, 0.0)          /* by what share friction differs with the direction, -1..1 */         \
  FIELD(load_inertia, 0.0)                /* share of the torque that accelerates the load which loads the gear */ \
  FIELD(armature, 0.0)                    /* that the joint must have, kg·m²; 0: not known */

struct Constants {
  BAM_CONSTANTS(BAM_MEMBER)
};

// What a user may change between steps.
#define BAM_COMMAND(FIELD)                                                                                       \
  FIELD(goal_position, 0.0)         /* rad */                                                                    \
  FIELD(torque_enabled, 0.0)        /* 1 or 0, or for which share of the time until the next command */          \
  FIELD(goal_duty, kUnset)          /* duty or A; NaN: the firmware follows the goal position */                 \
  FIELD(kp, 0.0)                    /* position gain, firmware units */                                          \
  FIELD(supply_voltage, 0.0)        /* V */                                                                      \
  FIELD(case_temperature_rise, 0.0) /* of the motor's case above the temperature that R belongs to, K */         \
  FIELD(encoder_zero, 0.0)          /* what the encoder says where the joint is at zero, rad */

struct Command {
  BAM_COMMAND(BAM_MEMBER)
};

// What a servo keeps from step to step.
#define BAM_MEMORY(FIELD)                                                                                        \
  FIELD(held_demand, 0.0)         /* what the firmware asked for last, duty or A */                              \
  FIELD(was_enabled, kFirstStep)  /* torque enable in the previous step */                                       \
  FIELD(winding_warming, 0.0)     /* K */                                                                        \
  FIELD(set_point, 0.0)           /* that follows the goal, rad */                                               \
  FIELD(overload, 0.0)            /* time for which demands have been overload, s */                             \
  FIELD(unprotected_goal, 0.0)    /* the last goal before the servo was protected, rad */                        \
  FIELD(reversal_correction, 0.0) /* steps' worth of the budget that the next steps leave out */                 \
  FIELD(inverse_inertia, 0.0)     /* of the joint, as MuJoCo estimates it, 1/(kg·m²) */                          \
  FIELD(friction_torque, 0.0)     /* of the previous step, N·m, as the next three */                             \
  FIELD(past_budget, 0.0)         /* N·m */                                                                      \
  FIELD(other_torque, 0.0)        /* all but gravity, passive and applied forces, motor and own friction */      \
  FIELD(inertial_torque, 0.0)     /* what accelerated the load */                                                \
  FIELD(acceleration, 0.0)        /* rad/s² */

struct Memory {
  BAM_MEMORY(BAM_MEMBER)
};

// What a servo does in a step.
#define BAM_DRIVE(FIELD)                                                                                         \
  FIELD(duty, 0.0)            /* -1..1 */                                                                        \
  FIELD(current, 0.0)         /* A */                                                                            \
  FIELD(motor_torque, 0.0)    /* tau_m, N·m */                                                                   \
  FIELD(external_torque, 0.0) /* tau_e, N·m */                                                                   \
  FIELD(friction_budget, 0.0) /* tau_f^m, N·m */                                                                 \
  FIELD(friction_limit, 0.0)  /* what friction may do in this step, N·m */                                       \
  FIELD(start_velocity, 0.0)  /* of the joint before the step, rad/s */                                          \
  FIELD(applied_torque, 0.0)  /* the user's own, N·m */

struct Drive {
  BAM_DRIVE(BAM_MEMBER)
};

// `next` becomes `memory` with the end of the step: MuJoCo may compute forces without ending a step.
struct State {
  Memory memory;
  Drive drive;
  Memory next;
};

inline State InitialState(const Constants& c, double case_temperature_rise) {
  State state;
  if (c.winding_heating > 0.0) state.memory.winding_warming = case_temperature_rise;
  return state;
}

// A NaN value stays NaN.
inline double Clamp(double value, double low, double high) { return std::min(std::max(value, low), high); }

// tau_f^m (BAM eq. 10), N·m.
inline double Budget(const Constants& c, double case_temperature_rise, double motor, double external,
                     double velocity) {
  const double warmer = c.friction_temperature * case_temperature_rise;
  const double temperature_scale = warmer == 0.0 ? 1.0 : std::exp(-warmer);
  const double speed = std::abs(velocity);
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
                         std::abs(c.load_motor_stribeck * motor - c.load_external_stribeck * external) + quadratic;
  return always + std::exp(-std::pow(speed / c.stribeck_velocity, c.stribeck_exponent)) * at_rest;
}

// By what the budget scales in a servo that is about to turn with this velocity.
inline double DirectionScale(const Constants& c, double velocity) {
  if (velocity == 0.0) return 1.0;
  return velocity > 0.0 ? 1.0 + c.friction_direction : 1.0 - c.friction_direction;
}

// For which share of the step torque is on: its first half belongs to the previous command.
inline double EnabledShare(const Command& u, const Memory& memory) {
  return memory.was_enabled == kFirstStep ? u.torque_enabled : 0.5 * (u.torque_enabled + memory.was_enabled);
}

// A position as the firmware sees it, in whole counts of its encoder where it does.
inline double Seen(const Constants& c, double zero, double position) {
  if (c.encoder_count <= 0.0) return position;
  return c.encoder_count * std::nearbyint((position + zero) / c.encoder_count) - zero;
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

// A demand as protection from overload limits it. `period` is the time for which the demand holds.
inline double Protected(const Constants& c, double wanted, double goal, double period, Memory* next) {
  if (c.overload_time <= 0.0) return wanted;
  const double trip = c.overload_time - kClockSlack;
  if (next->overload >= trip && std::abs(goal - next->unprotected_goal) > 0.5 * c.resolution) next->overload = 0.0;
  if (next->overload >= trip) {
    const double allowed = c.overload_limit * c.demand_limit;
    return Clamp(wanted, -allowed, allowed);
  }
  next->unprotected_goal = goal;
  const bool is_over = std::abs(wanted) >= c.overload_threshold * c.demand_limit;
  next->overload = is_over ? next->overload + period : 0.0;
  return wanted;
}

// What the firmware asks for on the mean of a step (BAM eqs. 12, 14), duty or A; it renews its demand if it is due.
// A step stands for the time from half a step before `time` to half a step after it, so what changes at `time`
// counts for half of it. The firmware holds its demand for its period, even where that is shorter than a step.
inline double Demand(const Constants& c, const Command& u, double time, double dt, double position, double velocity,
                     const Memory& memory, Memory* next) {
  const bool was_enabled = memory.was_enabled != 0.0;
  if (memory.was_enabled == kFirstStep) next->set_point = u.goal_position;  // the servo had time to get there
  next->was_enabled = u.torque_enabled;
  if (!(u.torque_enabled > 0.0)) {
    next->held_demand = next->overload = 0.0;
    return memory.held_demand;
  }
  const bool is_due =
      std::floor((time + kClockSlack) / c.period) != std::floor((time - dt + kClockSlack) / c.period);
  if (!is_due && was_enabled) return memory.held_demand;
  double renewed = Clamp(u.goal_duty, -c.demand_limit, c.demand_limit);
  if (std::isnan(u.goal_duty)) {
    const double period = std::max(c.period, dt);
    const double seen = Seen(c, u.encoder_zero, position - c.sensor_delay * velocity);
    next->set_point = SetPoint(c, was_enabled ? next->set_point : position, u.goal_position, period);
    const double wanted = c.demand_per_kp_rad * u.kp * ShapedError(c, next->set_point - seen) -
                          c.demand_per_root_kp_velocity * std::sqrt(std::abs(u.kp)) * velocity;
    renewed = Protected(c, Clamp(wanted, -c.demand_limit, c.demand_limit), u.goal_position, period, next);
  } else {
    next->set_point = position;
    next->overload = 0.0;
  }
  next->held_demand = renewed;
  const double stale = was_enabled ? 0.5 * std::min(c.period / dt, 1.0) : 0.0;
  return renewed + stale * (memory.held_demand - renewed);
}

// The motor answers a demand for a share of the step (BAM eqs. 13, 15), saturates and warms.
inline void DriveMotor(const Constants& c, const Command& u, double share, double demand, double velocity, double dt,
                       const Memory& memory, Drive* drive, Memory* next) {
  const double warming = memory.winding_warming;
  const double warm = 1.0 + kCopperCoefficient * warming;
  const double resistance = c.resistance * warm;
  const double back_emf = c.torque_constant * velocity;
  drive->duty = c.regulates_current == 0.0 ? next->held_demand : 0.0;
  double linear = 0.0;  // k_t·I
  if (share != 0.0 && c.regulates_current != 0.0) {
    const double limited =
        Clamp(demand, (-u.supply_voltage - back_emf) / resistance, (u.supply_voltage - back_emf) / resistance);
    if (u.torque_enabled != 0.0 && !(u.supply_voltage <= 0.0)) {
      drive->duty = (resistance * limited + back_emf) / u.supply_voltage;
    }
    linear = share * c.torque_constant * limited;
  } else if (share != 0.0) {
    const double closed = 1.0 - c.bridge_coasting * (1.0 - std::abs(demand));
    linear = share * (c.torque_constant / c.resistance) * (demand * u.supply_voltage - closed * back_emf) / warm;
  }
  drive->current = linear / c.torque_constant;
  const double heating = c.winding_heating * resistance * drive->current * drive->current;
  const double case_temperature_rise = c.winding_heating > 0.0 ? u.case_temperature_rise : 0.0;
  next->winding_warming = warming + dt * (heating - (warming - case_temperature_rise) / kWindingCoolingTime);
  drive->motor_torque = linear / (1.0 + c.torque_saturation * std::abs(drive->current));
}

// Motor torque and friction budget of a step.
//
// `position`, `velocity` and `push` are those of MuJoCo: what it calls velocity belongs to the middle of the past
// step, its position to the end. What depends on the velocity is taken at the position's time, so that the whole
// step is second-order accurate. `push` is what acts on the joint without its servo and without what is known only
// from the step before, N·m.
inline void BeginStep(const Constants& c, const Command& u, double time, double dt, double position, double velocity,
                      double push, State* state) {
  const Memory& memory = state->memory;
  Drive& drive = state->drive;
  state->next = memory;
  const double now = velocity + 0.5 * dt * memory.acceleration;
  const double demand = Demand(c, u, time, dt, position, now, memory, &state->next);
  DriveMotor(c, u, EnabledShare(u, memory), demand, now, dt, memory, &drive, &state->next);
  drive.external_torque = push + memory.other_torque;
  const double pressing = drive.external_torque - c.load_inertia * memory.inertial_torque;
  const double pushed = now + dt * memory.inverse_inertia * (drive.motor_torque + drive.external_torque);
  drive.friction_budget =
      Budget(c, u.case_temperature_rise, drive.motor_torque, pressing, now) * DirectionScale(c, pushed);
  drive.start_velocity = velocity;
}

// Whether friction had more to give.
inline bool Holds(double friction, double budget) { return std::abs(friction) < (1.0 - 1e-6) * budget; }

// Motor torque and limit of friction where torque is switched on a joint that friction held. Friction holds it
// until the switch. For the rest of the step it gets what the new torque leaves, and not what the mean torque
// would: that might not even let it go, which would start every fall half a step late.
inline void HoldUntilSwitch(const Constants& c, const Command& u, double share, bool is_released, Drive* drive) {
  const double external = drive->external_torque;
  const double renewed = is_released ? 0.0 : drive->motor_torque / share;
  const double rest = is_released ? 1.0 - share : share;
  const double push = renewed + external;
  const double available = Budget(c, u.case_temperature_rise, renewed, external, 0.0) * DirectionScale(c, push);
  const double left = rest * std::copysign(std::max(std::abs(push) - available, 0.0), push);
  const double friction = left - drive->motor_torque - external;
  if (friction * push < 0.0) {
    drive->friction_limit = std::abs(friction);
  } else {
    drive->motor_torque += friction;
    drive->friction_limit = 0.0;
  }
}

// What friction may do in a step that has begun, for a solver that limits it.
inline void LimitFriction(const Constants& c, const Command& u, State* state) {
  const Memory& memory = state->memory;
  Drive& drive = state->drive;
  const double correction = std::min(memory.reversal_correction, 1.0);
  state->next.reversal_correction -= correction;
  drive.friction_limit = (1.0 - correction) * drive.friction_budget;
  const double share = EnabledShare(u, memory);
  if (share > 0.0 && share < 1.0 && Holds(memory.friction_torque, memory.past_budget)) {
    HoldUntilSwitch(c, u, share, u.torque_enabled < memory.was_enabled, &drive);
  }
}

// How much friction a step overdid that ends with another direction of motion, in steps' worth.
//
// The solver lets friction oppose the new direction throughout the step, but until the joint turned it opposed the
// old one. Without the difference, every turn would cost an error of first order in the step. The next steps leave
// it out: so friction still never drives.
inline double ReversalCorrection(const Memory& next, double before, double velocity, double dt) {
  const double friction = next.friction_torque;
  const bool turns = before * velocity < 0.0 && friction * velocity < 0.0;
  if (!turns || Holds(friction, next.past_budget)) return 0.0;
  const double without_turn = std::abs(velocity - before) + 2.0 * dt * next.inverse_inertia * std::abs(friction);
  return 2.0 * std::abs(before) / without_turn;
}

// What the solver has made of a step. `other` is the torque of all but gravity, passive and applied forces, motor
// and own friction, N·m.
inline void EndStep(const Constants& c, double dt, double velocity, double acceleration, double friction,
                    double other, State* state) {
  Memory& next = state->next;
  const Drive& drive = state->drive;
  next.friction_torque = friction;
  next.past_budget = drive.friction_budget;
  next.reversal_correction += ReversalCorrection(next, drive.start_velocity, velocity, dt);
  next.acceleration = acceleration;
  // The external torque with the `other` of this step in place of the one before.
  const double external = drive.external_torque - state->memory.other_torque + other;
  next.inertial_torque = drive.motor_torque + friction + external - c.armature * acceleration;
  next.other_torque = other;
  state->memory = next;
}

}  // namespace bam

#endif  // BAM_BENCH_SERVO_LAW_H_
