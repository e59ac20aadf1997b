"""Training for users of the solvers: a fit with a certificate, models in files, prediction."""
