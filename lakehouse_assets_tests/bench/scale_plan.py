"""What ten thousand repositories and a billion nodes take, worked out from what was measured; nothing of it was run."""

from lakehouse_assets.lake.spark_executor import ROWS_PER_FILE
from lakehouse_assets.plan.batching import BatchLimits
from lakehouse_assets_tests.bench.scale_facts import Measured, Shared

REPOSITORIES = 10_000
NODES = 1_000_000_000
COMMITS_A_DAY = 10
EXECUTORS, CORES = 16, 4
DRIVERS = 16


def plan(real: Measured, many: Measured, shared: Shared | None, *, cores: int) -> list[str]:
    """The arithmetic in words, each figure with those that it comes of: real code for nodes, many repositories for
    what each costs beside its files."""
    work = real.build_seconds * cores / real.nodes  # core seconds a node, as if all cores were always busy
    core_hours = NODES * work / 3600
    stored = NODES * real.delta_bytes / real.nodes
    edges = NODES * real.edges / real.nodes
    updates = REPOSITORIES * COMMITS_A_DAY
    files = (NODES + edges) / ROWS_PER_FILE
    size = BatchLimits().repositories
    each = many.build_seconds / many.size
    return [
        "## Past one machine: ten thousand repositories, a billion nodes",
        "",
        f"Worked out from the build of django above ({real.nodes:,} nodes in {real.build_seconds:,.0f} s on {cores} "
        f"cores, {real.delta_bytes / 2**20:,.0f} MiB) and that of {many.size:,} repositories; not run.",
        "`scenarios/test_cluster.py` shows the same build on a Spark cluster with the same rows.",
        "",
        "| what | figure | from |",
        "|---|---|---|",
        f"| first build | {core_hours:,.0f} core hours | {NODES:,} nodes × {work * 1e6:,.1f} µs "
        f"({real.build_seconds:,.0f} s × {cores} cores ÷ {real.nodes:,}) |",
        f"| by {EXECUTORS} executors of {CORES} cores | {core_hours / (EXECUTORS * CORES):,.1f} hours "
        f"| {core_hours:,.0f} core hours ÷ {EXECUTORS * CORES}, if the work spreads evenly: extracting and placing are "
        f"cut by files, linking by repositories and by parts of them |",
        f"| what a repository costs beside its files | {each:.2f} s, {REPOSITORIES * each / 3600:,.1f} hours for all "
        f"| {many.build_seconds:,.0f} s ÷ {many.size:,} repositories of five files, in one driver; "
        f"{DRIVERS} drivers take {REPOSITORIES * each / 60 / DRIVERS:,.0f} minutes |",
        f"| storage | {stored / 2**30:,.0f} GiB | {real.delta_bytes / real.nodes:,.0f} bytes a node, with its "
        "edges, props, texts and links |",
        f"| edges | {edges / 1e9:,.1f} billion | {real.edges / real.nodes:.2f} a node |",
        f"| files of nodes and edges | {files:,.0f} | ÷ {ROWS_PER_FILE:,} rows a file, and one more a repository |",
        f"| a commit, in a lake of its own | {real.update_seconds:.1f} s of one core | the one-file update of django "
        "above, the start of its process included |",
        *_shared_log(real, shared, updates),
        f"| Delta commits of the first build | {-(-REPOSITORIES // size)} a table | batches of {size} |",
        "",
        *_BREAKS,
    ]


def _shared_log(real: Measured, shared: Shared | None, updates: int) -> list[str]:
    """What the entries of a log that many share add to a commit; nothing where that was not measured."""
    if shared is None:
        return ["| a commit, in a lake that many share | not measured | each reads the others' entries as well |"]
    each = real.update_seconds + shared.added_seconds
    entries = shared.entries / shared.commits
    where = f"a lake of {shared.repositories:,} repositories of five files"
    return [
        f"| what a shared log adds to it | {shared.added_seconds:.1f} s | in {where} a one-file update took "
        f"{shared.before_seconds:.1f} s, and {shared.after_seconds:.1f} s after {shared.commits} commits of others "
        f"(the middle of three each, at load {shared.load}); not measured with more |",
        f"| log entries of a commit | {entries:,.0f}, {updates * entries / 1e6:,.1f} million a day "
        f"| {shared.entries:,} for {shared.commits} commits in {where}, all tables together |",
        f"| {COMMITS_A_DAY} commits a day each | at least {updates * each / 86_400:,.1f} cores busy | {updates:,} × "
        f"{each:.1f} s ÷ 86,400 s, if a shared log costs no more with more repositories |",
    ]


_BREAKS = """\
### What breaks first, and what was done about it

1. **The ledger's index.** Ten thousand repositories × some forty tables are 400,000 rows of `materializations`, read
   when a run plans. It is read once per process and again only when its log moved; a run writes to it once, at its
   end. Past a few million rows it has to be read by repository.
2. **Updates are linked where the run is.** First builds are linked by Spark's tasks, a repository or a part of one
   each; an update in the process of its run, with what the edit can reach. Runs of different repositories go side by
   side (one run a repository at a time, by its lock), so that several drivers share the work.
3. **One log a table.** Every update appends entries to each table's log, and a reader loads it from the last checkpoint
   (every twenty-five commits). First builds of many repositories are one commit a table; an update is one for each
   repository where rows have owners. `lakehouse vacuum` drops entries that nobody holds. A repository that rests holds
   them too: its last published commits stay readable (LAKEHOUSE_KEEP_COMMITS), and with them the log since the oldest
   of them. At 100,000 commits a day that is what breaks first after the ledger: keep one commit, or give each few
   hundred repositories a lake of their own.
4. **Small files.** Each repository has at least one file a table. `nightly_maintenance` compacts within a repository,
   never across: 10,000 repositories × 20 tables are 200,000 files, which a listing of the log bears and a listing of
   the folder would not; nothing here lists folders, except `vacuum`.
5. **The shared volume.** Workers and drivers write to one POSIX volume; its throughput bounds the first build. With the
   tables in an object store (`LAKEHOUSE_LAKE=s3://…`) only mirrors are left on it, and each look at a
   log is a request instead.""".splitlines()
