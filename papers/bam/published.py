# SPDX-License-Identifier: Apache-2.0
"""M1 to M6 of four servos as BAM's authors published them with their program.

They were fitted with the integrator "semi_implicit" in steps of 5 ms and the quadratic rule "opposing".
"""

from __future__ import annotations

from dataclasses import replace

from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import Provenance, ServoModel, load_servo
from bam_core.servo.motor import DcMotor

_SOURCE = "BAM (Duclusaud, Passault, Padois, Ly, arXiv:2410.08650), as published by its authors"
_SOFTWARE = "github.com/Rhoban/bam 1b5a1ce"

# Of bam/params there (Apache-2.0), five digits: k_t N·m/A, R Ω, J_m kg·m², then the model's parameters in the
# order of `FrictionModel.parameters`, SI; "-": not told, it counts only where the supply limits the current.
_TABLE = """
mx64 m1 1.6225 3.9494 0.011951 0.011692 0.090387
mx64 m2 1.6204 3.8944 0.011924 0.019181 0.056119 0.081864 1.1203 3
mx64 m3 1.6315 3.5709 0.011238 0.00063003 0.10217 0.075801
mx64 m4 1.6632 3.156 0.010961 0.014755 0.061549 0.023895 1.5206 1.3344 0 0.23429
mx64 m5 1.5874 2.4143 0.011729 0.014909 0.07502 0.022233 0.74617 1.293 0.3848 0 0.030124 0.1659
mx64 m6 1.6017 2.3164 0.012266 0.025337 0 0.1227 2.5753 0.8409 0.31147 0 0.18774 0.014066 0.0069085 0.01
mx106 m1 2.1914 2.965 0.026609 0.035202 0.10352
mx106 m2 2.191 2.9609 0.026839 0.059589 2.7686e-06 0.11742 1.8488 1.7414
mx106 m3 2.2042 2.6533 0.024847 0.011945 0.11335 0.10824
mx106 m4 2.2314 2.3717 0.024574 0.050961 0 0.10491 1.6233 1.3235 0.0091503 0.22236
mx106 m5 2.2088 2.0142 0.026018 0.050665 0 0.12243 1.7457 1.1383 0.20764 0.022684 0.19519 0.084902
mx106 m6 2.2098 2.0337 0.026016 0.050716 1.0233e-05 0.12195 1.7463 1.1428 0.19801 0.022216 0.1986 0.087103 0.0099999 7.3269e-05
erob80_100 m1 7.6579 - 0.95895 8.3923 5.611
erob80_100 m2 7.7096 - 0.9732 9.5707 0 5.4552 2.0798 3
erob80_100 m3 9.4692 - 0.98876 7.3953 4.8323 0.14798
erob80_100 m4 9.8004 - 0.94698 9.029 0.00012506 4.3817 1.9771 2.9999 2.1268e-06 0.16614
erob80_100 m5 8.7651 - 0.74442 8.8884 0.00085444 3.8972 1.8499 2.9991 0.0014387 3.3923e-06 7.9503e-05 0.25447
erob80_100 m6 9.3963 - 1.1351 9.7093 0.00047797 5.2264 2.033 2.9999 0.048888 0 8.8233e-06 0.051167 0.0027029 0.0025563
erob80_50 m1 4.5434 2.5088 0.33694 1.2981 4.0966
erob80_50 m2 4.5437 2.5211 0.33452 1.3132 4.0862 0 0.96178 1.4389
erob80_50 m3 4.8192 2.2047 0.32928 1.2073 3.4666 0.062922
erob80_50 m4 4.8223 1.8204 0.33383 1.2166 3.4537 9.2184e-06 0.34601 2.7272 0.063087 0
erob80_50 m5 4.8183 0.85749 0.33108 1.6089 2.3673 0.83799 2.2639 2.9847 0.034182 0.00026791 0.015404 0.084963
erob80_50 m6 4.8968 1.0735 0.36174 1.4034 3.2589 0.32043 2.8304 1.7864 0.035662 0.00084317 0.003771 0.041438 0.0018721 0.0015991
"""  # noqa: E501


def published(name: str, model: str) -> ServoModel:
    """Return a servo with published parameters, moved by this package's integrator.

    Args:
        name: mx64, mx106, erob80_100 or erob80_50.
        model: of friction, m1 to m6.
    """
    servo = load_servo(f"published/{name}")
    law = FRICTION_MODELS[model]
    row = next(line.split()[2:] for line in _TABLE.split("\n") if line.startswith(f"{name} {model} "))
    constants = [servo.motor.resistance if text == "-" else float(text) for text in row]
    values = dict(zip(law.parameters, constants[3:], strict=True))
    return replace(
        servo,
        motor=DcMotor(torque_constant=constants[0], resistance=constants[1], armature=constants[2]),
        friction_model=model,
        friction=law.friction(values, quadratic_rule="opposing"),
        integrator="midpoint",
        provenance=Provenance(source=f"{name} {model}: {_SOURCE}", software=_SOFTWARE),
    )
