import Glibc
import HTTPServer
import LoopKit
import MCPKit
import MCPTesting

// A server of the tests as a program: over its standard input and output, or with the argument `http` at a port of
// 127.0.0.1, which it prints.

// A client that is gone is an error of writing, and not the end of this program.
signal(SIGPIPE, SIG_IGN)

let server = MCPServer(EverythingService())
if CommandLine.arguments.contains("http") {
    try await MCPHTTPServer(server).run(
        authenticate: { token in token == "secret" ? Principal("tester") : nil },
        { addresses in
            print(addresses.first?.port ?? 0)
            // The program that reads it is no terminal.
            fflush(nil)
        })
} else {
    try await server.serveStandardStreams(on: EventLoop())
}
