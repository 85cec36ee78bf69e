import FileKit
import ProcessKit
import Testing

/// What a program does to files and the network, as the kernel is asked for it and not as the program tells it.
struct SystemCalls: Sendable {
    /// A system call that has a text in it.
    struct Sighting: Sendable, CustomStringConvertible {
        /// What the program was doing, by its last mark.
        let during: String
        let call: String

        var description: String { "during \(during): \(call.prefix(400))" }
        /// Whether bytes are sent, which may speak of whatever they want.
        var isTransfer: Bool { ["sendto(", "sendmsg(", "sendmmsg("].contains(where: call.contains) }
        /// Whether a link itself is meant at the end of the path, or the kernel refuses to leave a folder by one.
        var followsNoLink: Bool {
            ["NOFOLLOW", "RESOLVE_BENEATH", "lstat(", "mkdir", "readlink"].contains(where: call.contains)
        }
    }

    /// What a path begins with that a program looks for to say what it does now.
    static let mark = "/reach/"

    /// Those after the first mark that have one of the texts in them.
    let sightings: [Sighting]
    /// The run itself.
    let run: Launcher.Completion

    /// Runs a program with everything that it starts.
    ///
    /// - Parameter texts: what is looked for; a system call may have it as a path, an address, or bytes that are sent.
    init(
        of program: Program, _ words: [String], in folder: String, adding variables: [String: String],
        finding texts: [String]
    ) async throws {
        let log = "\(folder)/../calls.log"
        // With -y also a descriptor says what it is of, so that a path is seen that leads somewhere by a link.
        let traced = ["-f", "-y", "-qq", "-s", "4096", "-e", "trace=%file,%network", "-o", log, program.path]
        run = try await Launcher.standalone.run(
            Command(
                "strace", traced + words, environment: Program.environment(folder, variables), workingDirectory: folder),
            timeout: .seconds(500))
        try #require(
            run.status.isSuccess,
            "strace has to be installed and allowed to trace: \(String(decoding: run.errors, as: UTF8.self))")
        // The log has a hundred thousands of lines, of which few matter.
        let patterns = (texts + ["\"\(Self.mark)"]).flatMap { ["-e", $0] }
        let found = try await Launcher.standalone.run(
            Command("grep", ["-aF"] + patterns + [log], environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C"]),
            timeout: .seconds(300))
        sightings = Self.sightings(in: String(decoding: found.output, as: UTF8.self).lines, of: texts)
    }

    /// Those that have the text in them.
    func with(_ text: String) -> [Sighting] { sightings.filter { $0.call.contains(text) } }

    private static func sightings(in lines: [String], of texts: [String]) -> [Sighting] {
        var during: String?
        var found: [Sighting] = []
        for line in lines {
            if let mark = line.firstRange(of: "\"\(mark)") {
                during = String(line[mark.upperBound...].prefix { $0 != "\"" })
            } else if let during {
                let call = withoutTarget(line)
                if texts.contains(where: call.contains) { found.append(Sighting(during: during, call: call)) }
            }
        }
        return found
    }

    /// Who reads a link is told where it leads, and has not been there.
    private static func withoutTarget(_ line: String) -> String {
        guard let name = line.firstRange(of: "readlink"), let path = line[name.upperBound...].firstRange(of: "\"")
        else { return line }
        return String(line[..<path.upperBound]) + line[path.upperBound...].prefix { $0 != "\"" }
    }
}
