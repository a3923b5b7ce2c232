"""Rules and what they find in a trace: rule files, the rule set, matching, findings and their messages."""
