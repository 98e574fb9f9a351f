# SPDX-License-Identifier: Apache-2.0
"""eRob servos over EtherCAT: CiA 402, process data, master, and the node (`ros2 run bam_bench erob`)."""
