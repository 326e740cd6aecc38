"""Tell OpenTelemetry of the calls: while they happen, and afterwards out of the ledger.

Nothing here is loaded unless somebody has asked for spans; `providers`, `sending` and what they load alone import
OpenTelemetry.
"""
