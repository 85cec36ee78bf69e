import CoreTesting
import Cryptography
import HTTPCore
import HTTPTesting
import Testing

@Suite("Scripted server")
struct ScriptedServerTests {
    private static func client(_ lines: String) -> String {
        "import http.client, socket, ssl, struct, sys, time\nport = int(sys.argv[1])\n" + lines
    }

    @Test("A scripted server answers several requests on one connection and records them", .timeLimit(.minutes(5)))
    func requests() async throws {
        try await ScriptedServer.run { connection in
            while true {
                let request = try connection.receiveRequest()
                try connection.answer(201, ["X-Number": "\(connection.number)"], "got \(request.body.count)")
            }
        } during: { server in
            let output = try await PythonPeer.output(
                source: Self.client(
                    """
                    c = http.client.HTTPConnection("127.0.0.1", port)
                    for body in (b"abc", iter([b"chunk", b"ed"])):
                        c.request("POST", "/x", body=body, encode_chunked=not isinstance(body, bytes))
                        r = c.getresponse()
                        print(r.status, r.getheader("X-Number"), r.read().decode())
                    """), ["\(server.port)"])
            #expect(output == "201 0 got 3\n201 0 got 7\n")
            let record = try await server.until { $0.openNow == 0 }
            #expect(record.connections.count == 1)
            #expect(record.requests.map(\.method) == ["POST", "POST"])
            #expect(record.requests.map(\.body) == [Array("abc".utf8), Array("chunked".utf8)])
            #expect(record.requests.first?.headers["host"] == "127.0.0.1:\(server.port)")
            #expect(record.connections.first?.peerLeft == true)
            #expect(record.bytesReceived > 100)
        }
    }

    @Test("A scripted server resets, truncates and stalls, and records when the peer leaves", .timeLimit(.minutes(5)))
    func faults() async throws {
        try await ScriptedServer.run { connection in
            try connection.receiveHead()
            switch connection.number {
            case 0: connection.reset()
            case 1: try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf")
            default: try connection.stall()
            }
        } during: { server in
            let output = try await PythonPeer.output(
                source: Self.client(
                    """
                    for i in range(3):
                        s = socket.create_connection(("127.0.0.1", port))
                        s.sendall(b"GET / HTTP/1.1\\r\\n\\r\\n")
                        s.settimeout(0.1)
                        try:
                            print(len(b"".join(iter(lambda: s.recv(100), b""))))
                        except OSError as e:
                            print(type(e).__name__)
                        s.close()
                    """), ["\(server.port)"])
            #expect(output == "ConnectionResetError\n43\nTimeoutError\n")
            let record = try await server.until { $0.openNow == 0 && $0.connections.count == 3 }
            #expect(record.connections.map(\.peerLeft) == [false, false, true])
            #expect(record.connections.map(\.bytesSent) == [0, 43, 0])
        }
    }

    @Test(
        "The end of a scripted server ends endless scripts, and cancelling a task ends its wait",
        .timeLimit(.minutes(5)))
    func end() async throws {
        try await ScriptedServer.run { connection in
            try connection.sendEndlessly([UInt8](repeating: 1, count: 1 << 16))
        } during: { server in
            try await PythonPeer.run(
                source: Self.client(
                    """
                    kept = [socket.create_connection(("127.0.0.1", port)) for _ in range(5)]
                    print(1)
                    sys.stdin.read()
                    """), ["\(server.port)"]
            ) { _ in
                try await server.until { $0.connections.count == 5 && $0.connections.allSatisfy { $0.bytesSent > 0 } }
                #expect(server.record.openNow == 5)
                let waiting = Task { try await server.until { $0.connections.count == 1000 } }
                waiting.cancel()
                await #expect(throws: CancellationError.self) { try await waiting.value }
            }
        }
    }

