import FileKit
import Glibc
import HTTPCore
import JSON
import ProcessKit
import Testing

@Suite("Sockets of a gateway", .timeLimit(.minutes(5)))
struct GatewaySocketTests {
    @Test("A gateway uses the sockets passed by systemd")
    func activated() async throws {
        try await GatewayHome.with { home in
            let path = "\(home.path)/gateway.sock"
            var serving = home.serving()
            // As in the unit files: systemd listens, and starts the program on the first connection.
            serving = Command(
                "systemd-socket-activate",
                ["-l", path, "-E", "MARTLET_HOME", "-E", "MARTLET_GATEWAY_TOKEN", "-E", "HOME", serving.executable]
                    + serving.arguments, environment: serving.environment, workingDirectory: home.path)
            serving.output = .pipe
            serving.errors = .pipe
            try await Launcher.standalone.withChild(serving) { child in
                // After its first line it is listening.
                _ = try #require(try await child.errors.nextLine())
                let answer = try await Program.martlet.shell(
                    "curl -sS --max-time 60 --unix-socket \(path) -H 'Authorization: Bearer \(GatewayHome.token)' "
                        + "http://localhost/v1/models", home: home.path)
                #expect(answer.output.contains("martlet-offline"), "\(answer.errors)")
                let gateway = try await RunningGateway(child)
                #expect(gateway.address == "unix:\(path)")
                #expect(try await home.martlet("gateway", "status").code == 0)
                #expect(try await home.martlet("gateway", "stop").code == 0)
            }
            // The socket belongs to systemd, which listens on it again.
            #expect(Files.exists(path))
        }
    }

    @Test("A Unix socket is accessible only for its user")
    func file() async throws {
        try await GatewayHome.with { home in
            let path = "\(home.path)/s"
            try await home.serve("--socket", path) { gateway in
                #expect(gateway.state["addresses"]?.array?.last == .string("unix:\(path)"))
                #expect(try Files.info(path).mode == 0o600)
                let health = try await home.martlet("gateway", "status", "unix:\(path)", "--json")
                #expect(health.code == 0, "\(health.errors)")
                // A request through the socket still needs the token.
                let answer = try await Program.martlet.shell(
                    "curl -sS -o /dev/null -w '%{http_code}' --unix-socket \(path) http://localhost/v1/models",
                    home: home.path)
                #expect(answer.output == "401")
                #expect(try await home.martlet("gateway", "stop").code == 0)
            }
            #expect(!Files.exists(path))
        }
    }
}
