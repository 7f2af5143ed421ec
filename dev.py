# SPDX-License-Identifier: GPL-3.0-or-later
"""What a developer does with this project: python3 dev.py COMMAND, see --help. Needs only Python.

The first run makes a virtual environment, `.venv`, with Blender as a Python module and the tools of the tests.
"""

import argparse
import ctypes
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent
TOOLS = ["pytest==9.2.0", "hypothesis==6.170.15", "ruff==0.17.4", "mypy==2.4.1"]
# For the tests of training, and for the benchmark of that name, if those tests have made it ready.
TORCH, TRAINS = "torch==2.13.0", "training"
MATPLOTLIB = "matplotlib==3.10.7"
PILLOW = "pillow==12.0.0"
# SDL for gamepads, as the extension brings it, each file with its SHA-256. There is none for Windows or Linux on ARM.
WHEELS = {
    "PySDL2-0.9.17-py3-none-any.whl": "fe923dbf5c7b27bbc1eb2bf58abfa793f8f13fd7ae8b27b1bc2de49920bcbd41",
    "pysdl2_dll-2.32.10-py2.py3-none-macosx_11_0_universal2.whl": (
        "5ccbd89cd2a032f4ac890606dfe5c33874c0e5e909b2e667438ad7d7fc7fcc5d"
    ),
    "pysdl2_dll-2.32.10-py2.py3-none-manylinux2014_x86_64.whl": (
        "12b136c38114ae0f8a85453a879795ba5d61663d98673ba19c36c3008ff00353"
    ),
    "pysdl2_dll-2.32.10-py2.py3-none-win_amd64.whl": (
        "65eba83d68c33b22aa5eca6c9a8521cff5044435ecd5b49521068df82674de6a"
    ),
}
# The licences of what is in them, beside our own: of PySDL2 and SDL (Zlib), pysdl2-dll (MPL), and libraries around SDL.
LICENCES = ["MPL-2.0", "Zlib", "BSD-2-Clause", "BSD-3-Clause", "FTL", "LGPL-2.1-or-later", "MIT", "MIT-Modern-Variant",
            "libtiff"]
# Blender's extensions platform wants add-ons that download nothing, a zip for each system.
PLATFORMS = ["windows-x64", "windows-arm64", "macos-x64", "macos-arm64", "linux-x64"]
DOWNLOADS = ["mm_blender/scene/jobs/private_python.py", "mm_blender/training/watching/environment.py",
             "operators/private_python.py"]


class Release(NamedTuple):
    """A Blender that is tested: its version as a Python module, and the Python and NumPy that it was made for."""

    bpy: str
    python: str
    numpy: str


RELEASES = {
    "4.2": Release("4.2.23", "3.11", "1.26.4"),
    "4.5": Release("4.5.15", "3.11", "1.26.4"),
    "5.0": Release("5.0.1", "3.11", "1.26.4"),
    "5.2": Release("5.2.3", "3.13", "2.5.4"),
}
USUAL = {"3.11": "4.5", "3.13": "5.2"}  # the Blender that each Python gets in .venv

# What Blender's module expects of the system, and the Debian packages that have it.
LIBRARIES = {
    "libX11.so.6": "libx11-6",
    "libXrender.so.1": "libxrender1",
    "libXfixes.so.3": "libxfixes3",
    "libXi.so.6": "libxi6",
    "libXxf86vm.so.1": "libxxf86vm1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libSM.so.6": "libsm6",
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1 libgl1-mesa-dri",
}


class Trouble(Exception):
    """Something that the developer has to put right; the text is the sentence that they read."""


class NotAvailable(Trouble):
    """A Blender that this machine cannot have: no Python for it, or no download."""


def main():
    arguments, rest = _parser().parse_known_args()
    if rest and arguments.command not in (test, fuzz, film):
        raise Trouble(f"{arguments.name} does not know {rest[0]}; see python3 dev.py {arguments.name} --help.")
    arguments.pytest = rest
    return arguments.command(arguments)


def demo(arguments):
    """Builds the demo character, bakes and drives it, and leaves a .blend, pictures and a report in demo/."""
    return _run([environment(usual_release()), ROOT / "scripts" / "demo.py", ROOT / "demo"])


