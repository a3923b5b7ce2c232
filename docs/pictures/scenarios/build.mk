# 170 files, each compiled by a shell, gcc, cc1 and as: about 680 processes.

FILES := $(shell seq 1 170)
OBJECTS := $(FILES:%=f%.o)

lib.a: $(OBJECTS)
	ar rcs $@ $(OBJECTS)

%.o: %.c
	sh -c 'gcc -c $< -o $@'

f%.c:
	@echo 'int f$*(int x) { return x + $*; }' > $@

.SECONDARY: $(FILES:%=f%.c)
