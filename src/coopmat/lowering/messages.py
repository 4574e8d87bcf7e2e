"""Messages about programs that only lowering can see to be wrong (CM5xxx)."""

from coopmat.diagnostics import Message

NO_DEFINITION = Message("CM5001", "error", "function '{name}' is called, but has no definition")
NOT_CONSTANT = Message("CM5002", "error", "the initialiser of '{name}' is not a constant: a variable that lives as "
                       "long as the program can only start with numbers, aggregates of them, and addresses of "
                       "variables of that kind")
CIRCULAR_INITIALIZER = Message("CM5003", "error", "'{name}' is part of a circle of variables each of which begins with "
                               "the address of the next; store one of the addresses in a kernel")
