"""The debugger for editors: a debug adapter, which speaks the Debug Adapter Protocol over a pair of streams.

:class:`~coopmat.debugger.dap.session.Session` is one client's; the other modules of this
room answer one kind of requests each.
"""
