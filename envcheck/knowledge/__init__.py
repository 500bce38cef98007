"""The knowledge graph to look at: exports, queries, and the evidence path of a finding."""
