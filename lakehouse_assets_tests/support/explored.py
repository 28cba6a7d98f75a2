"""A lake to explore: a shop over two commits, a web shop that uses it, and a repository that means harm."""

from pathlib import Path

from lakehouse_assets_tests.support.command import lakehouse
from lakehouse_assets_tests.support.repos import RepoBuilder

CART = '''class Base:
    def total(self):
        return 0


class Cart(Base):
    """Holds <b>items</b>."""

    def total(self):
        return self.priced(1)

    def priced(self, count: int) -> int:
        return count
'''
MAIN = """from shop.cart import Cart


def run():
    return Cart().total()


def main():
    return run()
"""
HARM = "<img src=x onerror=alert(1)>"
RIGHT_TO_LEFT = "\u202e"


def make_lake(folder: Path) -> dict[str, list[str]]:
    """Commits by repository; the environment says where the lake is."""
    shop, web, harm = (RepoBuilder(folder / name) for name in ("shop", "web", "harm"))
    first = shop.commit({"shop/__init__.py": "", "shop/cart.py": CART, "shop/main.py": MAIN})
    web.commit({"web/view.py": "from shop.main import run\n\n\ndef show():\n    return run()\n"})
    harm.commit(
        {
            f"{HARM}.py": f"def attack():\n    return '{HARM}</script>{RIGHT_TO_LEFT}\x1b[31m'\n",
            "long.py": f"def long():\n    return {'x' * 1_000_000!r}\n",
            "dir\"'/quo'te\".py": "def quoted():\n    attack()\n",
            f"rtl{RIGHT_TO_LEFT}py.js": "function turned() { quoted() }\n",
        }
    )
    for repository in (shop, web, harm):
        lakehouse("repo", "add", repository.path.name, str(repository.path))
    lakehouse("sync", "--all")
    second = shop.commit({"shop/main.py": MAIN.replace("return run()", "return Cart()")})
    lakehouse("sync", "shop")
    return {"shop": [first, second]}
