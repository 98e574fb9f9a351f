// SPDX-License-Identifier: Apache-2.0
// The C interface of the library, by which Python steps servos: one call for all servos of a robot. Python owns the
// memory; nothing is allocated, kept or shared here, so that threads may step different robots.
#include "servo_joint.h"

#define BAM_NAME(name, initial) #name " "
#define BAM_NEXT_NAME(name, initial) "next_" #name " "

namespace bam {
namespace {

enum Status { kOk, kNoRow, kNotFinite, kRefused };

struct Servo {
  Command command;
  State state;
};

// A robot's servos; as `_Robot` in bam_core/mujoco/native/compiled_law.py.
struct Robot {
  const mjModel* model;
  mjData* data;
  const int* joints;
  const Constants* constants;
  Servo* servos;
  int count;
};

bool AreStepsStable(const Robot& robot) {
  for (int i = 0; i < robot.count; ++i) {
    if (!IsStepStable(robot.model, JointOf(robot.model, robot.joints[i]), robot.constants[i])) return false;
  }
  return true;
}

}  // namespace
}  // namespace bam

extern "C" {

using bam::Robot;

// Names of the doubles of which one servo's constants consist, in their order, with spaces between.
const char* bam_servo_constants() { return BAM_CONSTANTS(BAM_NAME); }

// Likewise of its command, and of its state: memory and what the last step did.
const char* bam_servo_command() { return BAM_COMMAND(BAM_NAME); }
const char* bam_servo_state() { return BAM_MEMORY(BAM_NAME) BAM_DRIVE(BAM_NAME) BAM_MEMORY(BAM_NEXT_NAME); }

// Forget the previous step; commands stay.
void bam_servo_reset(Robot* robot) {
  for (int i = 0; i < robot->count; ++i) {
    bam::Servo& servo = robot->servos[i];
    servo.state = bam::InitialState(robot->constants[i], servo.command.case_temperature_rise);
  }
}

// Between mj_step1 and mj_step2: apply motor torques, and set this step's friction.
int bam_servo_before_solver(Robot* robot) {
  const mjModel* m = robot->model;
  mjData* d = robot->data;
  if (!bam::AreOptionsAllowed(m) || !bam::AreStepsStable(*robot)) return bam::kRefused;
  int status = bam::kOk;
  int row = d->ne;
  for (int i = 0; i < robot->count; ++i) {
    bam::Servo& servo = robot->servos[i];
    const bam::Joint joint = bam::JointOf(m, robot->joints[i]);
    bam::Begin(m, d, joint, robot->constants[i], servo.command, &servo.state);
    bam::LimitFriction(robot->constants[i], servo.command, &servo.state);
    if (!bam::IsFinite(servo.state.drive)) {
      status = bam::kNotFinite;
      continue;
    }
    d->qfrc_applied[joint.dof] += servo.state.drive.motor_torque;
    const int found = bam::RowOf(d, joint.dof, row);
    if (found < 0) {
      status = std::max<int>(status, bam::kNoRow);
      continue;
    }
    bam::SetRow(m, d, found, &servo.state);
    row = found + 1;
  }
  return status;
}

// Behind mj_step2: keep what the next step needs, and take the motor torques out of qfrc_applied again.
void bam_servo_after_solver(Robot* robot) {
  const mjModel* m = robot->model;
  mjData* d = robot->data;
  int row = d->ne;
  for (int i = 0; i < robot->count; ++i) {
    bam::State& state = robot->servos[i].state;
    const bam::Joint joint = bam::JointOf(m, robot->joints[i]);
    const int found = bam::RowOf(d, joint.dof, row);
    bam::End(m, d, joint, found, robot->constants[i], &state);
    d->qfrc_applied[joint.dof] = state.drive.applied_torque;
    if (found >= 0) row = found + 1;
  }
}

// Motor torques and friction budgets of a step that others make, with gears.
int bam_servo_before_gears(Robot* robot) {
  if (!bam::AreStepsStable(*robot)) return bam::kRefused;
  int status = bam::kOk;
  for (int i = 0; i < robot->count; ++i) {
    bam::Servo& servo = robot->servos[i];
    const bam::Joint joint = bam::JointOf(robot->model, robot->joints[i]);
    bam::Begin(robot->model, robot->data, joint, robot->constants[i], servo.command, &servo.state);
    servo.state.memory = servo.state.next;
    if (!bam::IsFinite(servo.state.drive)) status = bam::kNotFinite;
  }
  return status;
}

}  // extern "C"