def film(arguments):
    """Films the demo character's feet: strips and short films of the manual's moments, or of a recording."""
    python = environment(usual_release())
    if subprocess.run([python, "-c", "import PIL"], capture_output=True).returncode:
        _pip_install(python, [PILLOW])
    return _run([python, ROOT / "scripts" / "film.py", *arguments.pytest])


def test(arguments):
    """Runs ruff, mypy and all tests that need no window, or with --blender, --torch or --window those that need one."""
    if arguments.window:
        return _window_tests(arguments.pytest)
    if arguments.torch:
        return torch_tests(arguments.pytest)
    if arguments.blender:
        return blender_tests(arguments.blender, arguments.pytest)
    python = environment(usual_release())
    lint = _run([python, "-m", "ruff", "check", "."]) or _run([python, "-m", "mypy"])
    if arguments.pytest:
        code, _ = _pytest(python, ["--ignore=tests/window", *arguments.pytest])
    else:
        code = _side_by_side(python)
    return code or lint


def bench(arguments):
    """Runs every tests/bench/bench_*.py and ends with a table of all figures and their targets."""
    usual, rows, failed = environment(usual_release()), [], []
    for script in sorted((ROOT / "tests" / "bench").glob(f"bench_{arguments.only}.py")):
        name = script.stem.removeprefix("bench_")
        python = (name == TRAINS and _ready(*_with_torch())) or usual
        print(f"\n{name}", flush=True)
        with subprocess.Popen(
            [python, script], cwd=ROOT, env=_surroundings(), stdout=subprocess.PIPE, text=True
        ) as run:
            for line in run.stdout:
                print(line, end="", flush=True)
                if re.search(r"  (ok|short)$", line.rstrip()):
                    rows.append(line.rstrip())
        if run.returncode:
            failed.append(script.name)
    print("\n" + "\n".join(rows))
    short = sum(row.endswith("short") for row in rows)
    print(f"{len(rows) - short} figures reached, {short} short" + "".join(f", {name} failed" for name in failed))
    return 1 if short or failed else 0


def fuzz(arguments):
    """Tries damaged files of every format, says what came of them, and keeps those that failed in dist/fuzz."""
    return _run([environment(usual_release()), "-m", "tests.fuzz", *arguments.pytest])


def package(arguments):
    """Makes the extension's zips with Blender's own builder, and validates them: one for all systems in dist/, and in
    dist/platform/ those for Blender's extensions platform, one for each system, which download nothing."""
    python = environment(usual_release())
    for archive in [build(python, ROOT / "dist"), *build_for_platform(python, ROOT / "dist" / "platform")]:
        print(f"{archive.relative_to(ROOT)}  {archive.stat().st_size / 1024:.0f} KB")
    return 0


def trained(arguments):
    """Trains the networks that ship, trained/demo.mmnet, on the demo character, and writes their card."""
    script = ROOT / "scripts" / "trained.py"
    return _run([environment(usual_release()), script, torch_environment(), str(arguments.minutes),
                 arguments.model])


def ablation(arguments):
    """Trains the second model without each of its parts, beside the first, and prints a table in Markdown."""
    paths = [str(Path(path).resolve()) for path in arguments.databases]
    return _run([torch_environment(), "-m", "mm_blender.training.ablation", *paths, "--minutes",
                 str(arguments.minutes)])


def compare(arguments):
    """Prints a table of networks that were trained on one database, and plots them for the manual."""
    python = torch_environment()
    if subprocess.run([python, "-c", "import matplotlib"], capture_output=True).returncode:
        _pip_install(python, [MATPLOTLIB])
    paths = [str(Path(path).resolve()) for path in (*arguments.databases, *arguments.networks)]
    return _run([python, ROOT / "scripts" / "compare.py", *paths, "-o", ROOT / "docs" / "pictures"])


