"""The pure core: objects to facts to rules to a Diagnosis. No I/O, no clock, no environment, no framework."""
