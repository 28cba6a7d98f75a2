"""All contracts, by table name, in the order of the data's way."""

from collections.abc import Mapping
from types import MappingProxyType

from lakehouse_assets.contracts.blobs import BLOBS
from lakehouse_assets.contracts.churn import CHURN
from lakehouse_assets.contracts.commit_activity import COMMIT_ACTIVITY
from lakehouse_assets.contracts.commit_files import COMMIT_FILES
from lakehouse_assets.contracts.commits import COMMITS
from lakehouse_assets.contracts.definition_lifetimes import DEFINITION_LIFETIMES
from lakehouse_assets.contracts.definitions import DEFINITIONS
from lakehouse_assets.contracts.deliveries import DELIVERIES
from lakehouse_assets.contracts.diffs import DIFFS
from lakehouse_assets.contracts.edge_lifetimes import EDGE_LIFETIMES
from lakehouse_assets.contracts.edges import EDGES
from lakehouse_assets.contracts.environments import ENVIRONMENTS
from lakehouse_assets.contracts.exported_defs import EXPORTED_DEFS
from lakehouse_assets.contracts.extracts import EXTRACTS
from lakehouse_assets.contracts.file_changes import FILE_CHANGES
from lakehouse_assets.contracts.global_props import GLOBAL_PROPS
from lakehouse_assets.contracts.graph_versions import GRAPH_VERSIONS
from lakehouse_assets.contracts.impacted_callers import IMPACTED_CALLERS
from lakehouse_assets.contracts.impacted_files import IMPACTED_FILES
from lakehouse_assets.contracts.impacted_importers import IMPACTED_IMPORTERS
from lakehouse_assets.contracts.imports_resolved import IMPORTS_RESOLVED
from lakehouse_assets.contracts.landed_sources import LANDED_SOURCES
from lakehouse_assets.contracts.link_files import LINK_FILES
from lakehouse_assets.contracts.link_state import LINK_STATE
from lakehouse_assets.contracts.links import LINKS
from lakehouse_assets.contracts.maintenance import MAINTENANCE
from lakehouse_assets.contracts.materializations import MATERIALIZATIONS
from lakehouse_assets.contracts.model_versions import MODEL_VERSIONS
from lakehouse_assets.contracts.module_index import MODULE_INDEX
from lakehouse_assets.contracts.neighbour_reads import NEIGHBOUR_READS
from lakehouse_assets.contracts.nodes import NODES
from lakehouse_assets.contracts.offered_modules import OFFERED_MODULES
from lakehouse_assets.contracts.pins import PINS
from lakehouse_assets.contracts.pipeline_executions import PIPELINE_EXECUTIONS
from lakehouse_assets.contracts.plans import PLANS
from lakehouse_assets.contracts.props import PROPS
from lakehouse_assets.contracts.quarantine import QUARANTINE
from lakehouse_assets.contracts.repositories import REPOSITORIES
from lakehouse_assets.contracts.scip_diagnostics import SCIP_DIAGNOSTICS
from lakehouse_assets.contracts.scip_documents import SCIP_DOCUMENTS
from lakehouse_assets.contracts.scip_occurrences import SCIP_OCCURRENCES
from lakehouse_assets.contracts.scip_symbols import SCIP_SYMBOLS
from lakehouse_assets.contracts.snapshots import SNAPSHOTS
from lakehouse_assets.contracts.table import TableContract
from lakehouse_assets.contracts.writes import WRITES

CATALOG: Mapping[str, TableContract] = MappingProxyType(
    {
        contract.name: contract
        for contract in (
            REPOSITORIES,
            COMMITS,
            SNAPSHOTS,
            BLOBS,
            EXTRACTS,
            COMMIT_FILES,
            COMMIT_ACTIVITY,
            CHURN,
            FILE_CHANGES,
            DIFFS,
            OFFERED_MODULES,
            MODULE_INDEX,
            EXPORTED_DEFS,
            IMPORTS_RESOLVED,
            LINKS,
            LINK_FILES,
            LINK_STATE,
            NEIGHBOUR_READS,
            DEFINITIONS,
            NODES,
            EDGES,
            PROPS,
            GLOBAL_PROPS,
            DEFINITION_LIFETIMES,
            EDGE_LIFETIMES,
            GRAPH_VERSIONS,
            PINS,
            IMPACTED_CALLERS,
            IMPACTED_IMPORTERS,
            IMPACTED_FILES,
            SCIP_DOCUMENTS,
            SCIP_OCCURRENCES,
            SCIP_SYMBOLS,
            SCIP_DIAGNOSTICS,
            ENVIRONMENTS,
            MODEL_VERSIONS,
            PIPELINE_EXECUTIONS,
            MATERIALIZATIONS,
            WRITES,
            DELIVERIES,
            PLANS,
            LANDED_SOURCES,
            QUARANTINE,
            MAINTENANCE,
        )
    }
)
