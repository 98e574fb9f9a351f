// SPDX-License-Identifier: Apache-2.0
// The law of a servo in MuJoCo: firmware, motor and the friction budget of BAM eq. 10. It includes no MuJoCo header and
// has no global state. Specification: Friction, DcMotor and PositionFirmware in bam_core/servo; tests compare them.
//
// The friction budget is the largest torque that friction can oppose to motion. MuJoCo's solver limits friction to it.
//
// Order in a step: BeginStep, LimitFriction, the solver of MuJoCo, EndStep.
#ifndef BAM_BENCH_SERVO_LAW_H_
#define BAM_BENCH_SERVO_LAW_H_

#include <algorithm>
#include <cmath>
#include <limits>

namespace bam {

constexpr double kCopperCoefficient = 3.93e-3;  // 1/K
constexpr double kWindingCoolingTime = 30.0;    // s
constexpr double kClockSlack = 1e-9;            // s; rounding of the simulation time
constexpr double kStopSlack = 1e-9;      // rounding of the speed at which a set-point may stop at its goal
constexpr double kNoDuty = std::numeric_limits<double>::quiet_NaN();
constexpr double kFirstStep = -1.0;  // was_enabled before the first step

// All structures hold only doubles. Each list below defines members, and the names that Python and the attributes of
// the plugin use for them.
#define BAM_MEMBER(name, initial) double name = initial;

// One servo, SI units; the names are those of servo files.
#define BAM_CONSTANTS(FIELD)                                                                                     \
  FIELD(torque_constant, 0.0)             /* k_t, N·m/A */                                                       \
  FIELD(resistance, 0.0)                  /* R, Ohm */                                                           \
  FIELD(demand_per_kp_rad, 0.0)           /* firmware: duty or A per unit of kp and rad */                       \
  FIELD(demand_per_root_kp_velocity, 0.0) /* firmware: A per root of kp and rad/s */                             \
  FIELD(demand_limit, 0.0)                /* firmware: largest duty, or current in A */                          \
  FIELD(period, 1e-3)                     /* time between two demands of the firmware, s */                      \
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
  FIELD(bridge_coasting, 0.0)             /* share of the time between duty pulses in which the motor coasts */  \
  FIELD(sensor_delay, 0.0)                /* s */                                                                \
  FIELD(encoder_count, 0.0)               /* resolution that the firmware works with, rad; 0: exact angles */    \
  FIELD(dead_band, 0.0)                   /* firmware: error without effect, rad */                              \
  FIELD(error_offset, 0.0)                /* firmware: added to a larger error, rad */                           \
  FIELD(goal_speed_limit, 0.0)            /* firmware: speed of its set-point, rad/s; 0: unlimited */            \
  FIELD(goal_acceleration_limit, 0.0)     /* firmware: acceleration of its set-point, rad/s²; 0: unlimited */    \
  FIELD(kd_scale, 0.0)                    /* firmware: effect of kd on the error's rate, s per kp */              \
  FIELD(ki_scale, 0.0)                    /* firmware: effect of ki on the error's integral, 1/s per kp */         \
  FIELD(overload_threshold, 1.0)          /* firmware: smallest demand that is overload, 0..1 of demand_limit */ \
  FIELD(overload_time, 0.0)               /* firmware: time of overload until protection begins, s; 0: never */  \
  FIELD(overload_limit, 1.0)              /* firmware: limit of protected demands, 0..1 of demand_limit */       \
  FIELD(resolution, 0.0)                  /* firmware: one encoder count, rad; half of it makes a goal new */    \
  FIELD(friction_direction, 0.0)          /* relative difference of friction by direction, -1..1 */              \
  FIELD(load_inertia, 0.0)                /* share of the load's inertial torque that loads the gear */          \
  FIELD(armature, 0.0)                    /* required armature of the joint, kg·m²; 0: not known */

struct Constants {
  BAM_CONSTANTS(BAM_MEMBER)
};

// What a user may change between steps.
#define BAM_COMMAND(FIELD)                                                                                       \
  FIELD(goal_position, 0.0)         /* rad */                                                                    \
  FIELD(torque_enabled, 0.0)        /* 0..1, share of the time until the next command with torque on */          \
  FIELD(goal_duty, kNoDuty)         /* duty or A; NaN: the firmware follows the goal position */                 \
  FIELD(kp, 0.0)                    /* position gain, firmware units */                                          \
  FIELD(kd, 0.0)                    /* derivative gain, firmware units */                                        \
  FIELD(ki, 0.0)                    /* integral gain, firmware units */                                          \
  FIELD(supply_voltage, 0.0)        /* V */                                                                      \
  FIELD(case_temperature_rise, 0.0) /* of the motor's case above the temperature at which R was measured, K */   \
  FIELD(encoder_zero, 0.0)          /* reading of the encoder at joint position 0, rad */

struct Command {
  BAM_COMMAND(BAM_MEMBER)
};

// State of a servo from step to step.
#define BAM_MEMORY(FIELD)                                                                                        \
  FIELD(held_demand, 0.0)         /* last demand of the firmware, duty or A */                                   \
  FIELD(was_enabled, kFirstStep)  /* torque enable in the previous step */                                       \
  FIELD(winding_warming, 0.0)     /* temperature rise of the winding, K */                                       \
  FIELD(set_point, 0.0)           /* of the firmware; it follows the goal, rad */                                \
  FIELD(set_point_speed, 0.0)     /* of the firmware, where its acceleration is limited, rad/s */                \
  FIELD(past_error, 0.0)          /* of the last demand, rad */                                                  \
  FIELD(is_past_known, 0.0)       /* 1: past_error is of the period before */                                    \
  FIELD(integral_demand, 0.0)     /* of the integral gain, duty or A */                                          \
  FIELD(overload, 0.0)            /* time for which demands have been overload, s */                             \
  FIELD(unprotected_goal, 0.0)    /* the last goal before protection began, rad */                               \
  FIELD(reversal_correction, 0.0) /* friction to leave out of the next steps, in budgets of a step */            \
  FIELD(inverse_inertia, 0.0)     /* of the joint, as MuJoCo estimates it, 1/(kg·m²) */                          \
  FIELD(friction_torque, 0.0)     /* of the previous step, N·m */                                                \
  FIELD(past_budget, 0.0)         /* friction budget of the previous step, N·m */                                \
  FIELD(other_torque, 0.0)        /* of the previous step, N·m; see EndStep */                                   \
  FIELD(inertial_torque, 0.0)     /* torque that accelerated the load in the previous step, N·m */               \
  FIELD(acceleration, 0.0)        /* of the previous step, rad/s² */

struct Memory {
  BAM_MEMORY(BAM_MEMBER)
};

// Outputs of a servo in a step.
#define BAM_DRIVE(FIELD)                                                                                         \
  FIELD(duty, 0.0)            /* -1..1 */                                                                        \
  FIELD(current, 0.0)         /* A */                                                                            \
  FIELD(motor_torque, 0.0)    /* tau_m, N·m */                                                                   \
  FIELD(external_torque, 0.0) /* tau_e, N·m */                                                                   \
  FIELD(friction_budget, 0.0) /* tau_f^m, N·m */                                                                 \
  FIELD(friction_limit, 0.0)  /* limit of friction for the solver in this step, N·m */                           \
  FIELD(start_velocity, 0.0)  /* of the joint before the step, rad/s */                                          \
  FIELD(applied_torque, 0.0)  /* of the user, N·m */

struct Drive {
  BAM_DRIVE(BAM_MEMBER)
};

// `next` becomes `memory` at the end of the step, because MuJoCo may compute forces without ending a step.
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

// Friction budget tau_f^m (BAM eq. 10), N·m. `motor` and `external` are torques, N·m; `velocity` in rad/s.
inline double FrictionBudget(const Constants& c, double case_temperature_rise, double motor, double external,
                     double velocity) {
  const double exponent = c.friction_temperature * case_temperature_rise;
  const double temperature_scale = exponent == 0.0 ? 1.0 : std::exp(-exponent);
  const double speed = std::abs(velocity);
  double quadratic = 0.0;
  if (c.quadratic_opposing == 0.0 || motor * external < 0.0) {
    if (std::abs(motor) > std::abs(external)) {
      quadratic = c.quadratic_external * external * external;
    } else if (std::abs(motor) < std::abs(external)) {
      quadratic = c.quadratic_motor * motor * motor;
    }
  }
  const double without_stribeck = temperature_scale * (c.viscous * speed + c.coulomb) +
                                  std::abs(c.load_motor * motor - c.load_external * external);
  const double stribeck = temperature_scale * c.stribeck_coulomb +
                          std::abs(c.load_motor_stribeck * motor - c.load_external_stribeck * external) + quadratic;
  return without_stribeck + std::exp(-std::pow(speed / c.stribeck_velocity, c.stribeck_exponent)) * stribeck;
}

// Factor of the friction budget for the direction of this velocity.
inline double DirectionScale(const Constants& c, double velocity) {
  if (velocity == 0.0) return 1.0;
  return velocity > 0.0 ? 1.0 + c.friction_direction : 1.0 - c.friction_direction;
}

// Share of the step with torque on, 0..1. The first half of the step belongs to the previous command.
inline double EnabledShare(const Command& u, const Memory& memory) {
  return memory.was_enabled == kFirstStep ? u.torque_enabled : 0.5 * (u.torque_enabled + memory.was_enabled);
}

// Position in the firmware, rad: rounded to counts of the encoder if it works in counts.
inline double MeasuredPosition(const Constants& c, double zero, double position) {
  if (c.encoder_count <= 0.0) return position;
  return c.encoder_count * std::nearbyint((position + zero) / c.encoder_count) - zero;
}

// Set-point of the firmware after `time`, rad; it follows the goal with limited speed.
inline double SlewedSetPoint(const Constants& c, double before, double goal, double time) {
  if (c.goal_speed_limit <= 0.0) return goal;
  const double most = c.goal_speed_limit * time;
  const double ahead = goal - before;
  return std::abs(ahead) > most ? before + std::copysign(most, ahead) : goal;
}

// Moves the set-point in `next` towards the goal for `time`, with limited speed and acceleration: at the largest speed
// from which it can still stop at the goal. Specification: `profiled` in bam_core/servo/firmware.py.
inline void MoveSetPoint(const Constants& c, double goal, double time, Memory* next) {
  if (c.goal_acceleration_limit <= 0.0) {
    next->set_point = SlewedSetPoint(c, next->set_point, goal, time);
    return;
  }
  const double ahead = goal - next->set_point;
  const double change = c.goal_acceleration_limit * time;
  const double half = 0.5 * change;
  const double way = 2.0 * c.goal_acceleration_limit * std::abs(ahead);
  double wanted = way / (half + std::sqrt(half * half + way));
  if (c.goal_speed_limit > 0.0) wanted = std::min(c.goal_speed_limit, wanted);
  next->set_point_speed += Clamp(std::copysign(wanted, ahead) - next->set_point_speed, -change, change);
  const double moved = next->set_point_speed * time;
  const bool may_stop = std::abs(next->set_point_speed) <= change * (1.0 + kStopSlack) && moved * ahead >= 0.0;
  if (may_stop && std::abs(moved) >= std::abs(ahead)) {
    next->set_point = goal;
    next->set_point_speed = 0.0;
  } else {
    next->set_point += moved;
  }
}

// Position error that the firmware multiplies by its gain, rad.
inline double PositionError(const Constants& c, double error) {
  return std::abs(error) <= c.dead_band ? 0.0 : error + std::copysign(c.error_offset, error);
}

// What the derivative gain adds to the demand, duty or A. The firmware takes the change of its error in one period; in
// the first period it has no earlier error, and takes the velocity. Updates its memory in `next`.
inline double DerivativeDemand(const Constants& c, const Command& u, double error, double velocity, double period,
                               Memory* next) {
  if (c.kd_scale <= 0.0 || u.kd == 0.0) return 0.0;
  const double rate = next->is_past_known != 0.0 ? (error - next->past_error) / period : -velocity;
  next->past_error = error;
  next->is_past_known = 1.0;
  return c.demand_per_kp_rad * c.kd_scale * u.kd * rate;
}

// What the integral gain adds to the demand, duty or A: the sum of errors outside of the dead band. It is limited to the
// largest demand; bam_core/servo/firmware.py gives the reason. Updates its memory in `next`.
inline double IntegralDemand(const Constants& c, const Command& u, double error, double period, Memory* next) {
  if (c.ki_scale <= 0.0 || u.ki == 0.0) return next->integral_demand = 0.0;
  const double counted = std::abs(error) <= c.dead_band ? 0.0 : error;
  const double sum = next->integral_demand + c.demand_per_kp_rad * c.ki_scale * u.ki * counted * period;
  return next->integral_demand = Clamp(sum, -c.demand_limit, c.demand_limit);
}

// Demand, limited by the protection from overload; updates its state in `next`. `period` is the time for which the
// demand holds, s.
inline double LimitByOverload(const Constants& c, double wanted, double goal, double period, Memory* next) {
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

// Mean demand of the firmware in a step (BAM eqs. 12, 14), duty or A. Updates the state of the firmware in `next`.
//
// The firmware computes a new demand once per period and holds it. A step reaches from dt/2 before `time` to dt/2
// after it. So a demand that changes at `time` counts for half of the step. If the period is shorter than the step,
// the old demand counts for half a period.
inline double Demand(const Constants& c, const Command& u, double time, double dt, double position, double velocity,
                     const Memory& memory, Memory* next) {
  const bool was_enabled = memory.was_enabled != 0.0;
  if (memory.was_enabled == kFirstStep) next->set_point = u.goal_position;  // it has reached the goal before
  next->was_enabled = u.torque_enabled;
  if (!(u.torque_enabled > 0.0)) {
    next->held_demand = next->overload = next->is_past_known = next->integral_demand = 0.0;
    return memory.held_demand;
  }
  const bool is_due =
      std::floor((time + kClockSlack) / c.period) != std::floor((time - dt + kClockSlack) / c.period);
  if (!is_due && was_enabled) return memory.held_demand;
  double renewed = Clamp(u.goal_duty, -c.demand_limit, c.demand_limit);
  if (std::isnan(u.goal_duty)) {
    const double period = std::max(c.period, dt);
    const double seen = MeasuredPosition(c, u.encoder_zero, position - c.sensor_delay * velocity);
    if (!was_enabled) {
      next->set_point = position;
      next->set_point_speed = 0.0;
    }
    MoveSetPoint(c, u.goal_position, period, next);
    const double error = next->set_point - seen;
    double wanted = c.demand_per_kp_rad * u.kp * PositionError(c, error) -
                    c.demand_per_root_kp_velocity * std::sqrt(std::abs(u.kp)) * velocity;
    wanted += DerivativeDemand(c, u, error, velocity, period, next) + IntegralDemand(c, u, error, period, next);
    renewed = LimitByOverload(c, Clamp(wanted, -c.demand_limit, c.demand_limit), u.goal_position, period, next);
  } else {
    next->set_point = position;
    next->set_point_speed = next->overload = next->is_past_known = next->integral_demand = 0.0;
  }
  next->held_demand = renewed;
  const double stale = was_enabled ? 0.5 * std::min(c.period / dt, 1.0) : 0.0;
  return renewed + stale * (memory.held_demand - renewed);
}

// Duty, current and torque of the motor for a demand during a share of the step (BAM eqs. 13, 15), with saturation.
// Updates the temperature of the winding in `next`.
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

// Motor torque and friction budget of a step. Writes `drive` and `next`.
//
// `position` (rad) and `velocity` (rad/s) are those of MuJoCo. That velocity belongs to the middle of the past step,
// and the position to its end. So the velocity is extrapolated to the time of the position, which makes the step
// second-order accurate.
//
// `push` is the external torque on the joint, N·m, without the part that is only known from the previous step
// (`other_torque`).
inline void BeginStep(const Constants& c, const Command& u, double time, double dt, double position, double velocity,
                      double push, State* state) {
  const Memory& memory = state->memory;
  Drive& drive = state->drive;
  state->next = memory;
  const double present_velocity = velocity + 0.5 * dt * memory.acceleration;
  const double demand = Demand(c, u, time, dt, position, present_velocity, memory, &state->next);
  DriveMotor(c, u, EnabledShare(u, memory), demand, present_velocity, dt, memory, &drive, &state->next);
  drive.external_torque = push + memory.other_torque;
  const double gear_load = drive.external_torque - c.load_inertia * memory.inertial_torque;
  const double velocity_without_friction =
      present_velocity + dt * memory.inverse_inertia * (drive.motor_torque + drive.external_torque);
  drive.friction_budget =
      FrictionBudget(c, u.case_temperature_rise, drive.motor_torque, gear_load, present_velocity) *
      DirectionScale(c, velocity_without_friction);
  drive.start_velocity = velocity;
}

// Whether friction was below its budget. Then it held the joint at rest.
inline bool IsHeldByFriction(double friction, double budget) { return std::abs(friction) < (1.0 - 1e-6) * budget; }

// Motor torque and limit of friction in a step that switches torque, if friction held the joint.
//
// Friction holds the joint until the switch in the middle of the step. After it, the new motor torque acts, and the
// joint gets the excess over the friction budget. The mean motor torque of the step could be below the budget. Then
// every fall would start half a step late.
inline void HoldUntilSwitch(const Constants& c, const Command& u, double share, bool is_released, Drive* drive) {
  const double external = drive->external_torque;
  const double renewed = is_released ? 0.0 : drive->motor_torque / share;
  const double rest = is_released ? 1.0 - share : share;
  const double push = renewed + external;
  const double available = FrictionBudget(c, u.case_temperature_rise, renewed, external, 0.0) * DirectionScale(c, push);
  const double left = rest * std::copysign(std::max(std::abs(push) - available, 0.0), push);
  const double friction = left - drive->motor_torque - external;
  if (friction * push < 0.0) {
    drive->friction_limit = std::abs(friction);
  } else {
    drive->motor_torque += friction;
    drive->friction_limit = 0.0;
  }
}

// Limit of friction for the solver, after BeginStep. Updates `drive` and `next`.
inline void LimitFriction(const Constants& c, const Command& u, State* state) {
  const Memory& memory = state->memory;
  Drive& drive = state->drive;
  const double correction = std::min(memory.reversal_correction, 1.0);
  state->next.reversal_correction -= correction;
  drive.friction_limit = (1.0 - correction) * drive.friction_budget;
  const double share = EnabledShare(u, memory);
  if (share > 0.0 && share < 1.0 && IsHeldByFriction(memory.friction_torque, memory.past_budget)) {
    HoldUntilSwitch(c, u, share, u.torque_enabled < memory.was_enabled, &drive);
  }
}

// Excess of friction in a step in which the direction of motion reverses, in budgets of a step.
//
// Where the joint turns, the solver applies friction against the new direction during the whole step. But until the
// reversal, friction opposed the old direction. Where some friction within the budget ends the step at rest, the solver
// applies that, though a push beyond the budget would have turned the joint round. Without a correction, every reversal
// would cost an error of first order in dt. The next steps leave out the excess. So friction never adds energy.
//
// With speed v before, push N against it, budget F and g = dt / inertia, the joint stops after the share
// s = v / (g (N + F)) of the step. Then it has the speed (1 - s) g (N - F) at its end.
inline double ReversalCorrection(double before, double velocity, double friction, double budget, double gain) {
  if (!IsHeldByFriction(friction, budget)) {
    const bool turns = before * velocity < 0.0 && friction * velocity < 0.0;
    return turns ? 2.0 * std::abs(before) / (std::abs(velocity - before) + 2.0 * gain * std::abs(friction)) : 0.0;
  }
  const double push = (before < 0.0 ? -friction : friction) + std::abs(before) / gain;
  if (push <= budget) return 0.0;
  const double share = std::abs(before) / (gain * (push + budget));
  return (1.0 - share) * (push - budget) / budget;
}

// Ends a step with the results of the solver: `next` is completed and becomes `memory`.
//
// `other` is the torque on the joint, N·m, from everything but gravity, passive forces, applied forces, the motor and
// the friction of this servo; for example from contacts.
inline void EndStep(const Constants& c, double dt, double velocity, double acceleration, double friction,
                    double other, State* state) {
  Memory& next = state->next;
  const Drive& drive = state->drive;
  next.friction_torque = friction;
  const double budget = drive.friction_budget, gain = dt * next.inverse_inertia;
  next.past_budget = budget;
  // Where a part of the budget was left out on purpose, the step before was the reversal.
  if (gain > 0.0 && !IsHeldByFriction(drive.friction_limit, budget)) {
    next.reversal_correction += ReversalCorrection(drive.start_velocity, velocity, friction, budget, gain);
  }
  next.acceleration = acceleration;
  // External torque with `other` of this step instead of the previous one.
  const double external = drive.external_torque - state->memory.other_torque + other;
  next.inertial_torque = drive.motor_torque + friction + external - c.armature * acceleration;
  next.other_torque = other;
  state->memory = next;
}

}  // namespace bam

#endif  // BAM_BENCH_SERVO_LAW_H_
