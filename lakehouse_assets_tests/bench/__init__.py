"""`make bench`: measurements side by side in one run. Seconds mean nothing alone; the ratios do."""
