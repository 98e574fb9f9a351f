# SPDX-License-Identifier: Apache-2.0
"""eRob servos over EtherCAT: CiA 402, process data, master loop, node; `virtual` emulates the drives."""
