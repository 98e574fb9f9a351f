# SPDX-License-Identifier: Apache-2.0
"""Driver of Feetech bus servos (STS, SMS, SCS); `node` is the ROS node."""