def pictures(arguments):
    """Takes the manual's pictures anew: those of the window tests in the Blender of $BLENDER, and the demo's strips."""
    shown = ("tour or artist_drives or draws_a_curve or changed_steers or slope or artist_trains or goes_wrong or "
             "target")
    if code := _window_tests(["-k", shown]) or demo(arguments) or film(arguments):
        return code
    newest = max((ROOT / ".cache" / "pictures").iterdir(), key=lambda folder: folder.stat().st_mtime)
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    named = {name for page in pages for name in re.findall(r"pictures/(\w+\.\w+)", page.read_text(encoding="utf-8"))}
    for source in [*newest.glob("*.png"), *(ROOT / "demo").glob("*.png"), *(ROOT / "film").iterdir()]:
        if source.name in named:
            shutil.copy(source, ROOT / "docs" / "pictures" / source.name)
    return 0


def build(python, folder):
    """The extension's zip, built into the folder and validated; the builder comes with Blender's module.

    One zip for all systems, 15 MB: the artist cannot choose the wrong one, and it installs where there is no SDL, too.
    """
    archive, = _built(python, folder, (ROOT / "blender_manifest.toml").read_text())
    return archive


def build_for_platform(python, folder):
    """The zips for Blender's extensions platform, one for each system: without what downloads torch, and without the
    permission that only this needs. The manual has the two lines instead."""
    manifest = re.sub(r"^network = .*\n", "", (ROOT / "blender_manifest.toml").read_text(), flags=re.M)
    return _built(python, folder, _with_lists(manifest, platforms=PLATFORMS), DOWNLOADS, ["--split-platforms"])


def _built(python, folder, manifest, left_out=(), options=()):
    """The zips that a manifest leads to, without the files that are left out; all of them validated."""
    builder = next(_site_packages(python).glob("bpy/*/scripts/addons_core/bl_pkg/cli/blender_ext.py"))
    folder.mkdir(parents=True, exist_ok=True)
    name, version = (re.search(rf'^{key} = "(.+)"', manifest, re.M)[1] for key in ("id", "version"))
    with tempfile.TemporaryDirectory() as place:
        source, made = copy_with_wheels(Path(place) / name, manifest, fetch_wheels(python)), Path(place) / "made"
        for path in left_out:
            (source / path).unlink()
        made.mkdir()
        target = made / f"{name}-{version}.zip"
        _ask_builder(python, builder, "build", "--source-dir", source, "--output-filepath", target, *options)
        for archive in made.iterdir():
            _ask_builder(python, builder, "validate", archive)
        return sorted(Path(shutil.copy(archive, folder)) for archive in made.iterdir())


def _ask_builder(python, builder, step, *words):
    outcome = subprocess.run([python, builder, step, *words], capture_output=True, text=True)
    if outcome.returncode:
        raise Trouble(f"Blender's builder refused to {step} the extension:\n{outcome.stdout}{outcome.stderr}")


def fetch_wheels(python):
    """The files of WHEELS, fetched with pip into wheels/ if they are not there yet; none when there is no network."""
    folder = ROOT / "wheels"
    folder.mkdir(exist_ok=True)
    wheels = [folder / name for name in WHEELS]
    try:
        for wheel in wheels:
            if not wheel.exists() or _sha256(wheel) != WHEELS[wheel.name]:
                _fetch(python, wheel)
    except NotAvailable as trouble:
        print(f"The extension is built without gamepads, to be driven with keys. {trouble}", flush=True)
        return []
    return wheels


def usual_release():
    """The Blender for this Python, or for one that is found on this machine."""
    running = "{}.{}".format(*sys.version_info)
    if running in USUAL:
        return USUAL[running]
    found = next((release for python, release in USUAL.items() if find_python(python)), None)
    if found is None:
        raise Trouble(f"Blender needs Python {' or '.join(USUAL)}; this is {running}, and none of them was found.")
    return found


def environment(name):
    """The Python of the virtual environment with that Blender release; made first if need be."""
    release = RELEASES[name]
    folder = ROOT / (".venv" if name == usual_release() else f".venv-{name}")
    wanted = [f"bpy=={release.bpy}", f"numpy=={release.numpy}", *TOOLS, *sorted({_pinned(name) for name in WHEELS})]
    if (python := _ready(folder, release, wanted)) is not None:
        return python
    _install_libraries()
    return _make(folder, release, wanted, f"Blender {name}", "bpy")


def torch_environment():
    """The Python of the virtual environment that trains: with torch, without Blender."""
    return _ready(*_with_torch()) or _make(*_with_torch(), TORCH.replace("==", " "), "torch")


