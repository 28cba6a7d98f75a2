"""Two small repositories, one of which uses the other, linked by hand."""

from lakehouse_assets.lake.tables import Lake
from lakehouse_assets_tests.support.graphs import SmallGraph

BASE = '''"""Base."""
LIMIT = 10


class Base(object):
    """A base."""

    def run(self, x: int = LIMIT) -> int:
        return x + len("a")
'''

APP = """import os.path as p
from pkg.base import Base, LIMIT as L


@decorator
class App(Base):
    def run(self, x):
        größe = [y for y in range(L)]
        return super().run(x) + größe[0] + p.join("a")


def main():
    App().run(3)


main()
"""

USER = "from pkg.base import Base\n\nBase().run()\nguess()\n"


def sample_graph() -> SmallGraph:
    """The repository `r`: a base class, and a class in another file that overrides it."""
    graph = SmallGraph(repo="r", files={"app.py": APP, "pkg/base.py": BASE})
    base = ("pkg/base.py", "Base#", 0)
    limit = graph.node("pkg/base.py", "Name", "LIMIT")
    graph.link("IMPORT", graph.node("app.py", "alias", "os.path as p"), "os.path")
    graph.link("IMPORT", graph.node("app.py", "alias", "Base"), base)
    graph.link("IMPORT", graph.node("app.py", "alias", "LIMIT as L"), limit)
    graph.link("REF", graph.node("app.py", "Name", "L"), limit)
    graph.link("REF", graph.node("app.py", "Name", "Base"), base)
    graph.link("INHERITS", graph.node("app.py", "Name", "Base"), base)
    graph.link("INHERITS", graph.node("pkg/base.py", "Name", "object"), "<builtin>.object")
    graph.link("OVERRIDES", ("app.py", "App#run().", 0), ("pkg/base.py", "Base#run().", 0))
    graph.link("CALL", graph.node("pkg/base.py", "Call"), "<builtin>.len")
    calls = {name: graph.node("app.py", "Attribute", name) for name in ("run", "join")}
    # A call is numbered just before the expression that it calls.
    graph.link("CALL", _before(calls["join"]), "os.path.join")
    graph.link("CALL", _before(graph.node("app.py", "Name", "main")), ("app.py", "main().", 0))
    graph.link("CALL", _before(graph.node("app.py", "Name", "super")), "<builtin>.super")
    graph.link("CALL", _before(calls["run"]), ("pkg/base.py", "Base#run().", 0))
    graph.link("CALL", _before(graph.node("app.py", "Attribute", "run", 1)), ("app.py", "App#run().", 0))
    return graph


def user_graph() -> SmallGraph:
    """The repository `u`, which uses `r`, and guesses once."""
    graph = SmallGraph(repo="u", files={"use.py": USER})
    base = ("pkg/base.py", "Base#", 0)
    graph.link("IMPORT", graph.node("use.py", "alias", "Base"), base, repo="r")
    graph.link("CALL", _before(graph.node("use.py", "Name", "Base")), base, repo="r")
    graph.link("CALL", _before(graph.node("use.py", "Attribute", "run")), ("pkg/base.py", "Base#run().", 0), repo="r")
    guessed = _before(graph.node("use.py", "Name", "guess"))
    graph.link("CALL", guessed, ("app.py", "main().", 0), repo="r", confidence="guess")
    return graph


def save_samples(lake: Lake) -> None:
    sample_graph().save(lake)
    user_graph().save(lake)


def _before(node: tuple[str, str, int]) -> tuple[str, str, int]:
    path, descriptor, n = node
    return path, descriptor, n - 1
