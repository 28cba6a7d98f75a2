"""What people read of tables and of the graph is written from contracts and recipes."""

from lakehouse_assets.core.settings import PROJECT_ROOT
from lakehouse_assets.recipes.docs import tables_page, with_graph


def test_the_page_of_tables_is_current():
    page = (PROJECT_ROOT / "docs" / "tables.md").read_text()
    assert page == tables_page(), "run `make docs`"


def test_the_graph_in_the_readme_is_current():
    readme = (PROJECT_ROOT / "README.md").read_text()
    assert readme == with_graph(readme), "run `make docs`"
    assert "blobs --> extracts" in readme
