# SPDX-License-Identifier: Apache-2.0
"""Take a servo to other programs: plain MuJoCo (MJCF) and BAM's own (JSON), and what neither can hold.

.venv/bin/python examples/export.py
"""

from pathlib import Path

from bam_core import MjcfDrive, bam_parameters, bam_parameters_text, load_servo, servo_mjcf

servo = load_servo("mx106")  # or "identified/m4.yaml"
xml, lost_in_mujoco = servo_mjcf(servo, MjcfDrive(kp=32))
parameters, lost_in_bam = bam_parameters(servo)
Path("mx106.xml").write_text(xml)
Path("mx106.json").write_text(bam_parameters_text(parameters))
for line in (*lost_in_mujoco, *lost_in_bam):
    print(line)
