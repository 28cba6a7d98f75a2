"""Whether advisories are known of the pinned packages; a part of `make check`.

Where no advisories can be asked for, as without a network, it says that nothing was audited, and does not fail: the
code is not worse for it.
"""

import json
import subprocess
import sys
from pathlib import Path

PINNED = Path(__file__).parents[1] / "constraints.txt"


def main() -> int:
    asked = [sys.executable, "-m", "pip_audit", "--requirement", str(PINNED), "--no-deps", "--disable-pip"]
    done = subprocess.run(
        [*asked, "--progress-spinner", "off", "--format", "json"], capture_output=True, text=True, check=False
    )
    if not done.stdout.strip():
        print(f"audit: nothing was audited: {(done.stderr.strip() or 'no answer').splitlines()[-1]}")
        return 0
    packages = json.loads(done.stdout)["dependencies"]
    audited = [each for each in packages if "skip_reason" not in each]
    for package in audited:
        for found in package["vulns"]:
            fixed = ", ".join(found["fix_versions"]) or "no version yet"
            print(f"audit: {package['name']} {package['version']}: {found['id']}, mended by {fixed}")
    what = f"{len(audited)} of {len(packages)} pinned packages" if audited else "nothing: no advisories are to be had"
    print(f"audit: audited {what}")
    return 1 if any(package["vulns"] for package in audited) else 0


if __name__ == "__main__":
    sys.exit(main())
