"""What all other packages use: errors, units, names, safe texts, settings, and the numbers of judgement."""
