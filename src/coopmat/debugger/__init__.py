"""The debugger: stops kernels on simulated devices before lines of their source, shows what they hold, and goes back.

:class:`~coopmat.debugger.engine.Engine` runs a launch, :class:`~coopmat.debugger.shell.Shell` takes commands.
"""
