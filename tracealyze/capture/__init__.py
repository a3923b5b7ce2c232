"""Recording of captures: the tracer of this machine, its flags, and the file that it fills."""
