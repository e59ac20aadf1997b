"""Methods that bound the objective from below by cutting planes."""