def find_python(version):
    """A Python of that version (as "3.11") that works on this machine, or None."""
    name = f"python{version}"
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    candidates = [
        [sys.executable],
        *([str(path)] for path in sorted(pyenv.glob(f"{version}.*/bin/{name}"), reverse=True)),
        *([found] for found in (shutil.which(name), shutil.which("python3")) if found),
        *([f"{place}/{name}"] for place in ("/usr/local/bin", "/usr/bin", "/opt/homebrew/bin")),
        *([["py", f"-{version}"]] if shutil.which("py") else []),
    ]
    for candidate in candidates:
        if _version_of(candidate) == version:
            return candidate
    return None


def blender_command():
    """The Blender to open windows with, as a list of words: $BLENDER (a command line), or blender on the PATH."""
    if "BLENDER" in os.environ:
        return shlex.split(os.environ["BLENDER"], posix=os.name != "nt")
    if shutil.which("blender"):
        return [shutil.which("blender")]
    raise Trouble(
        "The window tests need a Blender: set BLENDER to its command line, for example BLENDER=/opt/blender/blender."
    )


def _with_torch():
    """Folder, release and content of the environment that trains."""
    release = RELEASES[usual_release()]
    return ROOT / ".venv-torch", release, [TORCH, f"numpy=={release.numpy}", *TOOLS]


def _ready(folder, release, wanted):
    """The Python of a virtual environment that has what is wanted, or None."""
    python, stamp = _python_in(folder), folder / "ready"
    return python if python.exists() and stamp.exists() and stamp.read_text() == _mark(release, wanted) else None


def _make(folder, release, wanted, what, module):
    source = find_python(release.python)
    if source is None:
        raise NotAvailable(f"{what} needs Python {release.python}, which was not found.")
    start, python = time.monotonic(), _python_in(folder)
    print(f"Making {folder.name}: {what}, Python {release.python} (once)", flush=True)
    _make_venv(source, folder)
    _pip_install(python, wanted)
    check = subprocess.run([python, "-c", f"import {module}"], capture_output=True, text=True)
    if check.returncode:
        raise Trouble(f"{what} is installed but does not start:\n{check.stderr}")
    (folder / "ready").write_text(_mark(release, wanted))
    print(f"  ready after {time.monotonic() - start:.0f} s", flush=True)
    return python


def _python_in(folder):
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _mark(release, wanted):
    return hashlib.sha256(" ".join([release.python, *wanted]).encode()).hexdigest()


def _parser():
    parser = argparse.ArgumentParser(prog="python3 dev.py", description=__doc__.splitlines()[0])
    names = "demo | film | test | bench | fuzz | package | trained | ablation | compare | pictures"
    commands = parser.add_subparsers(required=True, metavar=names, dest="name")
    for command in (demo, film, test, bench, fuzz, package, trained, ablation, compare, pictures):
        added = commands.add_parser(command.__name__, help=command.__doc__, description=command.__doc__)
        added.set_defaults(command=command)
        if command is test:
            added.epilog = "Everything else is passed to pytest, for example: python3 dev.py test tests/motion -k bvh"
            where = added.add_mutually_exclusive_group()
            where.add_argument(
                "--blender",
                nargs="+",
                choices=RELEASES,
                metavar="VERSION",
                help=f"run the tests of Blender on each of these: {', '.join(RELEASES)}",
            )
            where.add_argument("--torch", action="store_true", help="run tests/training and tests/networks with torch")
            where.add_argument(
                "--window",
                action="store_true",
                help="run tests/window with the command line in $BLENDER, or blender on the PATH",
            )
        if command is film:
            added.epilog = "[STICK.csv] [--from S] [--to S] [--networks NET.mmnet] [-o FOLDER (film)]"
        if command is fuzz:
            added.epilog = "[--minutes M] [--seed S] [--format F]; all others: python3 -m tests.fuzz --help"
        if command is ablation:
            added.add_argument("databases", nargs="+", metavar="DB.mmdb", help="what python -m mm_blender bake made")
        if command is compare:
            added.add_argument("databases", nargs=1, metavar="DB.mmdb", help="that they were trained on")
            added.add_argument("networks", nargs="+", metavar="NET.mmnet", help="with the folders of their trainings")
        if command in (trained, ablation):
            added.add_argument("--minutes", type=float, default=15.0, help="that the training may take (15)")
        if command is trained:
            added.add_argument("--model", default="lmm", choices=("lmm", "moe"), help="of 2020 (lmm), or of experts")
        if command is bench:
            added.add_argument("only", nargs="?", default="*", help="one of them: python3 dev.py bench bvh")
    return parser


