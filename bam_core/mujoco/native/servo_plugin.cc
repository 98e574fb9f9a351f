// SPDX-License-Identifier: Apache-2.0
// MuJoCo engine plugin `bam_bench.servo`: servos with extended friction inside mj_step.
//
//   <actuator>
//     <plugin joint="shoulder" plugin="bam_bench.servo">
//       <config key="servo" value="mx106"/>
//       <config key="kp" value="32"/>
//     </plugin>
//   </actuator>
//
// ctrl is the goal position. A second actuator on the same joint with the same `instance` makes its ctrl the
// torque enable, 0 to 1; its own force is zero. A ctrl that is no number is torque off. The joint needs the
// servo's armature and a frictionloss above zero, which the law then sets in every step. All that changes lies
// in plugin_state, so that copies, rollouts and batches of simulations are what a loop over mj_step would be.
#include <mujoco/mujoco.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "servo_law.h"

namespace bam {
namespace {

constexpr char kName[] = "bam_bench.servo";
// Friction rows are springy, and even at their stiffest setting a held joint creeps. This is their compliance
// relative to the joint's own inverse inertia; see bam_core/mujoco/_law.py.
constexpr double kCompliance = 1e-7;

struct Attribute {
  const char* name;
  double Constants::*field;
};

constexpr Attribute kAttributes[] = {
    {"torque_constant", &Constants::torque_constant},
    {"resistance", &Constants::resistance},
    {"demand_per_kp_rad", &Constants::demand_per_kp_rad},
    {"demand_per_root_kp_velocity", &Constants::demand_per_root_kp_velocity},
    {"demand_limit", &Constants::demand_limit},
    {"period", &Constants::period},
    {"regulates_current", &Constants::regulates_current},
    {"viscous", &Constants::viscous},
    {"coulomb", &Constants::coulomb},
    {"stribeck_coulomb", &Constants::stribeck_coulomb},
    {"stribeck_velocity", &Constants::stribeck_velocity},
    {"stribeck_exponent", &Constants::stribeck_exponent},
    {"load_motor", &Constants::load_motor},
    {"load_external", &Constants::load_external},
    {"load_motor_stribeck", &Constants::load_motor_stribeck},
    {"load_external_stribeck", &Constants::load_external_stribeck},
    {"quadratic_motor", &Constants::quadratic_motor},
    {"quadratic_external", &Constants::quadratic_external},
    {"quadratic_opposing", &Constants::quadratic_opposing},
    {"torque_saturation", &Constants::torque_saturation},
    {"winding_heating", &Constants::winding_heating},
    {"kp", &Constants::kp},
    {"supply_voltage", &Constants::supply_voltage},
    {"case_temperature_rise", &Constants::case_temperature_rise},
    {"friction_temperature", &Constants::friction_temperature},
    {"bridge_coasting", &Constants::bridge_coasting},
    {"sensor_delay", &Constants::sensor_delay},
    {"encoder_count", &Constants::encoder_count},
    {"encoder_zero", &Constants::encoder_zero},
    {"dead_band", &Constants::dead_band},
    {"error_offset", &Constants::error_offset},
    {"goal_speed_limit", &Constants::goal_speed_limit},
    {"overload_threshold", &Constants::overload_threshold},
    {"overload_time", &Constants::overload_time},
    {"overload_limit", &Constants::overload_limit},
    {"resolution", &Constants::resolution},
    {"friction_direction", &Constants::friction_direction},
    {"load_inertia", &Constants::load_inertia},
    {"armature", &Constants::armature},
};
constexpr int kAttributeCount = sizeof(kAttributes) / sizeof(kAttributes[0]);

struct LibraryServo {
  const char* name;
  Constants constants;  // kp is zero: the user's choice
};

#include "servo_library.inc"  // kLibrary, made from the servo files when this is built

// Places in an instance's plugin_state. Those called Next are what a step will leave behind: kept apart, because
// mj_forward computes forces without ending a step.
enum State {
  kHeldDemand,
  kWasEnabled,
  kWindingWarming,
  kAcceleration,
  kOtherTorque,
  kFrictionTorque,
  kDuty,
  kCurrent,
  kMotorTorque,
  kExternalTorque,
  kFrictionBudget,
  kPastBudget,
  kReversalCorrection,
  kSetPoint,
  kOverload,
  kTold,
  kNextHeldDemand,
  kNextWasEnabled,
  kNextWindingWarming,
  kNextReversalCorrection,
  kNextSetPoint,
  kNextOverload,
  kNextTold,
  kVelocityBefore,
  kInverseInertia,
  kInertialTorque,
  kStateSize
};

struct Servo {
  Constants constants;
  int dof = 0;
  int position_address = 0;
  int actuator = -1;
  int control = 0;          // of the goal
  int enable_control = -1;  // -1: torque is always on
  int force = 0;            // of the goal's actuator
  int enable_force = -1;
  int friction_rank = 0;  // of the joint's friction row among those of all joints
};

Servo* ServoOf(const mjData* d, int instance) { return reinterpret_cast<Servo*>(d->plugin_data[instance]); }

mjtNum* StateOf(const mjModel* m, mjData* d, int instance) {
  return d->plugin_state + m->plugin_stateadr[instance];
}

const char* JointName(const mjModel* m, int joint) {
  const char* name = mj_id2name(m, mjOBJ_JOINT, joint);
  return name ? name : "(without a name)";
}

// Messages are one line: the thing, what is wrong, the cure.
template <typename... Values>
int Refuse(const char* format, Values... values) {
  char text[512];
  std::snprintf(text, sizeof(text), format, values...);
  mju_error("%s: %s", kName, text);
  return -1;
}

bool ParseNumber(const char* text, double* value) {
  char* end = nullptr;
  errno = 0;
  *value = std::strtod(text, &end);
  while (end && *end == ' ') ++end;
  return end != text && *end == '\0' && errno == 0 && std::isfinite(*value);
}

// Constants from the library's servo, then what the user states.
bool ReadConstants(const mjModel* m, int instance, Constants* constants) {
  const char* servo = mj_getPluginConfig(m, instance, "servo");
  const bool is_named = servo && *servo;
  if (is_named) {
    const LibraryServo* found = nullptr;
    for (const LibraryServo& each : kLibrary) {
      if (std::strcmp(each.name, servo) == 0) found = &each;
    }
    if (!found) {
      Refuse("servo '%s' is not in the library (see `bam servos`); name one, or state its constants, as "
             "equip_native() of bam_core.mujoco.native does for a servo file", servo);
      return false;
    }
    *constants = found->constants;
  }
  for (const Attribute& attribute : kAttributes) {
    const char* text = mj_getPluginConfig(m, instance, attribute.name);
    if (!text || !*text) continue;
    if (!ParseNumber(text, &(constants->*attribute.field))) {
      Refuse("config %s is '%s' (expected a finite number); correct it", attribute.name, text);
      return false;
    }
  }
  const Attribute* required[] = {&kAttributes[0], &kAttributes[1], &kAttributes[2], &kAttributes[4], &kAttributes[5]};
  for (const Attribute* attribute : required) {
    if (!(constants->*(attribute->field) > 0.0)) {
      Refuse("config %s is missing or not above 0; state it, or name a servo of the library", attribute->name);
      return false;
    }
  }
  for (const Attribute& attribute : kAttributes) {
    if (constants->*attribute.field < 0.0 && attribute.field != &Constants::case_temperature_rise &&
        attribute.field != &Constants::sensor_delay && attribute.field != &Constants::friction_temperature &&
        attribute.field != &Constants::encoder_zero && attribute.field != &Constants::friction_direction) {
      Refuse("config %s is %g (expected zero or more); correct it", attribute.name, constants->*attribute.field);
      return false;
    }
  }
  if (constants->overload_threshold > 1.0 || constants->overload_limit > 1.0) {
    Refuse("config overload_threshold and overload_limit must be shares, 0 to 1; correct them%s", "");
    return false;
  }
  if (!(constants->kp > 0.0)) {
    Refuse("config kp is missing or not above 0 (the position gain in the firmware's units); state it%s", "");
    return false;
  }
  if (!(constants->supply_voltage > 0.0)) {
    Refuse("config supply_voltage is missing or not above 0; state it in V%s", "");
    return false;
  }
  if (!(constants->stribeck_velocity > 0.0) || !(constants->stribeck_exponent > 0.0)) {
    Refuse("config stribeck_velocity and stribeck_exponent must be above 0; correct them%s", "");
    return false;
  }
  return true;
}

// Find the joint and check that the law can act on it.
bool Attach(const mjModel* m, int instance, Servo* servo) {
  int count = 0;
  int enable = -1;
  for (int i = 0; i < m->nactuator; ++i) {
    if (m->actuator_plugin[i] != instance) continue;
    (count++ ? enable : servo->actuator) = i;
  }
  if (count < 1 || count > 2) {
    Refuse("an instance has %d actuators (expected one for the goal, and one for torque enable at most); "
           "give every servo its own instance", count);
    return false;
  }
  const int joint = m->actuator_trnid[2 * servo->actuator];
  const int type = m->actuator_trntype[servo->actuator];
  if (type != mjTRN_JOINT || (m->jnt_type[joint] != mjJNT_HINGE && m->jnt_type[joint] != mjJNT_SLIDE)) {
    Refuse("actuator %d does not act on a hinge or slide joint (expected one); give it joint=\"...\"", servo->actuator);
    return false;
  }
  if (count == 2 && (m->actuator_trntype[enable] != mjTRN_JOINT || m->actuator_trnid[2 * enable] != joint)) {
    Refuse("joint '%s': the second actuator of the instance acts on another joint (expected the same)",
           JointName(m, joint));
    return false;
  }
  servo->dof = m->jnt_dofadr[joint];
  servo->position_address = m->jnt_qposadr[joint];
  servo->control = m->actuator_ctrladr[servo->actuator];
  servo->force = m->actuator_outadr[servo->actuator];
  if (count == 2) {
    servo->enable_control = m->actuator_ctrladr[enable];
    servo->enable_force = m->actuator_outadr[enable];
  }
  for (int i = 0; i < m->nactuator; ++i) {
    const int other = m->actuator_plugin[i];
    if (other < 0 || other == instance || m->plugin[other] != m->plugin[instance]) continue;
    if (m->actuator_trntype[i] == mjTRN_JOINT && m->actuator_trnid[2 * i] == joint) {
      Refuse("joint '%s': two servos drive it, actuators %d and %d (expected one); remove one, or give both the same "
             "instance if one is torque enable", JointName(m, joint), std::min(i, servo->actuator),
             std::max(i, servo->actuator));
      return false;
    }
  }
  if (m->actuator_gear[6 * servo->force] != 1.0) {
    Refuse("joint '%s': gear is %g (expected 1: constants include the gearbox); remove it", JointName(m, joint),
           m->actuator_gear[6 * servo->force]);
    return false;
  }
  for (int dof = 0; dof < servo->dof; ++dof) servo->friction_rank += m->dof_frictionloss[dof] > 0.0;
  if (!(m->dof_frictionloss[servo->dof] > 0.0)) {
    Refuse("joint '%s': frictionloss is 0, so the solver has no friction row for it; set any value above 0",
           JointName(m, joint));
    return false;
  }
  if (servo->constants.armature > 0.0 && m->dof_armature[servo->dof] == 0.0) {
    Refuse("joint '%s': armature is 0, so the inertia of the servo's motor is missing; set armature=\"%g\"",
           JointName(m, joint), servo->constants.armature);
    return false;
  }
  if (m->opt.solver != mjSOL_NEWTON) {
    Refuse("option solver: friction that holds still needs Newton; set solver=\"Newton\"%s", "");
    return false;
  }
  if (m->opt.integrator == mjINT_RK4) {
    Refuse("option integrator: RK4 evaluates a step more than once; set integrator=\"Euler\"%s", "");
    return false;
  }
  if (m->opt.disableflags & mjDSBL_FRICTIONLOSS) {
    Refuse("option flag frictionloss: is disabled; set it to \"enable\"%s", "");
    return false;
  }
  const Constants& c = servo->constants;
  const double longest = c.resistance / (c.torque_constant * c.torque_constant * m->dof_invweight0[servo->dof]);
  if (m->opt.timestep >= longest) {
    Refuse("joint '%s': the time step of %g s is unstable with its back-EMF and inertia (expected < %.2g s); "
           "shorten it", JointName(m, joint), m->opt.timestep, longest);
    return false;
  }
  return true;
}

int Init(const mjModel* m, mjData* d, int instance) {
  Servo servo;
  if (!ReadConstants(m, instance, &servo.constants) || !Attach(m, instance, &servo)) return -1;
  d->plugin_data[instance] = reinterpret_cast<uintptr_t>(new Servo(servo));
  return 0;
}

void Destroy(mjData* d, int instance) {
  delete ServoOf(d, instance);
  d->plugin_data[instance] = 0;
}

void Copy(mjData* target, const mjModel*, const mjData* source, int instance) {
  if (ServoOf(target, instance) && ServoOf(source, instance)) *ServoOf(target, instance) = *ServoOf(source, instance);
}

void Reset(const mjModel*, mjtNum* state, void* data, int) {
  std::memset(state, 0, kStateSize * sizeof(mjtNum));
  state[kWasEnabled] = state[kNextWasEnabled] = -1.0;
  const Servo* servo = static_cast<const Servo*>(data);
  if (servo && servo->constants.winding_heating > 0.0) state[kWindingWarming] = servo->constants.case_temperature_rise;
}

// The friction row of a joint, or -1.
int RowOf(const mjData* d, const Servo& servo) {
  const int guess = d->ne + servo.friction_rank;
  if (servo.friction_rank < d->nf && d->efc_type[guess] == mjCNSTR_FRICTION_DOF && d->efc_id[guess] == servo.dof) {
    return guess;
  }
  for (int row = d->ne; row < d->ne + d->nf; ++row) {
    if (d->efc_type[row] == mjCNSTR_FRICTION_DOF && d->efc_id[row] == servo.dof) return row;
  }
  return -1;
}

// Between the constraints' construction and the solver: motor torque, and this step's budget in the row.
void Compute(const mjModel* m, mjData* d, int instance, int) {
  const Servo& servo = *ServoOf(d, instance);
  const Constants& c = servo.constants;
  mjtNum* state = StateOf(m, d, instance);
  const int dof = servo.dof;
  const double dt = m->opt.timestep;
  if (servo.enable_force >= 0) d->actuator_force[servo.enable_force] = 0.0;

  Command command;
  command.goal_position = d->ctrl[servo.control];
  if (m->actuator_ctrllimited[servo.control]) {
    const mjtNum* range = m->actuator_ctrlrange + 2 * servo.control;
    command.goal_position = std::clamp(command.goal_position, range[0], range[1]);
  }
  command.enabled = servo.enable_control < 0 ? 1.0 : std::clamp(d->ctrl[servo.enable_control], 0.0, 1.0);
  // MuJoCo warns of controls that are no numbers, but lets plugins have them. Torque is off then: as a torque they
  // would make MuJoCo start over.
  if (!std::isfinite(command.goal_position) || !std::isfinite(command.enabled)) command = {0.0, 0.0};

  // MuJoCo's velocity belongs to the middle of the past step, its position to the end. What depends on the
  // velocity is taken at the position's time, so that the whole step is second-order accurate.
  const double v = d->qvel[dof];
  const double velocity = v + 0.5 * dt * state[kAcceleration];
  const Memory memory{state[kHeldDemand],     state[kWasEnabled], state[kWindingWarming],
                      state[kFrictionTorque], state[kPastBudget], state[kReversalCorrection], state[kSetPoint],
                      state[kOverload],       state[kTold],
                      state[kInertialTorque], state[kInverseInertia]};
  const double external =
      d->qfrc_passive[dof] - d->qfrc_bias[dof] + d->qfrc_applied[dof] + state[kOtherTorque];
  const Drive drive =
      Step(c, command, memory, d->time, dt, d->qpos[servo.position_address], velocity, external);

  state[kDuty] = drive.duty;
  state[kCurrent] = drive.current;
  state[kMotorTorque] = drive.motor_torque;
  state[kExternalTorque] = external;
  state[kFrictionBudget] = drive.friction_budget;
  state[kNextHeldDemand] = drive.next.held_demand;
  state[kNextWasEnabled] = drive.next.was_enabled;
  state[kNextWindingWarming] = drive.next.winding_warming;
  state[kNextReversalCorrection] = drive.next.reversal_correction;
  state[kNextSetPoint] = drive.next.set_point;
  state[kNextOverload] = drive.next.overload;
  state[kNextTold] = drive.next.told;
  state[kVelocityBefore] = v;
  d->actuator_force[servo.force] = drive.motor_torque;

  const int row = RowOf(d, servo);
  if (row < 0 || !std::isfinite(drive.motor_torque + drive.friction_budget)) return;  // asleep; or diverged, which MuJoCo is about to see
  state[kInverseInertia] = d->efc_diagA[row];
  const double compliance = kCompliance * d->efc_diagA[row];
  // To rest within this step (eq. 4); the second term is how far the row gives way under the last force.
  const double stop = -v / dt + compliance * state[kFrictionTorque];
  d->efc_frictionloss[row] = drive.friction_limit;
  d->efc_R[row] = compliance;
  d->efc_D[row] = 1.0 / compliance;
  d->efc_aref[row] = stop;
  if (d->nisland > 0) {
    const int copy = d->map_efc2iefc[row];
    d->iefc_frictionloss[copy] = drive.friction_limit;
    d->iefc_R[copy] = compliance;
    d->iefc_D[copy] = 1.0 / compliance;
    d->iefc_aref[copy] = stop;
  }
}

// Behind the solver: keep what the next step needs.
void Advance(const mjModel* m, mjData* d, int instance) {
  const Servo& servo = *ServoOf(d, instance);
  mjtNum* state = StateOf(m, d, instance);
  const int dof = servo.dof;
  const int row = RowOf(d, servo);
  state[kHeldDemand] = state[kNextHeldDemand];
  state[kWasEnabled] = state[kNextWasEnabled];
  state[kWindingWarming] = state[kNextWindingWarming];
  state[kSetPoint] = state[kNextSetPoint];
  state[kOverload] = state[kNextOverload];
  state[kTold] = state[kNextTold];
  state[kFrictionTorque] = row >= 0 ? d->efc_force[row] : 0.0;
  state[kPastBudget] = state[kFrictionBudget];
  state[kReversalCorrection] = state[kNextReversalCorrection] + ReversalCorrection(state[kFrictionTorque], state[kPastBudget], state[kVelocityBefore],
                                                 d->qvel[dof], m->opt.timestep, state[kInverseInertia]);
  state[kAcceleration] = d->qacc[dof];
  const double other_smooth = d->qfrc_smooth[dof] - d->qfrc_passive[dof] + d->qfrc_bias[dof] -
                              d->qfrc_applied[dof] - d->actuator_force[servo.force];
  const double other = other_smooth + d->qfrc_constraint[dof] - state[kFrictionTorque];
  const double external = state[kExternalTorque] - state[kOtherTorque] + other;
  state[kInertialTorque] = state[kMotorTorque] + state[kFrictionTorque] + external -
                           servo.constants.armature * d->qacc[dof];
  state[kOtherTorque] = other;
}

int StateSize(const mjModel*, int) { return kStateSize; }

}  // namespace

mjPLUGIN_LIB_INIT(bam_bench_servo) {
  static const char* attributes[kAttributeCount + 1];
  attributes[0] = "servo";
  for (int i = 0; i < kAttributeCount; ++i) attributes[i + 1] = kAttributes[i].name;
  mjpPlugin plugin;
  mjp_defaultPlugin(&plugin);
  plugin.name = kName;
  plugin.nattribute = kAttributeCount + 1;
  plugin.attributes = attributes;
  plugin.capabilityflags = mjPLUGIN_ACTUATOR;
  plugin.nstate = StateSize;
  plugin.init = Init;
  plugin.destroy = Destroy;
  plugin.copy = Copy;
  plugin.reset = Reset;
  plugin.compute = Compute;
  plugin.advance = Advance;
  mjp_registerPlugin(&plugin);
}

}  // namespace bam
