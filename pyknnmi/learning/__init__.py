"""From a table to a result: preparation, pipeline, orientation, and the files that a result is written to."""
