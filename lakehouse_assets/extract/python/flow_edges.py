"""CFG, CDG, DFG and REF edges of a file, from the flows of its definitions and the meanings of its names."""

from lakehouse_assets.extract.facts import EDGE_COLUMNS, Columns, no_rows
from lakehouse_assets.extract.python.control import Flow
from lakehouse_assets.extract.python.data import add_data_flow
from lakehouse_assets.extract.python.dependence import dependences
from lakehouse_assets.extract.python.limits import Deadline
from lakehouse_assets.extract.python.names import Names
from lakehouse_assets.extract.python.rows import Rows, number_of
from lakehouse_assets.extract.python.scopes import Scopes


def add_flow_edges(definitions: list[Rows], scopes: Scopes, columns: Columns, deadline: Deadline) -> None:
    """Adds to the columns when all is found, so that a limit leaves no kind of edge half there."""
    control, dependence = no_rows(EDGE_COLUMNS), no_rows(EDGE_COLUMNS)
    names = Names(scopes, definitions)
    for rows in definitions:
        deadline.check()
        flow = Flow(rows)
        ds = [point.d for point in flow.points]
        ns = [number_of(point) for point in flow.points]
        ds.append(rows.d)
        ns.append(len(rows.kinds) - 1)
        _add(control, flow.sources, flow.targets, flow.labels, ds, ns)
        if flow.branches:
            decisions = dependences(flow)
            _add(
                dependence,
                [source for source, _, _ in decisions],
                [target for _, target, _ in decisions],
                [label for _, _, label in decisions],
                ds,
                ns,
            )
        add_data_flow(flow, names.acts(rows), names.values, deadline)
    for kind, found in (("CFG", control), ("CDG", dependence)):
        found["kind"] = [kind] * len(found["label"])
        for name, column in found.items():
            columns[name] += column
    names.values.add_to(columns, "DFG")
    names.references.add_to(columns, "REF")


def _add(
    found: Columns, sources: list[int], targets: list[int], labels: list[str], ds: list[int], ns: list[int]
) -> None:
    """Edges between points of a flow, which stand for the nodes (ds[i], ns[i])."""
    found["src_d"] += [ds[at] for at in sources]
    found["src_n"] += [ns[at] for at in sources]
    found["dst_d"] += [ds[at] for at in targets]
    found["dst_n"] += [ns[at] for at in targets]
    found["label"] += labels
