"""Build of the compiled kernels; everything else is in pyproject.toml.

``SVMBENCH_NATIVE=1`` tunes the kernels to the machine that builds them
(``-march=native``); without it they run on any machine of the architecture.
``SVMBENCH_SANITIZE=1`` builds them for AddressSanitizer and UndefinedBehaviorSanitizer, to be
loaded beside those two alone (scripts/trust/sanitize.py does all of it), and
``SVMBENCH_KERNELS="libsvm rows"`` builds no others than these; ``SVMBENCH_CFLAGS`` are flags that
come after ours.
Flags, compiler and a hash of the sources are compiled into every kernel, so that
each result can name exactly what produced it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from importlib.metadata import version
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).resolve().parent
KERNELS = HERE / "kernels"
STAGE = HERE / "build" / "pxd"
#: Cython's C, relative to this folder; what one version makes is not put beside another's.
TRANSLATED = Path("build") / f"cython-{version('cython')}"
#: What Cython would put into every kernel, and the compiler spend most of its time on.
SHARED = "svmbench.kernels._shared"

IMPORT = re.compile(r"^from (?:\.|svmbench\.kernels\.)(\w+) c?import", re.MULTILINE)

# No fused multiply-add: last bits, and so every trajectory, are the same on all machines.
FLAGS = ["-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"]
if os.environ.get("SVMBENCH_NATIVE", "0") == "1":
    FLAGS.append("-march=native")
SANITIZERS = []
if os.environ.get("SVMBENCH_SANITIZE", "0") == "1":
    FLAGS += ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
    SANITIZERS = ["-fsanitize=address,undefined"]
FLAGS += os.environ.get("SVMBENCH_CFLAGS", "").split()
CHOSEN = os.environ.get("SVMBENCH_KERNELS", "").split()


def stage_declarations() -> None:
    """Copy kernels/*.pxd to where Cython looks for ``svmbench.kernels``.

    Cython resolves ``from .rows cimport`` by package path, and knows nothing of
    setuptools' package-dir mapping from kernels/ to svmbench/kernels/.
    """
    package = STAGE / "svmbench" / "kernels"
    package.mkdir(parents=True, exist_ok=True)
    for folder in (package, package.parent):
        (folder / "__init__.pxd").touch()
    staged = {source.name for source in KERNELS.glob("*.pxd")}
    for stale in package.glob("*.pxd"):
        if stale.name not in staged | {"__init__.pxd"}:
            stale.unlink()
    for source in KERNELS.glob("*.pxd"):
        target = package / source.name
        if not target.exists() or target.read_bytes() != source.read_bytes():
            shutil.copyfile(source, target)


def compiler_version() -> str:
    """First line the C compiler says of its own version."""
    compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    try:
        done = subprocess.run(
            [*compiler.split(), "--version"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return compiler
    return done.stdout.splitlines()[0]


def source_hash(kernel: Path) -> str:
    """sha256 of one kernel's source, and of the sources and declarations that it imports."""
    found: set[Path] = set()
    waiting = [kernel, kernel.with_suffix(".pxd")]
    while waiting:
        source = waiting.pop()
        if source not in found and source.is_file():
            found.add(source)
            names = IMPORT.findall(source.read_text(encoding="utf-8"))
            waiting += [KERNELS / f"{name}{end}" for name in names for end in (".pyx", ".pxd")]
    digest = hashlib.sha256()
    for source in sorted(found):
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    return digest.hexdigest()


def extension(kernel: Path, compiler: str) -> Extension:
    """One kernel module with its provenance compiled in."""
    provenance = {
        "SVMBENCH_SOURCE_SHA256": source_hash(kernel),
        "SVMBENCH_CFLAGS": " ".join(FLAGS),
        "SVMBENCH_COMPILER": compiler,
    }
    return Extension(
        f"svmbench.kernels.{kernel.stem}",
        [str(kernel.relative_to(HERE))],
        extra_compile_args=FLAGS,
        extra_link_args=SANITIZERS,
        define_macros=[(name, f'"{text}"') for name, text in provenance.items()],
    )


class BuildKernels(build_ext):
    """build_ext that rebuilds a kernel when its flags change, not only its source.

    Kernels are compiled side by side, as many as there are processors.
    """

    def finalize_options(self) -> None:
        """Fill in the number of compilers at work."""
        super().finalize_options()
        self.parallel = getattr(self, "parallel", None) or os.cpu_count()

    def build_extensions(self) -> None:
        """Translate the kernels to C, which only those need who build them, and build them."""
        kernels = [ext for ext in self.extensions if ext.name != SHARED]
        translated = cythonize(
            [Extension(ext.name, ext.sources) for ext in kernels],
            include_path=[str(STAGE)],
            compiler_directives={
                "language_level": 3,
                "boundscheck": False,
                "wraparound": False,
                "initializedcheck": False,
                "cdivision": True,
                "embedsignature": True,
            },
            build_dir=str(TRANSLATED),
            nthreads=self.parallel,
            shared_utility_qualified_name=SHARED,
        )
        for ext, made in zip(kernels, translated, strict=True):
            ext.sources = made.sources
        shared = TRANSLATED / "_shared.c"
        if not shared.exists():
            whole = TRANSLATED / "whole" / shared.name  # Cython takes the module's name from it
            whole.parent.mkdir(parents=True, exist_ok=True)
            words = [sys.executable, "-m", "cython", f"--generate-shared={whole}"]
            subprocess.run(words, check=True)
            whole.replace(shared)
        super().build_extensions()

    def copy_extensions_to_source(self) -> None:
        """Put the kernels beside their sources; remove those whose sources are gone."""
        super().copy_extensions_to_source()
        named = {ext.name.rpartition(".")[2] for ext in self.extensions}
        for built in () if CHOSEN else KERNELS.glob("*.so"):
            if built.name.partition(".")[0] not in named:
                built.unlink(missing_ok=True)

    def build_extension(self, ext: Extension) -> None:
        """Build one kernel, from scratch if its signature is not the stored one."""
        signature = repr((ext.extra_compile_args, ext.define_macros))
        target = Path(self.get_ext_fullpath(ext.name)).resolve()
        name = hashlib.sha256(str(target).encode()).hexdigest()[:16]
        stored = HERE / "build" / "signatures" / name
        if not (stored.exists() and stored.read_text() == signature):
            target.unlink(missing_ok=True)  # `force` would be that of all that are compiled now
        super().build_extension(ext)
        stored.parent.mkdir(parents=True, exist_ok=True)
        stored.write_text(signature)


stage_declarations()
COMPILER = compiler_version()
setup(
    packages=[
        *find_packages(include=["svmbench*"]),
        *(
            f"svmbench.{folder}"
            for folder in ("kernels", "configs", "datasets", "datasets.tiny", "template")
        ),
    ],
    package_data={
        "svmbench": ["py.typed"],
        "svmbench.report": ["svmbench.mplstyle", "templates/*"],
        "svmbench.kernels": ["*.pxd"],
        "svmbench.configs": ["*.yaml", "bench/*.yaml", "papers/*/*.yaml", "papers/*/*.tsv"],
        "svmbench.datasets": ["*.yaml"],
        "svmbench.datasets.tiny": ["*.libsvm"],
    },
    ext_modules=[
        Extension(
            SHARED,
            [str(TRANSLATED / "_shared.c")],
            extra_compile_args=FLAGS,
            extra_link_args=SANITIZERS,
        ),
        *(
            extension(kernel, COMPILER)
            for kernel in sorted(KERNELS.glob("*.pyx"))
            if not CHOSEN or kernel.stem in CHOSEN
        ),
    ],
    cmdclass={"build_ext": BuildKernels},
)
