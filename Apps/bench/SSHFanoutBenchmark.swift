import FileKit
import Glibc
import SSHTesting
import Synchronization

/// `martlet ssh run` on a hundred hosts against asyncssh, each as a whole program. All of them are one server on this machine, whose
/// own work is most of the time that passes.
enum SSHFanoutBenchmark {
    private static let hosts = 100
    private static let rounds = 5

    static func run() async throws -> [Figure] {
        let results = Mutex(Results())
        try await SSHServer.run(options: ["MaxStartups=1000:100:1000", "MaxSessions=1000"]) { server in
            try server.trust("ed25519")
            let user = String(decoding: try await SSHServer.shell("id -un"), as: UTF8.self).split(separator: "\n")[0]
            let text =
                "Host " + (1...hosts).map { "h\($0)" }.joined(separator: " ") + "\nHost *\n"
                + SSHServer.configuration(port: server.port, in: server.folder, user: String(user))
            let config = "\(server.folder)/config"
            try Files.writeAtomically(Array(text.utf8), to: config)
            let variables = ["MARTLET_SSH_CONFIG": config, "MARTLET_HOME": "\(server.folder)/home"]
            let ours = ["ssh", "run", "h*", "--", "echo", "hi"]
            let theirs = [
                Peers.path("ssh_asyncssh.py"), "\(server.port)", "\(server.folder)/user-ed25519", server.known,
                String(user),
                "\(hosts)",
            ]
            let martlet = quietly([".build/release/martlet"] + ours)
            let asyncssh = quietly(["/usr/bin/python3"] + theirs)
            for _ in 0..<rounds {
                let wall = try await Peers.time("env", variables.map { "\($0.key)=\($0.value)" } + ["sh"] + martlet)
                let theirWall = try await Peers.time("sh", asyncssh)
                let work = try await Peers.processorTime("sh", martlet, variables: variables)
                let theirWork = try await Peers.processorTime("sh", asyncssh)
                results.withLock { $0.add((wall, theirWall), (work, theirWork)) }
            }
        }
        return results.withLock { $0.figures }
    }

    /// The words for a shell that becomes a program whose output goes nowhere.
    private static func quietly(_ words: [String]) -> [String] {
        ["-c", "exec \"$@\" >/dev/null 2>&1", "sh"] + words
    }

    private struct Results {
        private var (ours, theirs, ourWork, theirWork) = (Samples(), Samples(), Samples(), Samples())

        mutating func add(_ wall: (ours: Duration, theirs: Duration), _ work: (ours: Duration, theirs: Duration)) {
            ours.add(wall.ours)
            theirs.add(wall.theirs)
            ourWork.add(work.ours)
            theirWork.add(work.theirs)
        }

        var figures: [Figure] {
            [
                Figure("100 hosts, wall time / asyncssh", ours.median / theirs.median, "ratio", .atMost(1)),
                Figure(
                    "100 hosts, processor time / asyncssh", ourWork.median / theirWork.median, "ratio", .atMost(0.5)),
                Figure("martlet ssh run", ours.median * 1000, "ms"),
                Figure("asyncssh", theirs.median * 1000, "ms"),
                Figure("martlet ssh run, processor time", ourWork.median * 1000, "ms"),
                Figure("asyncssh, processor time", theirWork.median * 1000, "ms"),
            ]
        }
    }
}
