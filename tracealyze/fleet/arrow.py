"""pyarrow without types: its stubs lack many of the functions that are used here, and restrict others."""

from __future__ import annotations

from typing import Any, TypeAlias

import pyarrow
import pyarrow.compute
import pyarrow.dataset
import pyarrow.parquet

pa: Any = pyarrow
compute: Any = pyarrow.compute
dataset: Any = pyarrow.dataset
parquet: Any = pyarrow.parquet

Table: TypeAlias = Any
"""A pyarrow table."""
