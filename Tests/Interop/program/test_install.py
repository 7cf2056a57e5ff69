"""`make install` for those who make packages. Tests/Kernel/test_security.py has it for a machine."""

import errno
import grp
import os
import subprocess

import pytest
from program import ROOT


def test_a_package_grants_nothing(halo, tmp_path):
    group = "halo-raw-package"
    subprocess.run(["make", "install", f"DESTDIR={tmp_path}", f"BUILT={halo.path}", f"GROUP={group}"], cwd=ROOT,
                   check=True, stdout=subprocess.DEVNULL)
    programs = [path for path in tmp_path.rglob("*") if path.is_file() and os.access(path, os.X_OK)]
    assert {str(path.relative_to(tmp_path)) for path in programs} == {
        "usr/local/bin/halo-raw", "usr/local/lib/halo-raw/halo-raw"}
    for program in programs:
        with pytest.raises(OSError) as error:
            os.getxattr(program, "security.capability")
        assert error.value.errno == errno.ENODATA
    with pytest.raises(KeyError):
        grp.getgrnam(group)
