"""Making and changing modules: builders, linking, specialisation, what must be declared."""
