"""Testing columns for independence, and the bases of the learners that do."""
