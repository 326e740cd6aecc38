"""Let other programs of the same person watch the calls of this process, over a socket, while they happen.

Nothing here waits for whoever watches: an event is put on a bounded queue for each reader, and one thread hands the
queues to sockets that do not block. Without a reader an event costs a look at an empty tuple.

A reader connects and gets JSON lines: the events of `pi_intent.events`, redacted, first the starts of the calls that
are in flight, and `{"type":"dropped","count":N}` in the place of what it was too slow for.
"""

from pi_intent.channel.place import connect, live_channels
from pi_intent.channel.publishing import Channel
from pi_intent.channel.server import MOST_READERS, QUEUED_LINES

__all__ = ["MOST_READERS", "QUEUED_LINES", "Channel", "connect", "live_channels"]
