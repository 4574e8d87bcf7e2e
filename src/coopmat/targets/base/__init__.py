"""What all targets share: checks of launches, local memory, printing, the wording of errors."""
