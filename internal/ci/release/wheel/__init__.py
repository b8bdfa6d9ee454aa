"""envfix as a wheel: the program itself is the command `envfix`."""