    @Test("A scripted server listens on IPv6 and at a path", .timeLimit(.minutes(5)))
    func addresses() async throws {
        try await TemporaryDirectory.run { folder in
            for address in [ScriptedServer.Address.loopback6, .unix(path: "\(folder)/s")] {
                try await ScriptedServer.run(at: address) { connection in
                    try connection.send("hi")
                } during: { server in
                    let output = try await PythonPeer.output(
                        source: Self.client(
                            """
                            if port:
                                s = socket.create_connection(("::1", port))
                            else:
                                s = socket.socket(socket.AF_UNIX)
                                s.connect(sys.argv[2])
                            print(s.recv(10).decode())
                            """), ["\(server.port)", "\(folder)/s"])
                    #expect(output == "hi\n")
                }
            }
        }
    }
}

@Suite("Scripted server with TLS")
struct ScriptedTLSTests {
    private static let client = """
        import socket, ssl, sys
        port, ca, identity = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
        context = ssl.create_default_context(cafile=ca)
        if identity:
            context.load_cert_chain(*identity)
        try:
            s = context.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="localhost", suppress_ragged_eofs=False)
            s.sendall(b"GET / HTTP/1.1\\r\\n\\r\\n")
            print(b"".join(iter(lambda: s.recv(1000), b"")).decode())
        except ssl.SSLCertVerificationError as e:
            print("refused", e.verify_code)
        except (ssl.SSLError, OSError) as e:
            print("broken", type(e).__name__)
        """

    @Test("A client accepts good certificates and refuses each defect without sending a byte", .timeLimit(.minutes(5)))
    func certificates() async throws {
        let all = try TestCertificates.shared()
        try await TemporaryDirectory.run { folder in
            let authority = try all.authority.write(into: folder, as: "authority").chain
            let rows: [(String, Identity, String)] = [
                ("good", all.good, "hi"), ("via an intermediate", all.viaIntermediate, "hi"),
                ("missing intermediate", all.missingIntermediate, "refused 20"),
                ("expired intermediate", all.viaExpiredIntermediate, "refused 10"),
                ("wrong name", all.wrongName, "refused 62"), ("expired", all.expired, "refused 10"),
                ("not yet valid", all.notYetValid, "refused 9"), ("self-signed", all.selfSigned, "refused 18"),
                ("unknown issuer", all.unknownIssuer, "refused 20"),
            ]
            for (name, identity, expected) in rows {
                try await ScriptedServer.run(tls: ScriptedTLS(identity)) { connection in
                    try connection.receiveHead()
                    try connection.send("hi")
                } during: { server in
                    let output = try await PythonPeer.output(source: Self.client, ["\(server.port)", authority])
                    #expect(output == "\(expected)\n", "\(name)")
                    let record = try await server.until { $0.connections.count == 1 && $0.openNow == 0 }
                    #expect(record.requests.count == (expected == "hi" ? 1 : 0), "\(name)")
                    #expect((record.bytesReceived == 0) == (expected != "hi"), "\(name)")
                }
            }
        }
    }

    @Test(
        "A scripted server can demand a client certificate and can cut a connection without a TLS close",
        .timeLimit(.minutes(5)))
    func clientsAndCuts() async throws {
        let all = try TestCertificates.shared()
        try await TemporaryDirectory.run { folder in
            let authority = try all.authority.write(into: folder, as: "authority").chain
            let client = try all.client.write(into: folder, as: "client")
            let tls = try ScriptedTLS(all.good, clientAuthorities: [all.authority.certificate])
            try await ScriptedServer.run(tls: tls) { connection in
                try connection.receiveHead()
                try connection.send("hi")
                if connection.number == 2 { connection.cut() }
            } during: { server in
                var outputs: [String] = []
                for identity in [[], [client.chain, client.key], [client.chain, client.key]] {
                    outputs.append(
                        try await PythonPeer.output(source: Self.client, ["\(server.port)", authority] + identity))
                }
                // The client sees the refusal in the handshake or at its first read, depending on timing.
                #expect(outputs.first?.hasPrefix("broken ") == true)
                #expect(outputs.dropFirst() == ["hi\n", "broken SSLEOFError\n"])
            }
        }
    }
}
