"""A relational step as people read it: its canonical SQL, what it makes, and where its columns come from."""

from lakehouse_assets.plan.relational_step import RelationalStep
from lakehouse_assets.plan.step_analysis import analysis_of, lineage_of


def step_page(step: RelationalStep) -> str:
    """The same text for the same meaning, as SQL with comments."""
    analysis = analysis_of(step)
    purpose = f"helps to make {', '.join(step.assets)}" if step.assets else "answers a question"
    width = max(map(len, analysis.columns))
    lines = [
        f"-- step {step.name}, fingerprint {analysis.fingerprint}, {step.dialect}",
        f"-- {purpose}",
        "--",
        *(
            f"-- {name:{width}} <- {', '.join('.'.join(each) for each in sources) or 'no column'}"
            for name, sources in lineage_of(step).items()
        ),
        "",
        analysis.canonical,
    ]
    return "\n".join(lines) + "\n"
