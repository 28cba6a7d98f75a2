"""What the tables of who may be touched by an update have in common."""

from lakehouse_assets.contracts.table import Column

CHANGED_REPO = Column(name="repo", type="string", description="Repository that was updated.")
IMPACTED_REPO = Column(name="impacted_repo", type="string", description="Repository of the one that is touched.")
IMPACTED_PATH = Column(name="impacted_path", type="string", description="File of the one that is touched.")
DISTANCE = Column(name="distance", type="int", description="Steps from what changed; 0: it changed itself.")
VIA = Column(name="via_symbol", type="string", description="What it was reached by: symbol, module or path.")
CHANGED = Column(name="changed_symbol", type="string", description="What changed at the beginning of the way.")
