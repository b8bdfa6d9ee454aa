"""Assembles one conda package; what it is asked stands in its argument, as JSON."""

import json
import sys
from datetime import datetime, timezone

from rattler_build import assemble_package

asked = json.loads(sys.argv[1])
assemble_package(
    name="envfix",
    version=asked["version"],
    target_platform=asked["platform"],
    build_string="0",
    output_dir=asked["out"],
    files_dir=asked["files"],
    license="Apache-2.0",
    license_files=[asked["licence"]],
    summary="Gets PyTorch to run on the GPU that is there",
    timestamp=datetime.fromtimestamp(asked["time"], timezone.utc),
    compression_threads=1,
    detect_prefix=False,
)
