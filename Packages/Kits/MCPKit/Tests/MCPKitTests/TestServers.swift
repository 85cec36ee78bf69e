import Capabilities
import Glibc
import HTTPServer
import JSON
import LoopKit
import MCPTesting
import ProcessKit
import RPCKit
import Testing

@testable import MCPKit

/// Our server for the length of a test, and the clients that it meets.
enum TestServers {
    /// As in the program, writing to a client that is gone is an error and not the end.
    private static let ignoresBrokenPipes: Void = { signal(SIGPIPE, SIG_IGN) }()

    /// Two channels that are connected with each other.
    static func channels(on loop: EventLoop) throws -> (DescriptorChannel, DescriptorChannel) {
        _ = ignoresBrokenPipes
        var ends: [Int32] = [0, 0]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw RPCFailure(.closed, "no socket pair") }
        func channel(_ descriptor: Int32) throws -> DescriptorChannel {
            let watched = try LoopDescriptor(owning: descriptor, loop: loop)
            return DescriptorChannel(reading: watched, writing: watched)
        }
        return (try channel(ends[0]), try channel(ends[1]))
    }

    /// Serves one end of a connection while `body` has the other.
    static func paired<Value: Sendable>(
        _ server: MCPServer, as principal: Principal? = nil,
        _ body: @escaping @Sendable (DescriptorChannel) async throws -> Value
    ) async throws -> Value {
        let (ours, theirs) = try channels(on: EventLoop())
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await server.serve(over: StreamTransport(ours, limits: server.limits.stream), as: principal)
            }
            let result: Result<Value, any Error>
            do { result = .success(try await body(theirs)) } catch { result = .failure(error) }
            theirs.close()
            try await group.waitForAll()
            return try result.get()
        }
    }

    /// Serves over HTTP while `body` runs, which gets the port.
    static func overHTTP<Value: Sendable>(
        _ http: MCPHTTPServer, _ change: (inout ServerConfiguration) -> Void = { _ in },
        _ body: @escaping @Sendable (Int) async throws -> Value
    ) async throws -> Value {
        var configuration = ServerConfiguration()
        configuration.limits.drain = .milliseconds(200)
        change(&configuration)
        let started = Promise<Int>()
        return try await withThrowingTaskGroup(of: Void.self) { [configuration] group in
            group.addTask {
                do {
                    try await http.run(
                        configuration,
                        authenticate: { token in
                            ["secret": Principal("tester"), "other": Principal("another")][token]
                        },
                        { started.settle($0.first?.port ?? 0) })
                } catch { started.settle(with: .failure(error)) }
            }
            let result: Result<Value, any Error>
            do { result = .success(try await body(try await started.value())) } catch { result = .failure(error) }
            group.cancelAll()
            try await group.waitForAll()
            return try result.get()
        }
    }

    /// The program with the server of the tests, which is built beside them.
    static func program() throws -> String {
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        let folder = bundle.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        let program = "\(folder)/mcp-test-server"
        guard unsafe access(program, X_OK) == 0 else { throw RPCFailure(.closed, "there is no \(program)") }
        return program
    }

    /// What a Python client saw of a server.
    static func seen(_ sdk: Peers.SDK, _ kind: String, _ mode: String, _ target: String) async throws -> JSON {
        try await seen(sdk, [kind, mode, target], script: "client.py")
    }

    /// What a Python program saw of a server.
    static func seen(_ sdk: Peers.SDK, _ arguments: [String], script: String) async throws -> JSON {
        let folder = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Peers"
        let result = try await Peers.launcher.run(
            Command(sdk.python, ["\(folder)/\(script)"] + arguments, environment: Peers.environment),
            timeout: .seconds(100))
        let text = String(decoding: result.output, as: UTF8.self)
        guard let line = text.split(separator: "\n").last(where: { $0.hasPrefix("SEEN ") }) else {
            throw RPCFailure(.closed, "\(text)\n\(String(decoding: result.errors, as: UTF8.self))")
        }
        return try JSON(parsing: String(line.dropFirst(5)))
    }
}
