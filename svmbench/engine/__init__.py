"""Methods that find w, b and alpha of a problem, and the fits in which they take turns."""
