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

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "servo_joint.h"

namespace bam {
namespace {

constexpr char kName[] = "bam_bench.servo";

// What a servo is configured with: its constants, and those commands that controls do not bring.
struct Configuration : Constants, Command {};

struct Attribute {
  const char* name;
  double Configuration::*field;
};

#define BAM_ATTRIBUTE(name, initial) {#name, &Configuration::name},
constexpr Attribute kAttributes[] = {
    BAM_CONSTANTS(BAM_ATTRIBUTE){"kp", &Configuration::kp},
    {"kd", &Configuration::kd},
    {"ki", &Configuration::ki},
    {"supply_voltage", &Configuration::supply_voltage},
    {"case_temperature_rise", &Configuration::case_temperature_rise},
    {"encoder_zero", &Configuration::encoder_zero},
};
constexpr int kAttributeCount = sizeof(kAttributes) / sizeof(kAttributes[0]);

// Attributes that must be above zero, and those that may be below it.
constexpr double Configuration::*kPositive[] = {&Configuration::torque_constant, &Configuration::resistance,
                                                &Configuration::demand_per_kp_rad, &Configuration::demand_limit,
                                                &Configuration::period};
constexpr double Configuration::*kSigned[] = {&Configuration::case_temperature_rise, &Configuration::sensor_delay,
                                              &Configuration::friction_temperature, &Configuration::encoder_zero,
                                              &Configuration::friction_direction};

template <size_t n>
bool IsAmong(double Configuration::*const (&fields)[n], const Attribute& attribute) {
  return std::find(fields, fields + n, attribute.field) != fields + n;
}

struct LibraryServo {
  const char* name;
  Configuration configuration;  // kp is zero: the user's choice
};

#include "servo_library.inc"  // kLibrary, made from the servo files when this is built

constexpr int kStateSize = sizeof(State) / sizeof(mjtNum);
static_assert(sizeof(mjtNum) == sizeof(double), "an instance's plugin_state is a State");

// What a model says of an instance: the values of all attributes, one after the other.
std::string_view AttributesOf(const mjModel* m, int instance) {
  const int begin = m->plugin_attradr[instance];
  const int end = instance + 1 < m->nplugin ? m->plugin_attradr[instance + 1] : m->npluginattr;
  return {m->plugin_attr + begin, static_cast<size_t>(end - begin)};
}

struct Servo {
  const mjModel* model = nullptr;  // of which all the rest is
  std::string attributes;
  Configuration configuration;
  Joint joint;
  int actuator = -1;
  int control = 0;          // of the goal
  int enable_control = -1;  // -1: torque is always on
  int force = 0;            // of the goal's actuator
  int enable_force = -1;
  int friction_rank = 0;  // of the joint's friction row among those of all joints
};

Servo* ServoOf(const mjData* d, int instance) { return reinterpret_cast<Servo*>(d->plugin_data[instance]); }

State* StateOf(const mjModel* m, mjData* d, int instance) {
  return reinterpret_cast<State*>(d->plugin_state + m->plugin_stateadr[instance]);
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
bool ReadConfiguration(const mjModel* m, int instance, Configuration* configuration) {
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
    *configuration = found->configuration;
  }
  for (const Attribute& attribute : kAttributes) {
    const char* text = mj_getPluginConfig(m, instance, attribute.name);
    if (!text || !*text) continue;
    if (!ParseNumber(text, &(configuration->*attribute.field))) {
      Refuse("config %s is '%s' (expected a finite number); correct it", attribute.name, text);
      return false;
    }
  }
  for (const Attribute& attribute : kAttributes) {
    const double value = configuration->*attribute.field;
    if (IsAmong(kPositive, attribute) && !(value > 0.0)) {
      Refuse("config %s is missing or not above 0; state it, or name a servo of the library", attribute.name);
      return false;
    }
    if (value < 0.0 && !IsAmong(kSigned, attribute)) {
      Refuse("config %s is %g (expected zero or more); correct it", attribute.name, value);
      return false;
    }
  }
  if (configuration->overload_threshold > 1.0 || configuration->overload_limit > 1.0) {
    Refuse("config overload_threshold and overload_limit must be shares, 0 to 1; correct them%s", "");
    return false;
  }
  if (!(configuration->kp > 0.0)) {
    Refuse("config kp is missing or not above 0 (the position gain in the firmware's units); state it%s", "");
    return false;
  }
  if (configuration->kd > 0.0 && configuration->kd_scale == 0.0) {
    Refuse("config kd is %g, and the firmware has no kd_scale (its effect is not known); leave kd out", configuration->kd);
    return false;
  }
  if (configuration->ki > 0.0 && configuration->ki_scale == 0.0) {
    Refuse("config ki is %g, and the firmware has no ki_scale (its effect is not known); leave ki out", configuration->ki);
    return false;
  }
  if (!(configuration->supply_voltage > 0.0)) {
    Refuse("config supply_voltage is missing or not above 0; state it in V%s", "");
    return false;
  }
  if (!(configuration->stribeck_velocity > 0.0) || !(configuration->stribeck_exponent > 0.0)) {
    Refuse("config stribeck_velocity and stribeck_exponent must be above 0; correct them%s", "");
    return false;
  }
  return true;
}

// Find the joint and check that the law can act on it.
bool Attach(const mjModel* m, int instance, Servo* servo) {
  int count = 0;
  int enable = -1;
  for (int i = 0; i < ActuatorCount(m); ++i) {
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
  if (m->jnt_actfrclimited[joint]) {
    Refuse("joint '%s': actuatorfrcrange %g to %g limits the motor's torque without its law (expected none: the "
           "servo's own limits are in it); remove it", JointName(m, joint), m->jnt_actfrcrange[2 * joint],
           m->jnt_actfrcrange[2 * joint + 1]);
    return false;
  }
  if (m->jnt_actgravcomp[joint]) {
    Refuse("joint '%s': actuatorgravcomp lets a motor carry gravity beside its law (expected \"false\"); remove it%s",
           JointName(m, joint), "");
    return false;
  }
  servo->joint = JointOf(m, joint);
  servo->control = ControlOf(m, servo->actuator);
  servo->force = ForceOf(m, servo->actuator);
  if (count == 2) {
    servo->enable_control = ControlOf(m, enable);
    servo->enable_force = ForceOf(m, enable);
  }
  for (int i = 0; i < ActuatorCount(m); ++i) {
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
  for (int dof = 0; dof < servo->joint.dof; ++dof) servo->friction_rank += m->dof_frictionloss[dof] > 0.0;
  if (!(m->dof_frictionloss[servo->joint.dof] > 0.0)) {
    Refuse("joint '%s': frictionloss is 0, so the solver has no friction row for it; set any value above 0",
           JointName(m, joint));
    return false;
  }
  if (servo->configuration.armature > 0.0 && m->dof_armature[servo->joint.dof] == 0.0) {
    Refuse("joint '%s': armature is 0, so the inertia of the servo's motor is missing; set armature=\"%g\"",
           JointName(m, joint), servo->configuration.armature);
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
  if (!IsStepStable(m, servo->joint, servo->configuration)) {
    Refuse("joint '%s': the time step of %g s is unstable with its back-EMF and inertia (expected < %.2g s); "
           "shorten it", JointName(m, joint), m->opt.timestep, LongestStep(m, servo->joint, servo->configuration));
    return false;
  }
  return true;
}

bool ReadServo(const mjModel* m, int instance, Servo* servo) {
  *servo = Servo{m, std::string(AttributesOf(m, instance))};
  return ReadConfiguration(m, instance, &servo->configuration) && Attach(m, instance, servo);
}

// The servo in the model that is stepped. Rollouts step many models with the mjData of one of them: a servo is read
// anew where the model is another one, or where its options do not allow the law any more, which is refused.
const Servo& ServoIn(const mjModel* m, mjData* d, int instance) {
  Servo* servo = ServoOf(d, instance);
  const bool is_known = servo->model == m && servo->attributes == AttributesOf(m, instance);
  if (!is_known || !AreOptionsAllowed(m) || !IsStepStable(m, servo->joint, servo->configuration)) {
    Servo anew;
    if (!ReadServo(m, instance, &anew)) {
      mju_error("%s: a model that is stepped with the data of another one is refused", kName);
    }
    *servo = anew;
  }
  return *servo;
}

int Init(const mjModel* m, mjData* d, int instance) {
  Servo servo;
  if (!ReadServo(m, instance, &servo)) return -1;
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

void Reset(const mjModel* m, mjtNum* state, void* data, int instance) {
  const Servo* servo = static_cast<const Servo*>(data);
  Configuration configuration = servo ? servo->configuration : Configuration{};
  if (servo && servo->model != m) ReadConfiguration(m, instance, &configuration);
  *reinterpret_cast<State*>(state) = InitialState(configuration, configuration.case_temperature_rise);
}

// What a servo is to do, of its controls.
Command CommandOf(const mjModel* m, const mjData* d, const Servo& servo) {
  Command command = servo.configuration;
  command.goal_position = d->ctrl[servo.control];
  if (m->actuator_ctrllimited[servo.control]) {
    const mjtNum* range = m->actuator_ctrlrange + 2 * servo.control;
    command.goal_position = std::clamp(command.goal_position, range[0], range[1]);
  }
  command.torque_enabled = servo.enable_control < 0 ? 1.0 : std::clamp(d->ctrl[servo.enable_control], 0.0, 1.0);
  // MuJoCo warns of controls that are no numbers, but lets plugins have them. Torque is off then: as a torque they
  // would make MuJoCo start over.
  if (!std::isfinite(command.goal_position) || !std::isfinite(command.torque_enabled)) {
    command.goal_position = command.torque_enabled = 0.0;
  }
  return command;
}

// Between the constraints' construction and the solver: motor torque, and this step's budget in the row.
void Compute(const mjModel* m, mjData* d, int instance, int) {
  const Servo& servo = ServoIn(m, d, instance);
  State* state = StateOf(m, d, instance);
  const Command command = CommandOf(m, d, servo);
  Begin(m, d, servo.joint, servo.configuration, command, state);
  LimitFriction(servo.configuration, command, state);
  d->actuator_force[servo.force] = state->drive.motor_torque;
  if (servo.enable_force >= 0) d->actuator_force[servo.enable_force] = 0.0;
  const int row = RowOf(d, servo.joint.dof, d->ne + servo.friction_rank);
  // No row where it is asleep; where it has diverged, MuJoCo is about to see it.
  if (row >= 0 && IsFinite(state->drive)) SetRow(m, d, row, state);
}

// Behind the solver: keep what the next step needs.
void Advance(const mjModel* m, mjData* d, int instance) {
  const Servo& servo = ServoIn(m, d, instance);
  const int row = RowOf(d, servo.joint.dof, d->ne + servo.friction_rank);
  End(m, d, servo.joint, row, servo.configuration, StateOf(m, d, instance));
}

int StateSize(const mjModel*, int) { return kStateSize; }

#define BAM_TEXT(value) #value
#define BAM_TEXT_OF(macro) BAM_TEXT(macro)

// Read by Python before it loads this: the MuJoCo whose structures were compiled in.
__attribute__((used)) const char kBuiltFor[] = "bam_bench.servo for mjVERSION_HEADER " BAM_TEXT_OF(mjVERSION_HEADER) ";";

// Loaded into a program with another MuJoCo, the plugin would read and write the wrong places: it does not register.
bool IsForThisMuJoCo() {
  constexpr int is = mjVERSION_HEADER, wide = is > 9999 ? 1000 : 10;  // 3.4.0 was 340 still
  if (mj_version() == is) return true;
  mju_warning("%s: was built for MuJoCo %d.%d.%d, and this program has %s (expected the same); build it with "
              "`bam build-plugin --mujoco DIRECTORY`", kName, is / (wide * wide), is / wide % wide, is % wide,
              mj_versionString());
  return false;
}

// MuJoCo's own macro for this takes an argument, or none, depending on the version.
__attribute__((constructor)) void Register() {
  if (!IsForThisMuJoCo()) return;
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

}  // namespace
}  // namespace bam
