"""Reads a stream of events with httpx-sse: address; prints their number and the CPU seconds."""
import sys
import time

import httpx
import httpx_sse

with httpx.Client(trust_env=False, timeout=None) as client:
    start = time.process_time()
    count = 0
    with httpx_sse.connect_sse(client, "GET", sys.argv[1]) as source:
        for event in source.iter_sse():
            count += len(event.data) > 0
    print(count, time.process_time() - start)
