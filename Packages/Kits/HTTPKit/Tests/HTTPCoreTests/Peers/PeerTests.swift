import CoreTesting
import FileKit
import HTTPTesting
import Testing

@Suite("Test peers")
struct PeerTests {
    @Test(
        "An nginx peer responds over plain HTTP, over TLS with HTTP/2, and over a Unix socket", .timeLimit(.minutes(5)))
    func nginx() async throws {
        let certificates = try TestCertificates.shared()
        try await Nginx.run(tls: certificates.good) { nginx in
            try await TemporaryDirectory.run { folder in
                let authority = try certificates.authority.write(into: folder, as: "authority").chain
                let output = try await PythonPeer.output(
                    source: """
                        import http.client, ssl, socket, sys
                        port, tls, path, ca = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
                        def get(target, method="GET", body=None, headers={}):
                            c = http.client.HTTPConnection("127.0.0.1", port)
                            c.request(method, target, body=body, headers=headers)
                            r = c.getresponse()
                            return r.status, r.read()[:40], r.headers
                        print(get("/hello")[1].decode())
                        print(get("/large", "HEAD")[2]["Content-Length"])
                        print(get("/redirect/303")[0], get("/redirect/loop")[2]["Location"])
                        print(get("/status/429")[2]["Retry-After"], get("/status/404")[1].decode())
                        print(get("/private")[0], get("/private", headers={"Authorization": "Basic bGFiOmJlbmNo"})[1].decode())
                        print(get("/upload/a", "PUT", b"stored")[0])
                        print(get("/echo?a=b", headers={"X-Test": "t"})[1].decode().split("\\n"))
                        context = ssl.create_default_context(cafile=ca)
                        context.set_alpn_protocols(["h2", "http/1.1"])
                        s = context.wrap_socket(socket.create_connection(("127.0.0.1", tls)), server_hostname="localhost")
                        print(s.version(), s.selected_alpn_protocol())
                        s = socket.socket(socket.AF_UNIX)
                        s.connect(path)
                        s.sendall(b"GET /hello HTTP/1.0\\r\\n\\r\\n")
                        print(b"".join(iter(lambda: s.recv(4096), b""))[-5:].decode())
                        """,
                    ["\(nginx.port)", "\(nginx.tlsPort)", nginx.socketPath, authority])
                #expect(
                    output.split(separator: "\n") == [
                        "hello", "4294967296", "303 /redirect/loop", "7 {\"error\":{\"message\":\"the lab says 404\"}}",
                        "401 secret", "201", "['GET', '/echo?a=b', '', '', 't', '']", "TLSv1.3 h2", "hello",
                    ])
                let log = try nginx.accessLog()
                #expect(log.first?.request == "GET /hello HTTP/1.1" && log.first?.bodyBytesSent == 5)
            }
        }
    }

    @Test("An openssl peer responds with a TLS version that our clients refuse", .timeLimit(.minutes(5)))
    func openssl() async throws {
        let certificates = try TestCertificates.shared()
        try await OpenSSLServer.run(certificates.good, ["-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0"]) { port in
            let output = try await PythonPeer.output(
                source: """
                    import socket, ssl, sys
                    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
                    context.set_ciphers("DEFAULT:@SECLEVEL=0")
                    context.minimum_version = ssl.TLSVersion.TLSv1_1
                    print(context.wrap_socket(socket.create_connection(("127.0.0.1", int(sys.argv[1])))).version())
                    """, ["\(port)"])
            #expect(output == "TLSv1.1\n")
        }
    }

    @Test("Peers end by themselves when the test that started them crashes", .timeLimit(.minutes(5)))
    func crash() async throws {
        try await TemporaryDirectory.run { folder in
            await #expect(processExitsWith: .failure) { [path = "\(folder)/ports" as String] in
                let certificates = try TestCertificates.shared()
                try await Nginx.run(tls: certificates.good) { nginx in
                    try await OpenSSLServer.run(certificates.good) { port in
                        try await PythonPeer.run(source: Self.listener) { peer in
                            try Files.writeAtomically(Array("\(nginx.port) \(port) \(peer.port)".utf8), to: path)
                            fatalError("this test crashes on purpose")
                        }
                    }
                }
            }
            let ports = String(decoding: try Files.read("\(folder)/ports", limit: 100), as: UTF8.self)
            let output = try await PythonPeer.output(source: Self.waiter, ports.split(separator: " ").map(String.init))
            #expect(output == "gone\ngone\ngone\n")
        }
    }

    private static let listener = """
        import signal, socket
        s = socket.create_server(("127.0.0.1", 0))
        print(s.getsockname()[1])
        signal.pause()
        """

    /// Prints for each port whether nothing listens there any more, after up to 10 seconds of waiting.
    private static let waiter = """
        import socket, sys, time
        for port in sys.argv[1:]:
            for _ in range(200):
                try:
                    socket.create_connection(("127.0.0.1", int(port))).close()
                    time.sleep(0.05)
                except ConnectionRefusedError:
                    print("gone")
                    break
            else:
                print("still there")
        """
}
