"""What happened month by month, of all repositories at once."""

from lakehouse_assets.change.activity_steps import CHURN_ROWS, COMMIT_ACTIVITY_ROWS, DATED_COMMITS
from lakehouse_assets.contracts.churn import CHURN
from lakehouse_assets.contracts.commit_activity import COMMIT_ACTIVITY
from lakehouse_assets.contracts.commit_files import COMMIT_FILES
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.recipes.recipe import Recipe
from lakehouse_assets.sources.commit_files import changed_by_commits

COMMIT_FILES_RECIPE = Recipe(
    contract=COMMIT_FILES,
    group="activity",
    partitions="month",
    inputs=(COMMITS,),
    functions=(changed_by_commits,),
    steps=(DATED_COMMITS,),
    owner_columns=(),
    local="git",
    on_spark=False,
)
COMMIT_ACTIVITY_RECIPE = Recipe(
    contract=COMMIT_ACTIVITY,
    group="activity",
    partitions="month",
    inputs=(COMMITS,),
    steps=(DATED_COMMITS, COMMIT_ACTIVITY_ROWS),
    owner_columns=(),
    local="duckdb",
)
CHURN_RECIPE = Recipe(
    contract=CHURN,
    group="activity",
    partitions="month",
    inputs=(COMMIT_FILES,),
    steps=(CHURN_ROWS,),
    owner_columns=(),
    local="duckdb",
)
ACTIVITY_RECIPES = (COMMIT_FILES_RECIPE, COMMIT_ACTIVITY_RECIPE, CHURN_RECIPE)
