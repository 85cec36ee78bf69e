import Glibc
import HTTPCore
import HTTPServer
import HTTPTesting
import LoopKit
import Testing

@Suite(.timeLimit(.minutes(5))) struct InheritedSocketTests {
    private static let routes = ListenerTests.routes

    /// A blocking socket that listens on a port of the system's choice, as a service manager makes it.
    private static func listening() throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(descriptor >= 0 && result == 0 && listen(descriptor, 16) == 0)
        return descriptor
    }

    @Test("An inherited socket is served, and closed when the server ends")
    func served() async throws {
        let address = try ListenAddress.inherited(try Self.listening())
        let port = try await withServer(Self.routes, { $0.addresses = [address, .loopback()] }) { server in
            #expect(server.addresses[0].host == "127.0.0.1")
            #expect(server.addresses[0].port ?? 0 > 0)
            #expect(try await Curl.run("\(server.addresses[0])/hello") == "hello over plain from 127.0.0.1")
            #expect(try await Curl.run("\(server.addresses[1])/hello") == "hello over plain from 127.0.0.1")
            // A foreign host name is refused on an inherited socket too.
            let refused = try await server.get("/hello", "X-Ignored: 1")
            #expect(refused.hasPrefix("HTTP/1.1 200"))
            let foreign = try await Curl.run(
                "-o", "/dev/null", "-w", "%{http_code}", "-H", "Host: evil.example", "\(server.addresses[0])/hello")
            #expect(foreign == "421")
            return server.port
        }
        let loop = EventLoop()
        defer { loop.stop() }
        #expect(throws: RawClient.Failed.self) { try RawClient(port: port, loop: loop) }
    }

    @Test("A descriptor that is not a listening socket is refused with advice")
    func others() throws {
        var pipes: [Int32] = [-1, -1]
        try #require(unsafe pipe(&pipes) == 0)
        let unbound = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let datagrams = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { for descriptor in pipes + [unbound, datagrams] { close(descriptor) } }
        for descriptor in [pipes[0], unbound, datagrams, 999_999] {
            #expect {
                _ = try ListenAddress.inherited(descriptor)
            } throws: { error in
                (error as? ServerError)?.kind == .configuration && "\(error)".contains("ListenStream=")
            }
        }
    }

    @Test("Sockets passed to another process are ignored")
    func forOthers() throws {
        let own = getpid()
        for variables in [
            [:], ["LISTEN_FDS": "1"], ["LISTEN_PID": "\(own)"], ["LISTEN_PID": "1", "LISTEN_FDS": "1"],
            ["LISTEN_PID": "\(own)", "LISTEN_FDS": "0"], ["LISTEN_PID": "\(own)", "LISTEN_FDS": "-3"],
            ["LISTEN_PID": "\(own)x", "LISTEN_FDS": "1"], ["LISTEN_PID": "\(own)", "LISTEN_FDS": "many"],
        ] {
            #expect(try InheritedSockets.addresses(environment: variables).isEmpty, "\(variables)")
        }
        #expect(throws: ServerError.self) {
            try InheritedSockets.addresses(environment: ["LISTEN_PID": "\(own)", "LISTEN_FDS": "2000000"])
        }
    }
}
