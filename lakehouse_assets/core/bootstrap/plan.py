"""From what set-up saw to the steps that are left: pure."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from lakehouse_assets.core.errors import EnvironmentNotReadyError

Version = tuple[int, int, int]

OLDEST, BELOW = (3, 11), (3, 14)
"""The half-open interval of Pythons that the pinned packages run on; a test compares it with pyproject.toml."""

PYTHON_NAMES = ("python3.13", "python3.12", "python3.11", "python3")
JAVA_PACKAGES = ("openjdk-17-jre-headless", "openjdk-21-jre-headless")
"""Debian's and Ubuntu's names; which of them there is depends on the release."""

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER_PACKAGES = ("chromium",)

ENV_HEADER = "# Written by `make setup`, and again when it differs. To keep changes of your own, take this line away."


INTERRUPTED = "installing"
"""Stands in the stamp's place while pip is at work: what a killed or failed pip leaves behind may look whole."""


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """A Python outside any environment."""

    executable: Path
    version: Version
    can_make_venv: bool

    @property
    def venv_package(self) -> str:
        """What Debian splits off; other systems ship it with Python."""
        return f"python{self.version[0]}.{self.version[1]}-venv"

    @property
    def is_packaged(self) -> bool:
        """Whether the system's packages can add to it."""
        return self.executable.parent in (Path("/usr/bin"), Path("/bin"))


@dataclass(frozen=True, kw_only=True)
class Environment:
    """The `.venv` that is there: whether it has an interpreter and pip, and whether it was made for another folder."""

    version: Version
    complete: bool
    moved: bool
    stamp: str | None


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What set-up saw. Interpreters are looked for only when the environment cannot be kept."""

    root: Path
    home: Path
    dev: bool
    requirements: tuple[bytes, ...]
    environment: Environment | None
    interpreters: tuple[Interpreter, ...]
    no_java: EnvironmentNotReadyError | None
    lacks_browser: bool
    """A browser is wanted for the tests of the UI, and there is none."""
    can_install_packages: bool
    env_file: str | None


@dataclass(frozen=True, kw_only=True)
class InstallPackages:
    """Packages of the system; each entry lists alternatives, of which the first that exists is taken."""

    wanted: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True)
class MakeEnvironment:
    interpreter: Interpreter
    reason: str


@dataclass(frozen=True, kw_only=True)
class InstallProject:
    extras: tuple[str, ...]
    stamp: str


@dataclass(frozen=True, kw_only=True)
class WriteEnvFile:
    text: str


@dataclass(frozen=True, kw_only=True)
class ResolveJars:
    """Always planned: the lake's room knows whether the cache is whole, and says so in milliseconds."""


Step = InstallPackages | MakeEnvironment | InstallProject | WriteEnvFile | ResolveJars


def plan_setup(facts: Facts) -> tuple[Step, ...]:
    """The steps that are left, in order; raises when this machine cannot be made ready from here."""
    packages: list[tuple[str, ...]] = []
    steps: list[Step] = []
    environment = facts.environment
    reason = rebuild_reason(environment)
    if environment is None or reason is not None:
        interpreter = choose_interpreter(facts.interpreters, can_install_packages=facts.can_install_packages)
        if not interpreter.can_make_venv:
            packages.append((interpreter.venv_package,))
        steps.append(MakeEnvironment(interpreter=interpreter, reason=reason or "there is none"))
        version, stamp = interpreter.version, None
    else:
        version, stamp = environment.version, environment.stamp
    full, bare = (setup_stamp(facts.requirements, version, extras) for extras in (("dev",), ()))
    if stamp != full and (facts.dev or stamp != bare):
        steps.append(InstallProject(extras=("dev",) if facts.dev else (), stamp=full if facts.dev else bare))
    if facts.no_java is not None:
        if not facts.can_install_packages:
            raise facts.no_java
        packages.append(JAVA_PACKAGES)
    if facts.lacks_browser and facts.can_install_packages:
        packages.append(BROWSER_PACKAGES)  # elsewhere the tests that need one say so
    text = env_file_text(facts.root)
    if facts.env_file is None or (facts.env_file.startswith(ENV_HEADER) and facts.env_file != text):
        steps.append(WriteEnvFile(text=text))
    first = (InstallPackages(wanted=tuple(packages)),) if packages else ()
    return (*first, *steps, ResolveJars())


def rebuild_reason(environment: Environment | None) -> str | None:
    """Why `.venv` has to be made anew; None if it can be kept."""
    if environment is None:
        return "there is none"
    if not environment.complete:
        return "it lacks its interpreter or pip"
    if environment.stamp == INTERRUPTED:
        return "an install in it was cut short"
    if not is_supported(environment.version):
        return f"it has Python {dotted(environment.version)}"
    if environment.moved:
        return "it was made for another folder"
    return None


def choose_interpreter(interpreters: tuple[Interpreter, ...], *, can_install_packages: bool) -> Interpreter:
    """The newest supported one that can make an environment, at once or after a package is installed."""
    supported = [each for each in interpreters if is_supported(each.version)]
    usable = [each for each in supported if each.can_make_venv or (can_install_packages and each.is_packaged)]
    if usable:
        return max(usable, key=lambda each: each.version[:2])
    if supported:
        newest = max(supported, key=lambda each: each.version)
        raise EnvironmentNotReadyError(
            subject=f"Python {dotted(newest.version)}",
            seen=f"{newest.executable} lacks the modules that make an environment (venv, ensurepip)",
            why="the project's packages go into an environment of their own",
            remedy=f"run `apt-get install {newest.venv_package}` as root on Debian or Ubuntu, then `make setup` again",
        )
    seen = ", ".join(f"{each.executable} ({dotted(each.version)})" for each in interpreters) or "none at all"
    wanted = f"{dotted(OLDEST)} or newer, below {dotted(BELOW)}"
    raise EnvironmentNotReadyError(
        subject="Python",
        seen=f"none that fits among {', '.join(PYTHON_NAMES)} on PATH; found {seen}",
        why=f"the pinned packages run on Python {wanted}",
        remedy="install one of these so that its command is on PATH, then run `make setup` again",
    )


def is_supported(version: tuple[int, ...]) -> bool:
    return OLDEST <= version[:2] < BELOW


def setup_stamp(requirements: tuple[bytes, ...], version: Version, extras: tuple[str, ...]) -> str:
    """Fingerprint of what decides which packages are installed."""
    digest = hashlib.sha256()
    for part in (*requirements, dotted(version).encode(), ",".join(extras).encode()):
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.hexdigest()


def env_file_text(root: Path) -> str:
    """What `dagster dev` reads from its working directory. What is set outside wins over it."""
    if any(character in str(root) for character in "}\"\\\n'"):
        raise EnvironmentNotReadyError(
            subject=f"project folder {str(root)!r}",
            seen="its path has a quote, a brace, a backslash or a line break",
            why="the .env file that Dagster reads cannot express it",
            remedy="move the project to a folder with a plainer name",
        )
    return (
        f"{ENV_HEADER}\n"
        f'DAGSTER_HOME="${{DAGSTER_HOME:-{root}}}"\n'
        f'LAKEHOUSE_HOME="${{LAKEHOUSE_HOME:-{root / ".lakehouse"}}}"\n'
        "# dagster.yaml turns telemetry off; this also keeps its empty folders out of the project.\n"
        'DAGSTER_DISABLE_TELEMETRY="yes"\n'
    )


def dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))
