// SPDX-License-Identifier: Apache-2.0
// A servo on a joint of MuJoCo: what its law reads from mjData, and the friction row by which it acts on the solver.
#ifndef BAM_BENCH_SERVO_JOINT_H_
#define BAM_BENCH_SERVO_JOINT_H_

#include <mujoco/mujoco.h>

#include "mujoco_versions.h"
#include "servo_law.h"

namespace bam {

// MuJoCo's friction rows are springy, and even at their stiffest setting of 1e-4 a held joint creeps. This is their
// compliance relative to the joint's own inverse inertia. Ten times stiffer still converges in a few iterations, a
// hundred times does not in robots with contacts.
constexpr double kCompliance = 1e-7;

struct Joint {
  int dof;
  int position_address;
};

inline Joint JointOf(const mjModel* m, int joint) { return {m->jnt_dofadr[joint], m->jnt_qposadr[joint]}; }

// Begin a step: motor torque and friction budget, in `state`.
inline void Begin(const mjModel* m, const mjData* d, const Joint& joint, const Constants& c, const Command& u,
                  State* state) {
  const int dof = joint.dof;
  state->drive.applied_torque = d->qfrc_applied[dof];
  const double push = d->qfrc_passive[dof] - d->qfrc_bias[dof] + d->qfrc_applied[dof];
  BeginStep(c, u, d->time, m->opt.timestep, d->qpos[joint.position_address], d->qvel[dof], push, state);
}

inline bool IsFinite(const Drive& drive) {
  return std::isfinite(drive.motor_torque + drive.friction_budget + drive.duty);
}

// The friction row of a degree of freedom, or -1. Tendons have friction rows, too. Rows are searched from `guess` on.
inline int RowOf(const mjData* d, int dof, int guess) {
  for (int i = 0; i < d->nf; ++i) {
    const int row = d->ne + (guess - d->ne + i) % d->nf;
    if (d->efc_type[row] == mjCNSTR_FRICTION_DOF && d->efc_id[row] == dof) return row;
  }
  return -1;
}

// Set this step's friction in its row, between the constraints' construction and the solver.
inline void SetRow(const mjModel* m, mjData* d, int row, State* state) {
  const double inverse_inertia = DiagonalOfA(d, row);
  state->next.inverse_inertia = inverse_inertia;
  const double compliance = kCompliance * inverse_inertia;
  const double limit = state->drive.friction_limit;
  // To rest within this step (eq. 4); the second term is how far the row gives way under the last force.
  const double stop = -state->drive.start_velocity / m->opt.timestep + compliance * state->memory.friction_torque;
  d->efc_frictionloss[row] = limit;
  d->efc_R[row] = compliance;
  d->efc_D[row] = 1.0 / compliance;
  d->efc_aref[row] = stop;
  if (d->nisland > 0) {  // the solver has a copy
    const int copy = d->map_efc2iefc[row];
    d->iefc_frictionloss[copy] = limit;
    d->iefc_R[copy] = compliance;
    d->iefc_D[copy] = 1.0 / compliance;
    d->iefc_aref[copy] = stop;
  }
}

// End a step behind the solver. `row` is -1 where the joint has no friction row: it is asleep.
inline void End(const mjModel* m, const mjData* d, const Joint& joint, int row, const Constants& c, State* state) {
  const int dof = joint.dof;
  const double friction = row >= 0 ? d->efc_force[row] : 0.0;
  const double own = state->drive.motor_torque + state->drive.applied_torque;
  const double other_smooth = d->qfrc_smooth[dof] - d->qfrc_passive[dof] + d->qfrc_bias[dof] - own;
  const double other = other_smooth + d->qfrc_constraint[dof] - friction;
  EndStep(c, m->opt.timestep, d->qvel[dof], d->qacc[dof], friction, other, state);
}

}  // namespace bam

#endif  // BAM_BENCH_SERVO_JOINT_H_
