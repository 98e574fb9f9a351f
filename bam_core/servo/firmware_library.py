# SPDX-License-Identifier: Apache-2.0
"""The firmwares of the library, and firmwares as fields of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from importlib.resources import files
from types import MappingProxyType
from typing import Any

import yaml

from bam_core.errors import UnknownName
from bam_core.servo.firmware import PositionFirmware
from bam_core.servo.firmware_laws import CurrentFirmware, VoltageFirmware
from bam_core.servo.protection import OverloadProtection

LAWS: Mapping[str, type[PositionFirmware]] = MappingProxyType(
    {"voltage": VoltageFirmware, "current": CurrentFirmware}
)
"""Laws by the name that files give them."""


def firmware_from_fields(name: str, fields: Mapping[str, Any]) -> PositionFirmware:
    """Return the firmware with the fields of a section.

    Args:
        name: of the firmware.
        fields: ``law`` and the fields of its class, as in ``firmwares.yaml``.

    Raises:
        BamError: a value is out of range.
    """
    values = {key: value for key, value in fields.items() if key != "law"}
    if values.get("protection") is not None:
        values["protection"] = OverloadProtection(**values["protection"])
    return LAWS[fields["law"]](name=name, **values)


def firmware_fields(firmware: PositionFirmware) -> dict[str, Any]:
    """Return the fields from which `firmware_from_fields` makes this firmware; defaults are left out."""
    (law,) = (law for law, kind in LAWS.items() if isinstance(firmware, kind))
    defaults = {field.name: field.default for field in fields(firmware) if field.name != "name"}
    values = {name: getattr(firmware, name) for name in defaults}
    if firmware.protection is not None:
        values["protection"] = asdict(firmware.protection)
    return {"law": law, **{name: value for name, value in values.items() if value != defaults[name]}}


def _library() -> Mapping[str, PositionFirmware]:
    text = (files("bam_core.servo") / "firmwares.yaml").read_text(encoding="utf-8")
    sections = yaml.safe_load(text).items()
    return MappingProxyType({name: firmware_from_fields(name, fields) for name, fields in sections})


FIRMWARES: Mapping[str, PositionFirmware] = _library()
"""Known firmwares by name."""


def find_firmware(name: str) -> PositionFirmware:
    """Return the firmware of this name; raise BamError with the valid names where there is none."""
    try:
        return FIRMWARES[name]
    except KeyError:
        raise UnknownName("firmware", name, FIRMWARES) from None
