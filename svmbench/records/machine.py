"""The facts of an environment.json by which machines are told apart.

The other facts are about what is installed there, or was the case at that moment.
"""

#: What `svmbench.harness.environment.machine` states.
MACHINE = ("cpu", "logical_cpus", "architecture", "caches", "memory_gib", "system")
