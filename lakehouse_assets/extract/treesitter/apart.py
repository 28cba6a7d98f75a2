"""Reads one text in a process of its own, which may die of it.

Costs the start of an interpreter, and is for the few texts on which a parser is slow; see `parsing`.
"""

import os
import pickle
import resource
import subprocess
import sys

from lakehouse_assets.extract.facts import Facts
from lakehouse_assets.extract.treesitter.grammars import grammar_of
from lakehouse_assets.extract.treesitter.parsing import Limits, parse
from lakehouse_assets.extract.treesitter.tables import cut_off, facts_of_tree


def read_apart(raw: bytes, language: str, limits: Limits) -> Facts:
    """The facts of the text; without what is in it, if it takes more time or memory than the limits give."""
    done = subprocess.run(
        [sys.executable, "-m", __name__],
        input=pickle.dumps((raw, language, limits)),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # of a process that is out of memory, nothing that helps
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OPENBLAS_NUM_THREADS": "1"},
    )
    if done.returncode == 0:
        return pickle.loads(done.stdout)
    seconds, megabytes = limits.seconds_for(len(raw)), limits.memory // 1024**2
    return cut_off(raw, grammar_of(language), f"parsing took more than {seconds:.2f} s or {megabytes} MB")


def main() -> int:
    """Exits with 1 if it took too long; takes what it needs as a pickle and gives the facts as one."""
    raw, language, limits = pickle.load(sys.stdin.buffer)
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory, limits.memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    grammar = grammar_of(language)
    tree = parse(raw, grammar, limits.seconds_for(len(raw)))
    if tree is None:
        return 1
    sys.stdout.buffer.write(pickle.dumps(facts_of_tree(raw, tree, grammar, limits)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
