/* SPDX-License-Identifier: Apache-2.0
 *
 * Layout of a driver's shared memory, for C and C++; bam_ros/driver/shared_layout.py has the same for Python.
 * A test compiles this file and compares every offset.
 *
 * The segment of the parameter shared_memory:=NAME is shm_open("/bam_bench.NAME"). It has the blocks Header,
 * State (which the node writes) and Command (which one client writes), each at a multiple of 64 bytes.
 *
 * State and Command begin with a sequence lock, which is odd while the block is written. A reader copies the
 * block, and takes the copy where the lock was even before and the same afterwards.
 */
#ifndef BAM_ROS2_CONTROL__SHARED_LAYOUT_H_
#define BAM_ROS2_CONTROL__SHARED_LAYOUT_H_

#include <stdint.h>

#define BAM_MAGIC "BAMSHM"
#define BAM_VERSION 1
#define BAM_MOST_JOINTS 64
#define BAM_LONGEST_NAME 64   /* bytes of a joint's name, the final NUL included */
#define BAM_LONGEST_FAULT 192 /* likewise of the line of a fault */
#define BAM_ALIGNMENT 64      /* bytes; blocks begin at multiples of it */
#define BAM_SEGMENT_PREFIX "/bam_bench."
/* Bytes of the file that node and client lock (F_OFD_SETLK) while they use it; ended when a process is killed. */
#define BAM_NODE_BYTE 0
#define BAM_CLIENT_BYTE 1

/* What a client wants of a joint. */
#define BAM_TORQUE_UNNAMED 0 /* nothing: its torque goes off after command_timeout */
#define BAM_TORQUE_ON 1      /* torque, with the goal */
#define BAM_TORQUE_OFF 2     /* no torque, whatever else commands the joint */

/* What a joint is commanded by: the driver's parameter command_interfaces. */
#define BAM_KIND_POSITION 0 /* rad */
#define BAM_KIND_VELOCITY 1 /* rad/s */
#define BAM_KIND_CURRENT 2  /* A */
#define BAM_KIND_DUTY 3     /* -1..1 */

typedef struct {
  char magic[8]; /* written last */
  uint32_t version;
  uint32_t joints;
  uint64_t size; /* of the segment, bytes */
  int64_t pid;   /* of the node */
  uint32_t kind[BAM_MOST_JOINTS];
  char name[BAM_MOST_JOINTS][BAM_LONGEST_NAME];
} BamHeader;

typedef struct {
  uint64_t lock;
  uint64_t number;   /* of the sample, counted from 1 since the node became active */
  int64_t stamp;     /* of the sample, ns, as in servo_states */
  int64_t published; /* when it was written, CLOCK_MONOTONIC, ns; 0: none since the node became active */
  uint64_t taken;    /* number of the newest command before the sample */
  uint64_t answered; /* newest reset_fault that is done, whether the fault ended or not */
  uint32_t active;   /* whether the node is */
  uint32_t latched;  /* whether a fault keeps torque off on all joints */
  char fault[BAM_LONGEST_FAULT]; /* in one line, UTF-8; empty: none */
  double position[BAM_MOST_JOINTS];    /* rad; NaN where a servo does not report something */
  double velocity[BAM_MOST_JOINTS];    /* rad/s */
  double effort[BAM_MOST_JOINTS];      /* N*m */
  double current[BAM_MOST_JOINTS];     /* A */
  double duty[BAM_MOST_JOINTS];        /* -1..1 */
  double voltage[BAM_MOST_JOINTS];     /* V */
  double temperature[BAM_MOST_JOINTS]; /* degC */
  double goal[BAM_MOST_JOINTS];        /* in force; rad, rad/s, A or 1 by the joint's kind */
  uint32_t torque_enabled[BAM_MOST_JOINTS];
  uint32_t hardware_error[BAM_MOST_JOINTS]; /* bits of bam_bench/msg/ServoStates */
  uint32_t stopped[BAM_MOST_JOINTS];        /* whether a fault keeps the joint's torque off */
} BamState;

typedef struct {
  uint64_t lock;
  uint64_t number;      /* heartbeat: one more with every command, also with the same one */
  int64_t time;         /* CLOCK_MONOTONIC, ns */
  int64_t pid;          /* of the client */
  uint64_t reset_fault; /* one more asks to end a fault, as ~/reset_fault does */
  uint32_t torque[BAM_MOST_JOINTS];
  double goal[BAM_MOST_JOINTS]; /* rad, rad/s, A or 1 by the joint's kind; NaN: nothing is wanted */
} BamCommand;

#define BAM_ALIGNED(size) (((size) + BAM_ALIGNMENT - 1) / BAM_ALIGNMENT * BAM_ALIGNMENT)
#define BAM_HEADER_OFFSET 0
#define BAM_STATE_OFFSET BAM_ALIGNED(sizeof(BamHeader))
#define BAM_COMMAND_OFFSET (BAM_STATE_OFFSET + BAM_ALIGNED(sizeof(BamState)))
#define BAM_SIZE (BAM_COMMAND_OFFSET + BAM_ALIGNED(sizeof(BamCommand)))

#endif  /* BAM_ROS2_CONTROL__SHARED_LAYOUT_H_ */
