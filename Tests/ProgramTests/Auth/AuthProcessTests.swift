import CoreTesting
import Glibc
import HTTPCore
import JSON
import KamiwazaTesting
import ProcessKit
import Testing

@Suite("Concurrent auth commands", .timeLimit(.minutes(5)))
struct AuthProcessTests {
    @Test("Commands with an expired session renew it once for all of them", arguments: [2, 5])
    func renewal(count: Int) async throws {
        let time = MovableTime()
        try await AuthHome.with({ $0.now = time.read }) { home in
            try await home.signIn()
            // Only the server's clock advances, so that every command gets a 401.
            time.advance(by: .seconds(600))
            home.server.forgetRequests()
            home.server.fail("/api/auth/refresh", with: .held)
            let runs = try await withThrowingTaskGroup(of: Program.Run.self) { [home] group in
                for _ in 0..<count { group.addTask { try await home.martlet("auth whoami --json") } }
                try await home.server.until { $0.count { $0.credential == .spent } == count }
                home.server.heal("/api/auth/refresh")
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for run in runs {
                #expect(run.code == 0, "\(run.errors)")
                #expect(try run.output.json()["user"] == "ada")
            }
            #expect(home.server.count(.post, "/api/auth/refresh") == 1)
            #expect(try await home.martlet("auth whoami").code == 0)
            #expect(home.server.count(.post, "/api/auth/refresh") == 1)
        }
    }

    @Test("Interrupting the waiting command does not lose a renewal")
    func interrupted() async throws {
        let time = MovableTime()
        try await AuthHome.with({ $0.now = time.read }) { home in
            try await home.signIn()
            time.advance(by: .seconds(600))
            home.server.fail("/api/auth/refresh", with: .held)
            let command = Program.martlet.command(["auth", "whoami"], home: home.path, adding: home.variables)
            let server = home.server
            try await Launcher.standalone.withChild(command) { child in
                try await server.until { $0.contains { $0.path == "/api/auth/refresh" } }
                #expect(kill(child.processID, SIGINT) == 0)
                // The command has ended for the user, but still stores what the server has already exchanged.
                server.heal("/api/auth/refresh")
                #expect(try await child.exitStatus().code == 130)
            }
            let me = try await home.martlet("auth whoami")
            #expect(me.code == 0, "\(me.errors)")
            #expect(server.count(.post, "/api/auth/refresh") == 1)
        }
    }

    @Test("Every stored secret is kept")
    func secrets() async throws {
        try await AuthHome.with { home in
            let run = try await home.shell(
                "for n in 1 2 3 4 5 6; do { printf value-$n | $M auth secret set name-$n --value-stdin 2>err$n || cat err$n; } & done; wait"
            )
            #expect(run.output == "" && run.code == 0)
            for number in 1...6 {
                #expect(try await home.martlet("auth secret get name-\(number)").output == "value-\(number)\n")
            }
        }
    }
}
