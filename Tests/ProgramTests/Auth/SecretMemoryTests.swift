import FileKit
import Glibc
import HTTPClient
import HTTPCore
import ProcessKit
import Testing

@Suite("Secrets in process memory", .timeLimit(.minutes(5)))
struct SecretMemoryTests {
    @Test("A secret in the environment is not in /proc, where commands of a model would find it, but is still used")
    func environment() async throws {
        try await GatewayHome.with { home in
            var home = home
            home.variables["OPENAI_API_KEY"] = "sk-canary-of-openai"
            home.variables["COLOUR"] = "green"
            try await home.serve { gateway in
                let started = String(
                    decoding: try Files.read("/proc/\(gateway.child.processID)/environ", limit: 1 << 20), as: UTF8.self)
                #expect(started.contains("COLOUR=green"))
                #expect(started.contains("OPENAI_API_KEY=\0") && started.contains("MARTLET_GATEWAY_TOKEN=\0"))
                #expect(!started.contains("sk-canary") && !started.contains(GatewayHome.token))
                #expect(try await home.get("\(gateway.address)/v1/models").status.code == 200)
            }
            let key = try await home.martlet("auth", "secret", "get", "openai")
            #expect(key.output.contains("sk-canary-of-openai"), "\(key.errors)")
        }
    }

    @Test("The memory is closed to other processes of the same user and left out of core dumps")
    func memory() async throws {
        try await withHome { home in
            // This needs an ordinary user: all processes of root belong to root.
            let script = """
                chmod 755 . && cp "$M" own && cp "$(command -v sleep)" plain || exit
                as=
                [ "$(id -u)" != 0 ] || as='setpriv --reuid=65534 --regid=65534 --clear-groups'
                $as ./plain 600 & plain=$!
                $as ./own lab wait 2>said & own=$!
                until grep -q waiting said && [ "$(cat /proc/$plain/comm)" = plain ]; do :; done
                stat -c %u /proc/$plain/environ /proc/$own/environ
                kill $plain $own; wait
                """
            let run = try await Program.bench.shell(script, home: home)
            let user = geteuid() == 0 ? 65534 : geteuid()
            #expect(run.output.lines == ["\(user)", "0"], "\(run.errors)")
        }
    }
}
