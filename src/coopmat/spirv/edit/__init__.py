"""Making and changing modules: from nothing, in place, by linking and by specialisation."""