def copy_with_wheels(folder, manifest, wheels):
    """A copy of what belongs into the zip, with a manifest that lists the wheels; the project's own lists none."""
    excluded = shutil.ignore_patterns(*re.findall(r'^  "/?(.+?)/?",$', manifest, re.M))
    compiled = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT, folder, ignore=lambda *here: (excluded if Path(here[0]) == ROOT else compiled)(*here))
    if wheels:
        (folder / "wheels").mkdir()
        for wheel in wheels:
            shutil.copy(wheel, folder / "wheels")
        manifest = _with_lists(manifest, wheels=[f"./wheels/{wheel.name}" for wheel in wheels])
        theirs = "".join(f', "SPDX:{licence}"' for licence in LICENCES)
        manifest = re.sub(r"^(license = \[.*?)\]$", rf"\g<1>{theirs}]", manifest, flags=re.M)
    (folder / "blender_manifest.toml").write_text(manifest)
    return folder


def _with_lists(manifest, **lists):
    """A manifest with some more lists, before its tables."""
    head, table, tail = manifest.partition("\n[")
    for name, items in lists.items():
        head += f"\n{name} = [\n" + "".join(f'  "{item}",\n' for item in items) + "]\n"
    return head + table + tail


def _fetch(python, wheel):
    """Downloads one wheel to its place, if it is the one that is meant."""
    system = wheel.stem.rpartition("-")[2]
    options = ["--no-deps", "--only-binary=:all:", "--platform", system, "--retries", "1"]
    with tempfile.TemporaryDirectory(dir=wheel.parent) as folder:
        command = [python, "-m", "pip", "download", *options, "--dest", folder, _pinned(wheel.name)]
        outcome = subprocess.run(command, capture_output=True, text=True)
        fetched = Path(folder) / wheel.name
        if not fetched.exists():
            raise NotAvailable(f"pip could not fetch {wheel.name}:\n{outcome.stderr[-500:]}")
        if _sha256(fetched) != WHEELS[wheel.name]:
            raise Trouble(f"{wheel.name} is not the file that dev.py was written for: its SHA-256 is another one.")
        fetched.replace(wheel)


def _pinned(wheel):
    """What pip calls the content of a wheel: its name and version."""
    return "{}=={}".format(*wheel.split("-"))


