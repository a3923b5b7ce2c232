"""Several captures side by side: the gate, differences, and growth with the size of the problem."""
