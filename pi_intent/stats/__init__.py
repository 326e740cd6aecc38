"""Figures of a history of calls: what was rejected, what failed, who states an intent, and what that costs."""

from pi_intent.stats.fold import BYTES_PER_TOKEN, stats_of
from pi_intent.stats.values import BUCKETS, ROUNDS, Answers, Share, Stats

__all__ = ["BUCKETS", "BYTES_PER_TOKEN", "ROUNDS", "Answers", "Share", "Stats", "stats_of"]