def _sha256(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _side_by_side(python):
    """All tests in two processes: those of the engine, and those of Blender, whose words come when they are done."""
    one_thread = {"OMP_NUM_THREADS": "1"}  # several would wait for each other, beside the other half
    with tempfile.TemporaryFile() as printed, ThreadPoolExecutor() as threads:
        half = threads.submit(_pytest, python, ["--ignore=tests/window", "-m", "blender"], printed, **one_thread)
        code, counts = _pytest(python, ["--ignore=tests/window", "-m", "not blender"], **one_thread)
        other, more = half.result()
        printed.seek(0)
        print(printed.read().decode(errors="replace"))
    print(_in_words(counts + more))
    return code or other


def blender_tests(names, extra):
    results, total, worst = [], Counter(), 0
    for name in names:
        try:
            python = environment(name)
        except NotAvailable as trouble:
            results.append(f"Blender {name}: skipped: {trouble}")
            print(results[-1], flush=True)
            continue
        code, counts = _pytest(python, ["-m", "blender", "--ignore=tests/window", *extra])
        results.append(f"Blender {name}: {_in_words(counts)}")
        total += counts
        worst = worst or code
    print("\n" + "\n".join(results) + "\n" + _in_words(total))
    return worst or (0 if total else 1)


def torch_tests(extra):
    # One thread: more of them wait for each other on a machine that is busy.
    named = any((ROOT / word.partition("::")[0]).exists() for word in extra)
    wanted = extra if named else ["tests/training", "tests/networks", *extra]
    code, _ = _pytest(torch_environment(), wanted, OMP_NUM_THREADS="1")
    return code


def _window_tests(extra):
    command = blender_command()
    code, _ = _pytest(environment(usual_release()), ["tests/window", *extra], BLENDER=shlex.join(command))
    return code


def _pytest(python, extra, output=None, **settings):
    """Runs pytest, which prints to the screen or to a file; its exit code, and how many tests passed, failed and were
    skipped."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "tests.xml"
        code = _run([python, "-m", "pytest", f"--junit-xml={report}", *extra], output, **settings)
        counts = Counter()
        for case in xml.etree.ElementTree.parse(report).iter("testcase") if report.exists() else ():
            kinds = {part.tag for part in case}
            counts["failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"] += 1
    return code, counts


def _in_words(counts):
    return ", ".join(f"{counts[word]} {word}" for word in ("passed", "failed", "skipped"))


def _run(command, output=None, **settings):
    errors = subprocess.STDOUT if output else None
    return subprocess.run(command, cwd=ROOT, env=_surroundings(**settings), stdout=output, stderr=errors).returncode


def _surroundings(**settings):
    return os.environ | {"PYTHONPATH": str(ROOT)} | settings


def _version_of(python):
    """The version of a Python that is not itself a virtual environment's, as "3.11", or None."""
    ask = "import sys; print('{}.{}'.format(*sys.version_info))"
    try:
        return subprocess.run([*python, "-c", ask], capture_output=True, text=True, timeout=20).stdout.strip() or None
    except (OSError, subprocess.TimeoutExpired):
        return None


def _site_packages(python):
    ask = "import sysconfig; print(sysconfig.get_path('platlib'))"
    return Path(subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True).stdout.strip())


def _install_libraries():
    """On Linux: the system libraries that Blender's module loads."""
    if not sys.platform.startswith("linux"):
        return
    missing = [packages for library, packages in LIBRARIES.items() if not _loads(library)]
    if missing:
        _apt_install(" ".join(missing).split(), "Blender needs some libraries of the system")


def _loads(library):
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _make_venv(source, folder):
    shutil.rmtree(folder, ignore_errors=True)
    ensurepip = subprocess.run([*source, "-c", "import ensurepip, venv"], capture_output=True)
    if ensurepip.returncode:
        _apt_install([f"python{_version_of(source)}-venv"], "This Python cannot make virtual environments yet")
    outcome = subprocess.run([*source, "-m", "venv", folder], capture_output=True, text=True)
    if outcome.returncode:
        raise Trouble(f"{folder.name} could not be made:\n{outcome.stdout}{outcome.stderr}")


def _apt_install(packages, why):
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    if os.name == "nt" or not shutil.which("apt-get") or os.geteuid() != 0:
        raise Trouble(f"{why}; on Debian and Ubuntu: sudo apt-get install {' '.join(packages)}")
    print(f"  {why}: apt-get install {' '.join(packages)}", flush=True)
    surroundings = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], env=surroundings, capture_output=True)
    outcome = subprocess.run(command, env=surroundings, capture_output=True, text=True)
    if outcome.returncode:
        raise Trouble(f"apt-get could not install {' '.join(packages)}:\n{outcome.stderr}")


def _pip_install(python, wanted):
    """Installs with pip, and says what is being downloaded instead of all that pip has to say."""
    command = [python, "-m", "pip", "install", "--progress-bar", "off", "--disable-pip-version-check", *wanted]
    said = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as run:
        for line in run.stdout:
            said.append(line)
            if wheel := re.match(r"\s*(?:Downloading|Using cached) (?:\S*/)?(\w+)-([^-]+)-\S+\.whl \((.+)\)", line):
                print("  {} {}, {}".format(*wheel.groups()), flush=True)
            elif line.startswith("Installing collected packages"):
                print("  unpacking", flush=True)
    if run.returncode:
        raise NotAvailable(f"pip could not install {', '.join(wanted)}:\n{''.join(said[-8:])}")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Trouble as trouble:
        sys.exit(f"{trouble}")
    except KeyboardInterrupt:
        sys.exit(130)
