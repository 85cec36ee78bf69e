import FileKit
import Glibc
import HTTPCore
import JSON
import ProcessKit
import Testing

@Suite("The sockets of a gateway", .timeLimit(.minutes(5)))
struct GatewaySocketTests {
    @Test("are those that systemd has opened for it")
    func activated() async throws {
        try await GatewayHome.with { home in
            let path = "\(home.path)/gateway.sock"
            var serving = home.serving()
            // As the unit files have it: systemd listens, and starts the program when somebody connects.
            serving = Command(
                "systemd-socket-activate",
                ["-l", path, "-E", "MARTLET_HOME", "-E", "MARTLET_GATEWAY_TOKEN", "-E", "HOME", serving.executable]
                    + serving.arguments, environment: serving.environment, workingDirectory: home.path)
            serving.output = .pipe
            serving.errors = .pipe
            try await Launcher.standalone.withChild(serving) { child in
                // Its first words: from now on it listens.
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
            // It belongs to systemd, which listens there again.
            #expect(Files.exists(path))
        }
    }

    @Test("are also one in the file system, for this user only")
    func file() async throws {
        try await GatewayHome.with { home in
            let path = "\(home.path)/s"
            try await home.serve("--socket", path) { gateway in
                #expect(gateway.state["addresses"]?.array?.last == .string("unix:\(path)"))
                #expect(try Files.info(path).mode == 0o600)
                let health = try await home.martlet("gateway", "status", "unix:\(path)", "--json")
                #expect(health.code == 0, "\(health.errors)")
                // Being there is not enough to be believed.
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
