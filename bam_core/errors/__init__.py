# SPDX-License-Identifier: Apache-2.0
"""Every refusal of this package is a `BamError`: one line that names the object, the fault and the cure.

try:
    bam_core.load_servo("xl33")
except bam_core.BamError as error:
    print(error)  # servo: unknown 'xl33' (expected one of ...); did you mean 'xl330'?
"""

from bam_core.errors.kinds import CORRECT_IT as CORRECT_IT
from bam_core.errors.kinds import BadData as BadData
from bam_core.errors.kinds import BamError as BamError
from bam_core.errors.kinds import Conflict as Conflict
from bam_core.errors.kinds import FileError as FileError
from bam_core.errors.kinds import Malformed as Malformed
from bam_core.errors.kinds import Missing as Missing
from bam_core.errors.kinds import MissingSoftware as MissingSoftware
from bam_core.errors.kinds import NotWritable as NotWritable
from bam_core.errors.kinds import OutOfRange as OutOfRange
from bam_core.errors.kinds import Terminated as Terminated
from bam_core.errors.kinds import Unavailable as Unavailable
from bam_core.errors.kinds import UnknownName as UnknownName
from bam_core.errors.kinds import Unreadable as Unreadable
from bam_core.errors.kinds import Unsupported as Unsupported
from bam_core.errors.kinds import WrongShape as WrongShape
from bam_core.errors.kinds import WrongType as WrongType
from bam_core.errors.kinds import WrongValue as WrongValue
from bam_core.errors.kinds import close_name as close_name
from bam_core.errors.kinds import printable_line as printable_line
