"""Small sequential requests with httpx: address, count, http1 or http2; prints the seconds."""
import ssl
import sys
import time

import httpx

address, count, version, authority = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
verify = ssl.create_default_context(cafile=authority) if authority != "-" else True
with httpx.Client(http1=version == "http1", http2=version == "http2", verify=verify, trust_env=False) as client:
    client.get(address)
    start = time.perf_counter()
    for _ in range(count):
        client.get(address).read()
    print(time.perf_counter() - start)
