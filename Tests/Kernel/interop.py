"""What the interop tests have for running the program: their conftest.py under a name that does not clash with ours.
"""

import importlib.util
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "Interop"
sys.path.insert(0, str(FOLDER))

_specification = importlib.util.spec_from_file_location("interop_conftest", FOLDER / "conftest.py")
_module = importlib.util.module_from_spec(_specification)
_specification.loader.exec_module(_module)

Halo, Result, RingProcess, ROOT = _module.Halo, _module.Result, _module.RingProcess, _module.ROOT
OK, NO_ADAPTER, TIMEOUT, PROTOCOL = _module.OK, _module.NO_ADAPTER, _module.TIMEOUT, _module.PROTOCOL
NOT_FOUND, CONNECTION_LOST = _module.NOT_FOUND, _module.CONNECTION_LOST
REPLAY_DIFFERS, USAGE = _module.REPLAY_DIFFERS, _module.USAGE
NO_PERMISSION = 77
